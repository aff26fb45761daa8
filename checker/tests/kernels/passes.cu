// Rings that are gone through several times over the same number: each right, some with
// a slip.
// nvcc -arch=sm_90 -std=c++17 -ptx
#include <cstdint>
#define KERNEL extern "C" __global__ void __launch_bounds__(128)
#define OBJECT "r"((uint32_t)__cvta_generic_to_shared(object))
using Object = uint64_t;
constexpr int STAGES = 2;

__device__ __forceinline__ void begin(Object* object, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::OBJECT, "r"(count) : "memory");
}
__device__ __forceinline__ void arrive(Object* object) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::OBJECT : "memory");
}
__device__ __forceinline__ void expect(Object* object, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::OBJECT, "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(Object* object, int parity) {
    asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}"
                 ::OBJECT, "r"(parity) : "memory");
}
__device__ __forceinline__ void copy(void* to, const void* from, Object* object) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];"
                 ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from), OBJECT : "memory");
}

// One warp copies, three read, in a first pass and in a second: `first` and `next` begin and go on in either, `end` is
// where both end, and `last` where the second pass of those that read does.
#define PASSES(name, first, next, end, last)                                                                        \
    KERNEL name(int n, const unsigned char* __restrict__ from, float* to) {                                         \
        __shared__ __align__(128) unsigned char stages[STAGES][1024];                                               \
        __shared__ Object full[STAGES], empty[STAGES];                                                              \
        if (threadIdx.x == 0)                                                                                       \
            for (int i = 0; i < STAGES; i++) begin(&full[i], 1), begin(&empty[i], 96);                              \
        __syncthreads();                                                                                            \
        int stage = 0, phase = threadIdx.x < 32;                                                                    \
        float sum = 0;                                                                                              \
        auto one = [&](int i) {                                                                                     \
            if (threadIdx.x < 32) {                                                                                 \
                wait(&empty[stage], phase);                                                                         \
                if (threadIdx.x == 0) expect(&full[stage], 1024), copy(stages[stage], from + i * 1024, &full[stage]); \
            } else {                                                                                                \
                wait(&full[stage], phase);                                                                          \
                sum += stages[stage][threadIdx.x];                                                                  \
                arrive(&empty[stage]);                                                                              \
            }                                                                                                       \
            if (++stage == STAGES) stage = 0, phase ^= 1;                                                           \
        };                                                                                                          \
        if (threadIdx.x < 32) {                                                                                     \
            _Pragma("unroll 1") for (int i = first; i < (end); i += next) one(i);                                   \
            __syncthreads();                                                                                        \
            _Pragma("unroll 1") for (int i = first; i < (end); i += next) one(i);                                   \
        } else {                                                                                                    \
            _Pragma("unroll 1") for (int i = first; i < (end); i += next) one(i);                                   \
            __syncthreads();                                                                                        \
            _Pragma("unroll 1") for (int i = first; i < (last); i += next) one(i);                                  \
            to[threadIdx.x] = sum;                                                                                  \
        }                                                                                                           \
    }

PASSES(as_often_in_both, 0, 1, n, n)
PASSES(one_round_more_in_the_second, 0, 1, n, n + 1)
PASSES(tiles_in_both, (int)blockIdx.x, (int)gridDim.x, n, n)
PASSES(tiles_in_both_to_a_multiple, (int)blockIdx.x, (int)gridDim.x, (n + 63) / 64 * 4, (n + 63) / 64 * 4)
PASSES(one_tile_more_in_the_second, (int)blockIdx.x, (int)gridDim.x, n, n + 1)

// The same with two warps that copy, one in the first pass, the other in the second, of `more` rounds.
#define TURNS(name, more)                                                                                           \
    KERNEL name(int n, const unsigned char* __restrict__ from, float* to) {                                         \
        __shared__ __align__(128) unsigned char stages[2][STAGES][1024];                                            \
        __shared__ Object full[2][STAGES], empty[2][STAGES];                                                        \
        if (threadIdx.x == 0)                                                                                       \
            for (int i = 0; i < STAGES; i++)                                                                        \
                begin(&full[0][i], 1), begin(&empty[0][i], 64), begin(&full[1][i], 1), begin(&empty[1][i], 64);     \
        __syncthreads();                                                                                            \
        int const warp = threadIdx.x / 32;                                                                          \
        int stage = 0;                                                                                              \
        auto copies = [&](int ring, int end) {                                                                      \
            int phase = 1;                                                                                          \
            _Pragma("unroll 1") for (int i = blockIdx.x; i < end; i += gridDim.x) {                                 \
                wait(&empty[ring][stage], phase);                                                                   \
                if (threadIdx.x % 32 == 0)                                                                          \
                    expect(&full[ring][stage], 1024), copy(stages[ring][stage], from + i * 1024, &full[ring][stage]); \
                if (++stage == STAGES) stage = 0, phase ^= 1;                                                       \
            }                                                                                                       \
        };                                                                                                          \
        float sum = 0;                                                                                              \
        auto reads = [&](int ring) {                                                                                \
            int phase = 0;                                                                                          \
            stage = 0;                                                                                              \
            _Pragma("unroll 1") for (int i = blockIdx.x; i < n; i += gridDim.x) {                                   \
                wait(&full[ring][stage], phase);                                                                    \
                sum += stages[ring][stage][threadIdx.x];                                                            \
                arrive(&empty[ring][stage]);                                                                        \
                if (++stage == STAGES) stage = 0, phase ^= 1;                                                       \
            }                                                                                                       \
        };                                                                                                          \
        if (warp == 0) copies(0, n), __syncthreads();                                                               \
        else if (warp == 1) __syncthreads(), copies(1, more);                                                       \
        else reads(0), __syncthreads(), reads(1), to[threadIdx.x] = sum;                                            \
    }

TURNS(one_warp_for_each, n)
TURNS(one_warp_for_each_and_a_tile_less, n - 1)

// Passes that some go past, `kind` says which: around a barrier, a pass in each of two ways, or none at all.
#define GUARDED(name, kind, last)                                                                                   \
    KERNEL name(int n, int m, const unsigned char* __restrict__ from, float* to) {                                  \
        __shared__ __align__(128) unsigned char stages[STAGES][1024];                                               \
        __shared__ Object full[STAGES], empty[STAGES];                                                              \
        if (threadIdx.x == 0)                                                                                       \
            for (int i = 0; i < STAGES; i++) begin(&full[i], 1), begin(&empty[i], 96);                              \
        __syncthreads();                                                                                            \
        int stage = 0, phase = threadIdx.x < 32;                                                                    \
        float sum = 0;                                                                                              \
        auto copies = [&](int end) {                                                                                \
            _Pragma("unroll 1") for (int i = 0; i < end; i++) {                                                     \
                wait(&empty[stage], phase);                                                                         \
                if (threadIdx.x == 0) expect(&full[stage], 1024), copy(stages[stage], from + i * 1024, &full[stage]); \
                if (++stage == STAGES) stage = 0, phase ^= 1;                                                       \
            }                                                                                                       \
        };                                                                                                          \
        auto reads = [&](int end) {                                                                                 \
            _Pragma("unroll 1") for (int i = 0; i < end; i++) {                                                     \
                wait(&full[stage], phase);                                                                          \
                sum += stages[stage][threadIdx.x];                                                                  \
                arrive(&empty[stage]);                                                                              \
                if (++stage == STAGES) stage = 0, phase ^= 1;                                                       \
            }                                                                                                       \
        };                                                                                                          \
        auto meet = [] { asm volatile("bar.sync 1;" ::: "memory"); };                                               \
        if (threadIdx.x < 32) {                                                                                     \
            kind(copies)                                                                                            \
            copies(n);                                                                                              \
        } else {                                                                                                    \
            kind(reads)                                                                                             \
            reads(last);                                                                                            \
            to[threadIdx.x] = sum;                                                                                  \
        }                                                                                                           \
    }
#define TWO_OR_NONE(pass)                                                                                           \
    if (m > 0) { pass(n), meet(), pass(n); }                                                                        \
    meet();
#define ONE_OF_TWO(pass)                                                                                            \
    if (m > 0) { meet(), pass(n); }                                                                                 \
    else { pass(n), meet(); }
#define LEAVES(pass)                                                                                                \
    pass(n);                                                                                                        \
    if (m > 0) return;                                                                                              \
    meet();

GUARDED(two_before_or_none, TWO_OR_NONE, n)
GUARDED(two_before_or_none_and_one_more, TWO_OR_NONE, (m > 0 ? n : n + 1))
GUARDED(one_in_either_way, ONE_OF_TWO, n)
GUARDED(one_in_either_way_and_one_less, ONE_OF_TWO, (m > 0 ? n : n - 1))
GUARDED(all_leave_after_the_first, LEAVES, n)
GUARDED(all_leave_after_the_first_or_one_goes_on, LEAVES, n + 1)

// Two warps copy, each into a ring of its own, and two read the one ring and then the other.
#define RINGS(name, more)                                                                                           \
    KERNEL name(int n, const unsigned char* __restrict__ from, float* to) {                                         \
        __shared__ __align__(128) unsigned char stages[2][STAGES][1024];                                            \
        __shared__ Object full[2][STAGES], empty[2][STAGES];                                                        \
        if (threadIdx.x == 0)                                                                                       \
            for (int i = 0; i < STAGES; i++)                                                                        \
                begin(&full[0][i], 1), begin(&empty[0][i], 64), begin(&full[1][i], 1), begin(&empty[1][i], 64);     \
        __syncthreads();                                                                                            \
        int const warp = threadIdx.x / 32;                                                                          \
        float sum = 0;                                                                                              \
        auto copies = [&](int ring, int end) {                                                                      \
            int stage = 0, phase = 1;                                                                               \
            _Pragma("unroll 1") for (int i = 0; i < end; i++) {                                                     \
                wait(&empty[ring][stage], phase);                                                                   \
                if (threadIdx.x % 32 == 0)                                                                          \
                    expect(&full[ring][stage], 1024), copy(stages[ring][stage], from + i * 1024, &full[ring][stage]); \
                if (++stage == STAGES) stage = 0, phase ^= 1;                                                       \
            }                                                                                                       \
        };                                                                                                          \
        auto reads = [&](int ring) {                                                                                \
            int stage = 0, phase = 0;                                                                               \
            _Pragma("unroll 1") for (int i = 0; i < n; i++) {                                                       \
                wait(&full[ring][stage], phase);                                                                    \
                sum += stages[ring][stage][threadIdx.x];                                                            \
                arrive(&empty[ring][stage]);                                                                        \
                if (++stage == STAGES) stage = 0, phase ^= 1;                                                       \
            }                                                                                                       \
        };                                                                                                          \
        if (warp == 0) copies(0, n);                                                                                \
        else if (warp == 1) copies(1, more);                                                                        \
        else reads(0), reads(1), to[threadIdx.x] = sum;                                                             \
    }

RINGS(one_ring_and_then_the_other, n)
RINGS(one_ring_and_then_the_other_with_one_less, n - 1)
