// What threads tell one another through shared memory, each time right and with a slip.
// nvcc -arch=sm_90 -std=c++17 -ptx
#define KERNEL(THREADS) extern "C" __global__ void __launch_bounds__(THREADS)

template <bool EACH> __device__ void sum(const float* in, float* out) {
    __shared__ float part[256];
    part[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        if (EACH || half == 1) __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
KERNEL(256) tree(const float* in, float* out) { sum<true>(in, out); }
KERNEL(256) tree_without_barriers(const float* in, float* out) { sum<false>(in, out); }

template <bool WAITS> __device__ void transposed(const float* in, float* out, int n) {
    __shared__ float tile[32][33];
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    for (int row = 0; row < 32; row += 8) tile[y + row][x] = in[(blockIdx.y * 32 + y + row) * n + blockIdx.x * 32 + x];
    if (WAITS) __syncthreads();
    for (int row = 0; row < 32; row += 8) out[(blockIdx.x * 32 + y + row) * n + blockIdx.y * 32 + x] = tile[x][y + row];
}
KERNEL(256) transpose(const float* in, float* out, int n) { transposed<true>(in, out, n); }
KERNEL(256) transpose_without_barrier(const float* in, float* out, int n) { transposed<false>(in, out, n); }

template <bool BOTH> __device__ void product(const float* A, const float* B, float* C, int n) {
    __shared__ float a[16][16], b[16][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        a[y][x] = A[(blockIdx.y * 16 + y) * n + k + x];
        b[y][x] = B[(k + y) * n + blockIdx.x * 16 + x];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += a[y][i] * b[i][x];
        if (BOTH) __syncthreads();
    }
    C[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x] = sum;
}
KERNEL(256) tiles(const float* A, const float* B, float* C, int n) { product<true>(A, B, C, n); }
KERNEL(256) tiles_with_one_barrier(const float* A, const float* B, float* C, int n) { product<false>(A, B, C, n); }

// Several threads store the same number.
template <bool WAITS> __device__ void any_above(const int* in, int* out, int bound) {
    __shared__ int any;
    if (threadIdx.x == 0) any = 0;
    __syncthreads();
    if (in[threadIdx.x] > bound) any = 1;
    if (WAITS) __syncthreads();
    out[threadIdx.x] = any;
}
KERNEL(128) flag(const int* in, int* out, int bound) { any_above<true>(in, out, bound); }
KERNEL(128) flag_read_at_once(const int* in, int* out, int bound) { any_above<false>(in, out, bound); }

// Two warps and a barrier of their own.
template <int COUNT> __device__ void handed(const float* in, float* out) {
    __shared__ float row[32];
    if (threadIdx.x < 32) {
        row[threadIdx.x] = in[threadIdx.x];
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else if (threadIdx.x < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x] = row[threadIdx.x - 32];
    } else if (COUNT > 2) {
        out[threadIdx.x] = row[threadIdx.x - 64];
    }
}
KERNEL(96) pair(const float* in, float* out) { handed<2>(in, out); }
KERNEL(96) pair_and_another(const float* in, float* out) { handed<3>(in, out); }

// Warps order themselves by what they see in memory: nothing is said of that.
KERNEL(64) spins(const float* in, float* out) {
    __shared__ float row[32];
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        row[threadIdx.x] = in[threadIdx.x];
        __threadfence_block();
        __syncwarp();
        if (threadIdx.x == 0) ready = 1;
    } else {
        while (!ready) {}
        __threadfence_block();
        out[threadIdx.x] = row[threadIdx.x - 32];
    }
}

// Two halves of a buffer, filled and read in turn.
template <bool WAITS> __device__ void turns(const float* in, float* out, int n) {
    __shared__ float half[2][256];
    float sum = 0;
    half[0][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
#pragma unroll 1
    for (int k = 1; k < n; k++) {
        half[k & 1][threadIdx.x] = in[k * 256 + threadIdx.x];
        sum += half[(k - 1) & 1][255 - threadIdx.x];
        if (WAITS) __syncthreads();
    }
    out[threadIdx.x] = sum;
}
KERNEL(256) halves(const float* in, float* out, int n) { turns<true>(in, out, n); }
KERNEL(256) halves_without_barrier(const float* in, float* out, int n) { turns<false>(in, out, n); }

// A loop that counts.
template <bool WAITS> __device__ void rounds(const float* in, float* out) {
    __shared__ float part[256];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
#pragma unroll 1
    for (int half = 128; half > 0; half >>= 1) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        if (WAITS || half > 64) __syncthreads();
    }
    out[threadIdx.x] = part[0];
}
KERNEL(256) rolled(const float* in, float* out) { rounds<true>(in, out); }
KERNEL(256) rolled_with_one_barrier(const float* in, float* out) { rounds<false>(in, out); }
