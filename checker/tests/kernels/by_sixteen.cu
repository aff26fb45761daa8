// Loops that the compiler unrolls by sixteen, with eight, four and single rounds for what is left.
// nvcc -arch=sm_100a -std=c++17 -ptx
#define KERNEL extern "C" __global__ void __launch_bounds__(64)
#define MEET asm volatile("bar.sync 1, 64;" ::: "memory")

KERNEL by_sixteen(const int *f, int *o, int n) {
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; i++) {
      o[i] = f[i];
      MEET;
    }
  } else {
    for (int i = 0; i < n; i++) {
      o[i + n] = f[i] + 1;
      MEET;
    }
  }
}

KERNEL by_sixteen_against_four(const int *f, int *o, int n) {
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; i++) {
      o[i] = f[i];
      MEET;
    }
  } else {
    for (int i = 0; i < n; i++) MEET;
  }
}

KERNEL by_sixteen_against_one(const int *f, int *o, int n) {
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; i++) {
      o[i] = f[i];
      MEET;
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < n; i++) MEET;
  }
}

// A round too many.
KERNEL by_sixteen_one_more(const int *f, int *o, int n) {
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; i++) {
      o[i] = f[i];
      MEET;
    }
  } else {
    for (int i = 0; i <= n; i++) {
      o[i + n] = f[i] + 1;
      MEET;
    }
  }
}

KERNEL by_sixteen_down(const int *f, int *o, int n) {
  if (threadIdx.x < 32) {
    for (int i = n; i > 0; i--) {
      o[i] = f[i];
      MEET;
    }
  } else {
    for (int i = n; i > 0; i--) MEET;
  }
}

// By three, from the third on.
KERNEL by_sixteen_in_steps(const int *f, int *o, int n) {
  if (threadIdx.x < 32) {
    for (int i = 2; i < n; i += 3) {
      o[i] = f[i];
      MEET;
    }
  } else {
    for (int i = 2; i < n; i += 3) MEET;
  }
}
