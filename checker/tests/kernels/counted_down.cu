// Loops that count up in one role and down in the other.
// nvcc -arch=sm_100a -std=c++17 -ptx
#define KERNEL extern "C" __global__ void
#define ROUNDS _Pragma("unroll 1")
#define MEET asm volatile("bar.sync 1, 64;" ::: "memory")
#define FIRST (threadIdx.x < 32)

KERNEL __launch_bounds__(64) down(int n) {
  if (FIRST) { ROUNDS for (int i = 0; i < n; i++) MEET; } else { ROUNDS for (int i = n; i > 0; i--) MEET; }
}

KERNEL __launch_bounds__(64) down_but_one(int n) {
  if (FIRST) { ROUNDS for (int i = 0; i < n; i++) MEET; } else { ROUNDS for (int i = n; i > 1; i--) MEET; }
}

// By tiles of 64.
KERNEL __launch_bounds__(64) down_by_tiles(int n) {
  int tiles = (n + 63) / 64;
  if (FIRST) { ROUNDS for (int i = 0; i < tiles; i++) MEET; } else { ROUNDS for (int i = n; i > 0; i -= 64) MEET; }
}

// The last tile is left out where it is not a whole one.
KERNEL __launch_bounds__(64) down_by_whole_tiles(int n) {
  int tiles = (n + 63) / 64;
  if (FIRST) { ROUNDS for (int i = 0; i < tiles; i++) MEET; } else { ROUNDS for (int i = n; i > 63; i -= 64) MEET; }
}

// Of a part of the number, which is computed.
KERNEL __launch_bounds__(64) down_of_a_part(int n, int c) {
  int from = blockIdx.x * c, to = min(from + c, n);
  if (FIRST) { ROUNDS for (int i = from; i < to; i++) MEET; } else { ROUNDS for (int i = to - from; i > 0; i--) MEET; }
}

// A loaded number, by each role.
KERNEL __launch_bounds__(64) down_of_a_load(const int *f) {
  if (FIRST) {
    int n = f[0];
    ROUNDS for (int i = 0; i < n; i++) MEET;
  } else {
    int n = f[0];
    ROUNDS for (int i = n; i > 0; i--) MEET;
  }
}
