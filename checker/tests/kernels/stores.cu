// Copies out of shared memory, each time right and with a slip.
// nvcc -arch=sm_90 -std=c++17 -ptx
#include <cstdint>
#define KERNEL extern "C" __global__ void __launch_bounds__(128)
#define SHARED(pointer) "r"((uint32_t)__cvta_generic_to_shared(pointer))
struct alignas(64) Map { char bytes[128]; };

__device__ __forceinline__ void put(void* to, const void* from, int bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), SHARED(from), "r"(bytes) : "memory");
}
__device__ __forceinline__ void put_box(const Map* map, int x, int y, const void* from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(map), "r"(x), "r"(y), SHARED(from) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int LEFT> __device__ __forceinline__ void wait() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory"); }
__device__ __forceinline__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

enum Slip { NONE, NO_FENCE, NO_WAIT, BY_COPIER, BEHIND };
template <Slip SLIP> __device__ void rounds(float* out, int n) {
    __shared__ alignas(128) float tile[128];
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        tile[threadIdx.x] = k * 2.f + threadIdx.x;
        if (SLIP == NONE || SLIP == NO_WAIT) fence();
        __syncthreads();
        if (threadIdx.x == 0) {
            if (SLIP == BY_COPIER) fence();
            put(out + k * 128, tile, 512);
            if (SLIP == BEHIND) fence();
            commit();
            if (SLIP != NO_WAIT) wait<0>();
        }
        __syncthreads();
    }
    if (SLIP == NO_WAIT && threadIdx.x == 0) wait<0>();
}
KERNEL tile_out(float* out, int n) { rounds<NONE>(out, n); }
KERNEL tile_out_without_fence(float* out, int n) { rounds<NO_FENCE>(out, n); }
KERNEL tile_out_without_wait(float* out, int n) { rounds<NO_WAIT>(out, n); }
KERNEL tile_out_fenced_by_who_copies(float* out, int n) { rounds<BY_COPIER>(out, n); }
KERNEL tile_out_fenced_behind(float* out, int n) { rounds<BEHIND>(out, n); }

// Two tiles in turn, by a tensor map.
template <int LEFT> __device__ void turns(const Map* map, int n) {
    __shared__ alignas(128) float tile[2][1024];
    for (int k = 0; k < n; k++) {
        if (threadIdx.x == 0) wait<LEFT>();
        __syncthreads();
        for (int j = threadIdx.x; j < 1024; j += 128) tile[k & 1][j] = j * k;
        fence();
        __syncthreads();
        if (threadIdx.x == 0) { put_box(map, k, 0, tile[k & 1]); commit(); }
    }
    if (threadIdx.x == 0) wait<0>();
}
KERNEL tiles_in_turn(const __grid_constant__ Map map, int n) { turns<1>(&map, n); }
KERNEL tiles_in_turn_one_late(const __grid_constant__ Map map, int n) { turns<2>(&map, n); }

// The kernel ends before the copy has read.
KERNEL not_waited_for_at_the_end(float* out) {
    __shared__ alignas(128) float tile[128];
    tile[threadIdx.x] = threadIdx.x;
    fence();
    __syncthreads();
    if (threadIdx.x == 0) { put(out, tile, 512); commit(); }
}

// What is copied is written again, far behind where the copy begins, or just behind where it ends.
template <int FROM> __device__ void behind(float* out) {
    __shared__ alignas(128) float tile[256];
    tile[threadIdx.x] = threadIdx.x;
    fence();
    __syncthreads();
    if (threadIdx.x == 0) { put(out, tile, 512); commit(); }
    if (threadIdx.x >= 96) tile[FROM + threadIdx.x] = 0;
    if (threadIdx.x == 0) wait<0>();
}
KERNEL last_part_written_again(float* out) { behind<0>(out); }
KERNEL written_behind_the_copy(float* out) { behind<32>(out); }
