// Copies by cp.async for which each thread waits, each time right and with a slip.
// nvcc -arch=sm_90 -std=c++17 -ptx
#include <cuda_pipeline.h>
#define KERNEL extern "C" __global__ void __launch_bounds__(128)

template <bool WAITS, bool MEETS> __device__ void one(const float4* in, float* out) {
    __shared__ float4 tile[256];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 16);
    __pipeline_memcpy_async(&tile[t + 128], &in[t + 128], 16);
    __pipeline_commit();
    if (WAITS) __pipeline_wait_prior(0);
    if (MEETS) __syncthreads();
    out[t] = tile[t ^ 64].x + tile[255 - t].y;
}
KERNEL tile(const float4* in, float* out) { one<true, true>(in, out); }
KERNEL tile_not_waited_for(const float4* in, float* out) { one<false, true>(in, out); }
KERNEL tile_without_barrier(const float4* in, float* out) { one<true, false>(in, out); }

KERNEL waits_behind_the_barrier(const float4* in, float* out) {
    __shared__ float4 tile[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 16);
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    out[t] = tile[t ^ 64].x;
}

template <bool WAITS> __device__ void own(const float4* in, float* out) {
    __shared__ float4 tile[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 16);
    __pipeline_commit();
    if (WAITS) __pipeline_wait_prior(0);
    out[t] = tile[t].x;
}
KERNEL own_part(const float4* in, float* out) { own<true>(in, out); }
KERNEL own_part_not_waited_for(const float4* in, float* out) { own<false>(in, out); }

KERNEL as_far_as_there_is(const float4* in, float* out, int n) {
    __shared__ float4 tile[128];
    int t = threadIdx.x;
    if (t < n) __pipeline_memcpy_async(&tile[t], &in[t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[t ^ 64].x;
}

template <bool WAITS> __device__ void half(const float4* in, float* out) {
    __shared__ float4 tile[64];
    int t = threadIdx.x;
    if (t < 64) {
        __pipeline_memcpy_async(&tile[t], &in[t], 16);
        __pipeline_commit();
        if (WAITS) __pipeline_wait_prior(0);
    }
    __syncthreads();
    out[t] = tile[t & 63].x;
}
KERNEL half_copies(const float4* in, float* out) { half<true>(in, out); }
KERNEL half_copies_not_waited_for(const float4* in, float* out) { half<false>(in, out); }

template <int LEFT, bool MEETS> __device__ void two(const float4* in, float* out, int n) {
    __shared__ float4 stage[2][128];
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&stage[0][t], &in[t], 16);
    __pipeline_commit();
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        if (k + 1 < n) __pipeline_memcpy_async(&stage[(k + 1) & 1][t], &in[(k + 1) * 128 + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(LEFT);
        __syncthreads();
        sum += stage[k & 1][(t + 32) % 128].x;
        if (MEETS) __syncthreads();
    }
    out[t] = sum;
}
KERNEL two_stages(const float4* in, float* out, int n) { two<1, true>(in, out, n); }
KERNEL two_stages_one_late(const float4* in, float* out, int n) { two<2, true>(in, out, n); }
KERNEL two_stages_one_barrier(const float4* in, float* out, int n) { two<1, false>(in, out, n); }

template <int LEFT> __device__ void four(const float4* in, float* out, int n) {
    __shared__ float4 stage[4 * 128];
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 3; k++) {
        __pipeline_memcpy_async(&stage[k * 128 + t], &in[k * 128 + t], 16);
        __pipeline_commit();
    }
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        __pipeline_wait_prior(LEFT);
        __syncthreads();
        __pipeline_memcpy_async(&stage[((k + 3) & 3) * 128 + t], &in[(k + 3) * 128 + t], 16);
        __pipeline_commit();
        sum += stage[(k & 3) * 128 + (t + 32) % 128].x;
    }
    out[t] = sum;
}
KERNEL four_stages(const float4* in, float* out, int n) { four<2>(in, out, n); }
KERNEL four_stages_one_late(const float4* in, float* out, int n) { four<3>(in, out, n); }
