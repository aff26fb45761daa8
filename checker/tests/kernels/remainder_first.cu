// Loops that count down, of which the compiler takes the remainder first: behind it a counter is what it
// began with without that.
// nvcc -arch=sm_90 -std=c++17 -ptx
#define KERNEL extern "C" __global__ void __launch_bounds__(64)
#define MEET asm volatile("bar.sync 1, 64;" ::: "memory")

KERNEL remainder_first(const int *f, int *o, int n) {
  if (threadIdx.x < 32) {
    for (int i = n; i > 0; i--) {
      o[i] = f[i];
      MEET;
    }
  } else {
    for (int i = n; i > 0; i--) MEET;
  }
}

KERNEL remainder_first_against_up(const int *f, int *o, int n) {
  if (threadIdx.x < 32) {
    for (int i = n; i > 0; i--) {
      o[i] = f[i];
      MEET;
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < n; i++) MEET;
  }
}

// A round too few.
KERNEL remainder_first_one_less(const int *f, int *o, int n) {
  if (threadIdx.x < 32) {
    for (int i = n; i > 0; i--) {
      o[i] = f[i];
      MEET;
    }
  } else {
    for (int i = n; i > 1; i--) MEET;
  }
}

KERNEL remainder_first_of_a_row(const int *f, int *o, const int *lengths, int rows) {
  for (int row = 0; row < rows; row++) {
    int n = lengths[row];
    if (threadIdx.x < 32) {
      for (int i = n; i > 0; i--) {
        o[i] = f[i];
        MEET;
      }
    } else {
      for (int i = n; i > 0; i--) MEET;
    }
  }
}
