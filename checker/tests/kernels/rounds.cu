// Loops that only access shared memory, each time right and with a slip.
// nvcc -arch=sm_90 -std=c++17 -ptx
#include <cuda_pipeline.h>
#define KERNEL(THREADS) extern "C" __global__ void __launch_bounds__(THREADS)
#define ROLLED _Pragma("unroll 1")

// A product with two tiles in turn, copied ahead.
template <bool LAST> __device__ void product(const float* A, const float* B, float* C, int n) {
    __shared__ float a[2][16][16], b[2][16][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    auto fetch = [&](int tile) {
        __pipeline_memcpy_async(&a[tile & 1][y][x], &A[(blockIdx.y * 16 + y) * n + tile * 16 + x], 4);
        __pipeline_memcpy_async(&b[tile & 1][y][x], &B[(tile * 16 + y) * n + blockIdx.x * 16 + x], 4);
        __pipeline_commit();
    };
    float sum = 0;
    fetch(0);
    for (int k = 0; k < n / 16; k++) {
        if (k + 1 < n / 16) {
            fetch(k + 1);
            __pipeline_wait_prior(1);
        } else if (LAST) {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        ROLLED for (int i = 0; i < 16; i++) sum += a[k & 1][y][i] * b[k & 1][i][x];
        __syncthreads();
    }
    C[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x] = sum;
}
KERNEL(256) two_tiles(const float* A, const float* B, float* C, int n) { product<true>(A, B, C, n); }
KERNEL(256) last_tile_not_awaited(const float* A, const float* B, float* C, int n) { product<false>(A, B, C, n); }

// As many rounds for each thread as there are elements for it: the last is not for all.
template <bool WAITS, bool OWN> __device__ void reversed(const float* in, float* out) {
    __shared__ float all[1000];
    ROLLED for (int i = threadIdx.x; i < 1000; i += 256) all[i] = in[i];
    if (WAITS) __syncthreads();
    ROLLED for (int i = threadIdx.x; i < 1000; i += 256) out[i] = all[OWN ? i : 999 - i];
}
KERNEL(256) strided(const float* in, float* out) { reversed<true, false>(in, out); }
KERNEL(256) strided_without_barrier(const float* in, float* out) { reversed<false, false>(in, out); }
KERNEL(256) strided_own_elements(const float* in, float* out) { reversed<false, true>(in, out); }

// Halves of which not all are made of whole warps.
template <int LAST> __device__ void halved(const float* in, float* out) {
    __shared__ float part[192];
    int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    ROLLED for (int half = 96; half >= 3; half >>= 1) {
        if (t < half) part[t] += part[t + half];
        if (half <= LAST) __syncthreads();
    }
    if (t == 0) out[0] = part[0] + part[1] + part[2];
}
KERNEL(192) halves_of_192(const float* in, float* out) { halved<96>(in, out); }
KERNEL(192) halves_of_192_without_first_barrier(const float* in, float* out) { halved<48>(in, out); }

// One thread goes through all.
template <bool WAITS> __device__ void scanned(const float* in, float* out) {
    __shared__ float all[256];
    int t = threadIdx.x;
    all[t] = in[t];
    __syncthreads();
    if (t == 0) {
        ROLLED for (int i = 1; i < 256; i++) all[i] += all[i - 1];
    }
    if (WAITS) __syncthreads();
    out[t] = all[t];
}
KERNEL(256) scan_by_one(const float* in, float* out) { scanned<true>(in, out); }
KERNEL(256) scan_by_one_not_awaited(const float* in, float* out) { scanned<false>(in, out); }

// Each thread reads the elements before its own.
template <bool WAITS> __device__ void prefixes(const float* in, float* out) {
    __shared__ float all[256];
    int t = threadIdx.x;
    float sum = 0;
    all[t] = in[t];
    __syncthreads();
    ROLLED for (int i = 0; i <= t; i++) sum += all[i];
    if (WAITS) __syncthreads();
    all[t] = sum;
    __syncthreads();
    out[t] = all[255 - t];
}
KERNEL(256) prefix(const float* in, float* out) { prefixes<true>(in, out); }
KERNEL(256) prefix_written_too_soon(const float* in, float* out) { prefixes<false>(in, out); }

// Rows of every other warp are written, and read in every other round.
template <int WHICH> __device__ void rows(const float* in, float* out) {
    __shared__ float all[8][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0;
    if (warp & 1) all[warp][lane] = in[threadIdx.x];
    ROLLED for (int row = 0; row < 8; row++) {
        if ((row & 1) == WHICH) sum += all[row][lane];
    }
    out[threadIdx.x] = sum;
}
KERNEL(256) other_rows(const float* in, float* out) { rows<0>(in, out); }
KERNEL(256) same_rows(const float* in, float* out) { rows<1>(in, out); }

// Where an element is in its tile follows from its number.
template <bool WAITS> __device__ void loaded(const float* in, float* out, int n) {
    __shared__ float tile[8][64];
    float sum = 0;
    for (int k = 0; k < n; k++) {
        ROLLED for (int i = threadIdx.x; i < 512; i += 256) tile[i / 64][i % 64] = in[k * 512 + i];
        if (WAITS) __syncthreads();
        sum += tile[threadIdx.x % 8][threadIdx.x / 4];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
KERNEL(256) tile_by_number(const float* in, float* out, int n) { loaded<true>(in, out, n); }
KERNEL(256) tile_by_number_read_at_once(const float* in, float* out, int n) { loaded<false>(in, out, n); }

// Neighbours, from the one before on.
template <bool WAITS> __device__ void neighbours(const float* in, float* out, int n) {
    __shared__ float field[10][34];
    int x = threadIdx.x % 32 + 1, y = threadIdx.x / 32 + 1;
    float sum = 0;
    for (int k = 0; k < n; k++) {
        field[y][x] = in[k * 256 + threadIdx.x];
        if (WAITS) __syncthreads();
        ROLLED for (int dy = -1; dy <= 1; dy++) {
            ROLLED for (int dx = -1; dx <= 1; dx++) sum += field[y + dy][x + dx];
        }
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
KERNEL(256) stencil(const float* in, float* out, int n) { neighbours<true>(in, out, n); }
KERNEL(256) stencil_read_at_once(const float* in, float* out, int n) { neighbours<false>(in, out, n); }

// From a number on that is no power of two less one.
template <int FROM> __device__ void from_there(const float* in, float* out) {
    __shared__ float all[128];
    int t = threadIdx.x;
    float sum = 0;
    if (t == 0) all[5] = in[0];
    if (t >= 32) {
        ROLLED for (int d = -1; d < 2; d++) sum += all[t - 32 + FROM + d];
    }
    out[t] = sum;
}
KERNEL(64) reads_behind(const float* in, float* out) { from_there<65>(in, out); }
KERNEL(64) reads_there(const float* in, float* out) { from_there<4>(in, out); }

// Sums of twice as many elements in each round, in place.
template <bool READ, bool WRITTEN> __device__ void sums(const float* in, float* out) {
    __shared__ float all[256];
    int t = threadIdx.x;
    all[t] = in[t];
    __syncthreads();
    ROLLED for (int distance = 1; distance < 256; distance *= 2) {
        float other = t >= distance ? all[t - distance] : 0;
        if (READ) __syncthreads();
        if (t >= distance) all[t] += other;
        if (WRITTEN) __syncthreads();
    }
    out[t] = all[t];
}
KERNEL(256) sums_in_place(const float* in, float* out) { sums<true, true>(in, out); }
KERNEL(256) sums_written_too_soon(const float* in, float* out) { sums<false, true>(in, out); }
KERNEL(256) sums_read_too_soon(const float* in, float* out) { sums<true, false>(in, out); }

// In each round one lane has its turn. Which one it is follows from the number of a loop that has no known
// end: that there is a race is in doubt, since some lane may be another.
KERNEL(64) turns(const float* in, float* out, int n) {
    __shared__ float all[32];
    int t = threadIdx.x, lane = t % 32;
    float sum = 0;
    for (int k = 0; k < n; k++) {
        if (t == k) all[t] = in[k];
        __syncthreads();
        if (t >= 32 && lane <= k) sum += all[lane];
        __syncthreads();
    }
    out[t] = sum;
}
KERNEL(64) turns_read_ahead(const float* in, float* out, int n) {
    __shared__ float all[64];
    int t = threadIdx.x, lane = t % 32;
    float sum = 0;
    for (int k = 0; k < n; k++) {
        if (t == k) all[t] = in[k];
        if (t >= 32 && lane < k) sum += all[lane];
        __syncthreads();
    }
    out[t] = sum;
}
