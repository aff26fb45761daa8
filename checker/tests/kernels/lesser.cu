// A ring that is gone through only if another number is greater than 0, which compilers ask of the lesser of the two,
// with what is left behind a loop of four at once at the stage that a multiple of four leaves; and slips.
// nvcc -arch=sm_100a -std=c++17 -ptx
#include <cstdint>
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

#define RING(name, guard, end)                                                                                      \
    extern "C" __global__ void __launch_bounds__(160) name(int n, int m, const float* from, float* to) {            \
        __shared__ __align__(128) float stages[STAGES][256];                                                        \
        __shared__ Object full[STAGES], empty[STAGES];                                                              \
        if (threadIdx.x == 0)                                                                                       \
            for (int i = 0; i < STAGES; i++) begin(&full[i], 1), begin(&empty[i], 128);                             \
        __syncthreads();                                                                                            \
        if (threadIdx.x < 32) {                                                                                     \
            if (threadIdx.x == 0 && m > 0)                                                                          \
                for (int i = 0; i < n; i++) {                                                                       \
                    wait(&empty[i & 1], i >> 1 & 1 ^ 1);                                                            \
                    expect(&full[i & 1], 1024), copy(stages[i & 1], from + i * 256, &full[i & 1]);                  \
                }                                                                                                   \
        } else {                                                                                                    \
            float sum = 0;                                                                                          \
            if (guard)                                                                                              \
                for (int i = 0; i < end; i++) {                                                                     \
                    wait(&full[i & 1], i >> 1 & 1);                                                                 \
                    sum += stages[i & 1][threadIdx.x - 32];                                                         \
                    arrive(&empty[i & 1]);                                                                          \
                }                                                                                                   \
            to[threadIdx.x] = sum;                                                                                  \
        }                                                                                                           \
    }
RING(asked_of_the_lesser, m > 0, n)
RING(asked_of_another, m >= 0, n)
RING(asked_of_a_greater_one, m > 1, n)
