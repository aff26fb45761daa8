// Rings of which producer and consumer are unrolled differently, over counts as compilers write them: each right, some
// with a slip.
// nvcc -arch=sm_90 -std=c++17 -ptx; counts_100.ptx: -arch=compute_100a
#include <cstdint>
#define KERNEL extern "C" __global__ void __launch_bounds__(128)
#define OBJECT "r"((uint32_t)__cvta_generic_to_shared(object))
using Object = uint64_t;
constexpr int STAGES = 4;

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

// One thread copies, 96 read; `some` and `all` are how many rounds either makes.
// What both go by, and what is done with the number before.
#define GUARD true
#define SAID
#define RING(name, parameters, unroll, some, unrolled, all)                                                       \
    KERNEL name(parameters, const unsigned char* __restrict__ from, float* to) {                                    \
        __shared__ __align__(128) unsigned char stages[STAGES][1024];                                               \
        __shared__ Object full[STAGES], empty[STAGES];                                                              \
        if (threadIdx.x == 0)                                                                                       \
            for (int i = 0; i < STAGES; i++) begin(&full[i], 1), begin(&empty[i], 96);                              \
        __syncthreads();                                                                                            \
        SAID                                                                                                        \
        int stage = 0;                                                                                              \
        if (threadIdx.x < 32) {                                                                                     \
            if (threadIdx.x == 0) {                                                                                 \
                int phase = 1;                                                                                      \
                auto n = some;                                                                                      \
                if (GUARD) _Pragma(unroll) for (decltype(n) i = 0; i < n; i++) {                                               \
                    wait(&empty[stage], phase);                                                                     \
                    expect(&full[stage], 1024);                                                                     \
                    copy(stages[stage], from + i * 1024, &full[stage]);                                             \
                    if (++stage == STAGES) stage = 0, phase ^= 1;                                                   \
                }                                                                                                   \
            }                                                                                                       \
        } else {                                                                                                    \
            int phase = 0;                                                                                          \
            float sum = 0;                                                                                          \
            auto n = all;                                                                                           \
            if (GUARD) _Pragma(unrolled) for (decltype(n) i = 0; i < n; i++) {                                                 \
                wait(&full[stage], phase);                                                                          \
                sum += stages[stage][threadIdx.x];                                                                  \
                arrive(&empty[stage]);                                                                              \
                if (++stage == STAGES) stage = 0, phase ^= 1;                                                       \
            }                                                                                                       \
            to[threadIdx.x] = sum;                                                                                  \
        }                                                                                                           \
    }
#define LIST const int *__restrict__ list, int own

RING(lesser_of_two, int k, "unroll 4", min((k + 127) / 128, ((int)blockIdx.x + 1) * 2), "unroll 1",
     min((k + 127) / 128, ((int)blockIdx.x + 1) * 2))
RING(lesser_of_two_and_one_more, int k, "unroll 4", min((k + 127) / 128, ((int)blockIdx.x + 1) * 2), "unroll 1",
     min((k + 127) / 128, ((int)blockIdx.x + 1) * 2) + 1)
RING(chosen, LIST, "unroll 4", own > 0 ? list[blockIdx.x] : own, "unroll 1", own > 0 ? list[blockIdx.x] : own)
RING(chosen_the_other_way, LIST, "unroll 4", own > 0 ? list[blockIdx.x] : own, "unroll 1",
     own <= 0 ? list[blockIdx.x] : own)
RING(not_none, unsigned k, "unroll 4", max((k + 127) / 128, 1u), "unroll 1", max((k + 127) / 128, 1u))
RING(not_none_or_none, unsigned k, "unroll 4", max((k + 127) / 128, 1u), "unroll 1", (k + 127) / 128)
RING(between_two, LIST, "unroll 2", list[blockIdx.x + 1] - list[blockIdx.x], "unroll 4",
     list[blockIdx.x + 1] - list[blockIdx.x])
RING(twice, int k, "unroll 4", (k + 127) / 128 * 2, "unroll 1", (k + 127) / 128 * 2)
RING(twice_and_once, int k, "unroll 4", (k + 127) / 128 * 2, "unroll 1", (k + 127) / 128)
#undef GUARD
#undef SAID
#define GUARD k >= 128
#define SAID to[threadIdx.x + 128] = k / 128;
RING(whole_blocks, int k, "unroll 4", max(k / 128, 1), "unroll 2", k / 128)
RING(whole_blocks_and_one_more, int k, "unroll 4", max(k / 128, 1), "unroll 2", k / 128 + 1)
