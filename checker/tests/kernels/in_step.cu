// Loops whose threads keep step up to a multiple of their number.
// nvcc -arch=sm_90 -std=c++17 -ptx
#define KERNEL extern "C" __global__ void __launch_bounds__(128)
#define MEET asm volatile("bar.sync 1, 128;" ::: "memory")

// All threads of the block go as often around.
KERNEL in_step(const int *f, int *o, int n) {
  int sum = 0;
  for (int i = threadIdx.x; i < (n + 127) / 128 * 128; i += 128) {
    sum += i < n ? f[i] : 0;
    MEET;
  }
  o[threadIdx.x] = sum;
}

KERNEL in_step_without_sign(const int *f, int *o, unsigned n) {
  int sum = 0;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < (n & ~127u); i += 128) {
    sum += f[i];
    MEET;
  }
  o[threadIdx.x] = sum;
}

// The number is no multiple of theirs: in the last round not all warps go around.
KERNEL out_of_step(const int *f, int *o, int n) {
  int sum = 0;
  for (int i = threadIdx.x; i < (n + 31) / 32 * 32; i += 128) {
    sum += i < n ? f[i] : 0;
    MEET;
  }
  o[threadIdx.x] = sum;
}

// One thread too many.
KERNEL one_more(const int *f, int *o, unsigned n) {
  int sum = 0;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i <= (n & ~127u); i += 128) {
    sum += f[i];
    MEET;
  }
  o[threadIdx.x] = sum;
}
