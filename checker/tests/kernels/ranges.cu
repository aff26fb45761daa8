// Ranges, which compilers ask for by an unsigned comparison of a sum that wraps around on purpose.
// nvcc -arch=sm_90 -std=c++17 -ptx
#define KERNEL extern "C" __global__ void __launch_bounds__(64)
#define MEET asm volatile("bar.sync 1, 64;" ::: "memory")
#define FIRST (threadIdx.x < 32)

// For n = -5 the first warp waits by itself.
KERNEL one_alone(int n) {
  if (FIRST) { if (n >= -7 && n <= -4) MEET; }
}

// -1 stands for no tile.
KERNEL sentinel(const int *f) {
  int t = f[0];
  if (FIRST) { if (t == -1 || t == 0) MEET; } else { if (t == 0) MEET; }
}

KERNEL race(int n, int *o) {
  __shared__ int s[64];
  s[threadIdx.x] = o[threadIdx.x];
  if (!(n >= -7 && n <= -4)) __syncthreads();
  o[threadIdx.x] = s[threadIdx.x ^ 32];
}

KERNEL below_0(int n) {
  if (FIRST) { if (n >= -1 && n <= 3) MEET; } else { if (n >= 0 && n <= 3) MEET; }
}

// The sum is an index as well, and wraps all the same.
KERNEL below_0_indexed(int n, int *o) {
  if (FIRST) { if (n >= -3 && n <= 6) { MEET; o[n + 3] = 1; } } else { if (n == -3 || n == 0) MEET; }
}

KERNEL both(int n) {
  if (FIRST) { if (n >= -3 && n <= 5) MEET; } else { if (n > -4 && n < 6) MEET; }
}

KERNEL both_loaded(const int *f) {
  if (FIRST) { if (f[0] >= -1 && f[0] <= 4) MEET; } else { int t = f[0]; if (t > -2 && t < 5) MEET; }
}

// As many tiles as hold n, without a sign: the sum stands in the source.
KERNEL tiles(unsigned n) {
  if (FIRST) { for (unsigned i = 0; i < (n + 31) / 32; i++) MEET; }
  else { unsigned tiles = (n + 31) / 32; for (unsigned i = 0; i < tiles; i++) MEET; }
}

// A loaded number counted down, unrolled: its complement has as many bits.
KERNEL down(const int *f) {
  int g = f[0];
  for (int i = g; i > 0; i--) __syncthreads();
}
