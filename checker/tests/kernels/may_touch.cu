// Accesses to shared memory at addresses that depend on data: histograms, tables that are looked up, compaction.
// nvcc -arch=sm_80 -std=c++17 -ptx
#define KERNEL extern "C" __global__ void __launch_bounds__(128)
#define ROUNDS _Pragma("unroll 1")
#define T threadIdx.x

// Bins are counted while others are still set to 0.
KERNEL histogram_not_cleared(const int *g, int *o, int n) {
  __shared__ int bins[128];
  bins[T] = 0;
  ROUNDS for (int i = T; i < n; i += 128) atomicAdd(&bins[g[i] & 127], 1);
  __syncthreads();
  o[T] = bins[T];
}

KERNEL histogram(const int *g, int *o, int n) {
  __shared__ int bins[128];
  bins[T] = 0;
  __syncthreads();
  ROUNDS for (int i = T; i < n; i += 128) atomicAdd(&bins[g[i] & 127], 1);
  __syncthreads();
  o[T] = bins[T];
}

// Bins are read while others still count.
KERNEL histogram_not_counted(const int *g, int *o, int n) {
  __shared__ int bins[128];
  bins[T] = 0;
  __syncthreads();
  ROUNDS for (int i = T; i < n; i += 128) atomicAdd(&bins[g[i] & 127], 1);
  o[T] = bins[T];
}

// Of one byte each there are as many bins as it has values.
KERNEL histogram_of_bytes(const unsigned char *g, int *o, int n) {
  __shared__ int bins[256];
  for (int i = T; i < 256; i += 128) bins[i] = 0;
  __syncthreads();
  ROUNDS for (int i = T; i < n; i += 128) atomicAdd(&bins[g[i]], 1);
  __syncthreads();
  for (int i = T; i < 256; i += 128) o[i] = bins[i];
}

// Each warp has bins of its own, which it clears itself.
KERNEL histogram_of_warps(const int *g, int *o, int n) {
  __shared__ int bins[4][256];
  for (int i = T % 32; i < 256; i += 32) bins[T / 32][i] = 0;
  __syncwarp();
  ROUNDS for (int i = T; i < n; i += 128) atomicAdd(&bins[T / 32][g[i] & 255], 1);
  __syncthreads();
  for (int i = T; i < 256; i += 128) o[i] = bins[0][i] + bins[1][i] + bins[2][i] + bins[3][i];
}

// The same, and how far an index may reach is not known: it is taken to stay within those of the warp.
KERNEL histogram_of_warps_without_end(const int *g, int *o, int n) {
  __shared__ int bins[4][256];
  for (int i = T % 32; i < 256; i += 32) bins[T / 32][i] = 0;
  __syncwarp();
  ROUNDS for (int i = T; i < n; i += 128) atomicAdd(&bins[T / 32][g[i]], 1);
  __syncthreads();
  for (int i = T; i < 256; i += 128) o[i] = bins[0][i] + bins[1][i] + bins[2][i] + bins[3][i];
}

// With bins that reach into those of the next warp.
KERNEL histogram_of_warps_too_wide(const int *g, int *o, int n) {
  __shared__ int bins[4][128];
  for (int i = T % 32; i < 128; i += 32) bins[T / 32][i] = 0;
  __syncwarp();
  ROUNDS for (int i = T; i < n; i += 128) atomicAdd(&bins[T / 32][g[i] & 255], 1);
  __syncthreads();
  for (int i = T; i < 128; i += 128) o[i] = bins[0][i] + bins[1][i] + bins[2][i] + bins[3][i];
}

KERNEL lookup_too_early(const int *g, int *o) {
  __shared__ int table[128];
  table[T] = g[T];
  o[T] = table[g[T + 128]];
}

KERNEL lookup(const int *g, int *o) {
  __shared__ int table[128];
  table[T] = g[T];
  __syncthreads();
  o[T] = table[g[T + 128]];
}

// Two buffers: who writes one of them again has seen that all have read it.
KERNEL lookups_in_two_buffers(const int *g, int *o, int n) {
  __shared__ int table[2][128];
  int sum = 0;
  ROUNDS for (int r = 0; r < n; r++) {
    table[r & 1][T] = g[r * 128 + T];
    __syncthreads();
    sum += table[r & 1][g[r] & 127];
  }
  o[T] = sum;
}

// One buffer, and nothing keeps the next round's writes from this round's reads.
KERNEL lookups_in_one_buffer(const int *g, int *o, int n) {
  __shared__ int table[128];
  int sum = 0;
  ROUNDS for (int r = 0; r < n; r++) {
    table[T] = g[r * 128 + T];
    __syncthreads();
    sum += table[g[r] & 127];
  }
  o[T] = sum;
}

KERNEL scatter(const int *g, int *o) {
  __shared__ int s[128];
  s[g[T]] = g[T + 128];
  __syncthreads();
  o[T] = s[T];
}

KERNEL scatter_too_early(const int *g, int *o) {
  __shared__ int s[128];
  s[g[T]] = g[T + 128];
  o[T] = s[T];
}

KERNEL compaction(const int *g, int *o) {
  __shared__ int s[128];
  __shared__ int count;
  if (T == 0) count = 0;
  __syncthreads();
  if (g[T] > 0) s[atomicAdd(&count, 1)] = T;
  __syncthreads();
  ROUNDS for (int i = T; i < count; i += 128) o[i] = s[i];
}
