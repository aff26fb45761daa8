// Rings whose loops are unrolled: the pointers into their buffers are moved on along with counters, and how far they
// have wrapped around is taken away again.
// nvcc -arch=sm_90 -std=c++17 -ptx
#include <cstdint>
#define KERNEL extern "C" __global__ void __launch_bounds__(96)
#define T threadIdx.x
typedef uint64_t u64;

__device__ __forceinline__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(u64 *b, int n) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory");
}
__device__ __forceinline__ void arrive(u64 *b) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(b)) : "memory");
}
__device__ __forceinline__ void expect(u64 *b, int n) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(b)), "r"(n) : "memory");
}
__device__ __forceinline__ void wait(u64 *b, int p) {
  asm volatile("{\n.reg .pred P;\nW%=: mbarrier.try_wait.parity.shared.b64 P, [%0], %1;\n@!P bra W%=;\n}" ::"r"(at(b)),
               "r"(p)
               : "memory");
}
__device__ __forceinline__ void copy(void *d, const void *s, int n, u64 *b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(d)),
               "l"(s), "r"(n), "r"(at(b))
               : "memory");
}

#define RING                                                         \
  __shared__ alignas(128) char buf[3][1024];                         \
  __shared__ u64 full[3], empty[3];                                  \
  if (T == 0) for (int i = 0; i < 3; i++) { init(full + i, 1); init(empty + i, 2); } \
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); \
  __syncthreads();

#define FILL(i)                                  \
  {                                              \
    int s = (i) % 3;                             \
    wait(empty + s, (((i) / 3) & 1) ^ 1);        \
    expect(full + s, 1024);                      \
    copy(buf[s], g + (i) * 1024, 1024, full + s); \
  }

KERNEL right(const char *g, int *o, int n) {
  RING
  if (T < 32) {
    if (T == 0) for (int i = 0; i < n; i++) FILL(i)
  } else {
    for (int i = 0; i < n; i++) {
      int s = i % 3;
      wait(full + s, (i / 3) & 1);
      o[T] += buf[s][T];
      __syncwarp();
      if (T % 32 == 0) arrive(empty + s);
    }
  }
}

// A stage is given back before it is read.
KERNEL given_back_too_early(const char *g, int *o, int n) {
  RING
  if (T < 32) {
    if (T == 0) for (int i = 0; i < n; i++) FILL(i)
  } else {
    for (int i = 0; i < n; i++) {
      int s = i % 3;
      wait(full + s, (i / 3) & 1);
      if (T % 32 == 0) arrive(empty + s);
      o[T] += buf[s][T];
      __syncwarp();
    }
  }
}

// The stage behind is read, which may be filled again.
KERNEL next_stage_is_read(const char *g, int *o, int n) {
  RING
  if (T < 32) {
    if (T == 0) for (int i = 0; i < n; i++) FILL(i)
  } else {
    for (int i = 0; i < n; i++) {
      int s = i % 3;
      wait(full + s, (i / 3) & 1);
      o[T] += buf[(i + 1) % 3][T];
      __syncwarp();
      if (T % 32 == 0) arrive(empty + s);
    }
  }
}
