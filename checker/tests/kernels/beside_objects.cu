// A copy that nobody waits for is looked at whatever other kernels of the module do: in the second, copies arrive at an
// object.
// nvcc -arch=sm_90 -std=c++17 -ptx
#include <cstdint>
__device__ __forceinline__ uint32_t at(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(to)), "l"(from) : "memory");
}

#define COPIES(name, left)                                                                                          \
    extern "C" __global__ void __launch_bounds__(128) name(const float* from, float* to) {                          \
        __shared__ __align__(16) float all[512];                                                                    \
        int const t = threadIdx.x;                                                                                  \
        copy(&all[t * 4], from + t * 4);                                                                            \
        asm volatile("cp.async.commit_group;\ncp.async.wait_group " #left ";" ::: "memory");                        \
        __syncthreads();                                                                                            \
        to[t] = all[511 - t * 4];                                                                                   \
    }
COPIES(waits_for_the_last, 0)
COPIES(waits_for_the_one_before, 1)

extern "C" __global__ void __launch_bounds__(32) arrives_at_an_object(const float* from, float* to) {
    __shared__ __align__(16) float all[128];
    __shared__ uint64_t object;
    int const t = threadIdx.x;
    if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(at(&object)) : "memory");
    __syncthreads();
    copy(&all[t * 4], from + t * 4);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(at(&object)) : "memory");
    asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra AGAIN;\n}"
                 ::"r"(at(&object)) : "memory");
    to[t] = all[t];
}
