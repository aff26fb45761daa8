// Loops of which no round need be run.
// nvcc -arch=sm_90 -std=c++17 -ptx
#define KERNEL extern "C" __global__ void __launch_bounds__(128)
#define MEET asm volatile("bar.sync 1, 128;" ::: "memory")
#define ALONE asm volatile("bar.sync 2, 64;" ::: "memory")

// Where nothing is to be done, a warp waits for one that does not come.
KERNEL no_round(const int *f, int *o, int n) {
  int sum = 0;
  for (int i = 0; i < n; i += 128) {
    sum += f[i];
    MEET;
  }
  if (n <= 0 && threadIdx.x < 32) ALONE;
  o[threadIdx.x] = sum;
}

// The other one comes.
KERNEL no_round_but_two_meet(const int *f, int *o, int n) {
  int sum = 0;
  for (int i = 0; i < n; i += 128) {
    sum += f[i];
    MEET;
  }
  if (n <= 0 && threadIdx.x < 64) ALONE;
  o[threadIdx.x] = sum;
}

KERNEL no_round_of_four(const int *f, int *o, int n) {
  int sum = 0;
  for (int i = 0; i < n; i += 4) {
    sum += f[i];
    MEET;
  }
  if (n <= 0 && threadIdx.x < 32) ALONE;
  o[threadIdx.x] = sum;
}

// Of some row.
KERNEL no_round_of_a_row(const int *f, int *o, int rows) {
  int sum = 0;
  for (int row = 0; row < rows; row++) {
    int n = f[row];
    for (int i = 0; i < n; i += 128) {
      sum += f[i];
      MEET;
    }
    if (n <= 0 && threadIdx.x < 32) ALONE;
  }
  o[threadIdx.x] = sum;
}

KERNEL no_round_of_threads(const int *f, int *o, int n) {
  int sum = 0;
  for (int i = threadIdx.x; i < (n + 127) / 128 * 128; i += 128) {
    sum += i < n ? f[i] : 0;
    MEET;
  }
  if (n <= 0 && threadIdx.x < 32) ALONE;
  o[threadIdx.x] = sum;
}

KERNEL no_round_without_sign(const int *f, int *o, unsigned n) {
  int sum = 0;
  for (unsigned i = 0; i < n; i += 128) {
    sum += f[i];
    MEET;
  }
  if (n == 0 && threadIdx.x < 32) ALONE;
  o[threadIdx.x] = sum;
}
