// Bulk and tensor copies into shared memory, and reads of what they bring, each time right and with a slip.
// nvcc -arch=sm_90 -std=c++17 -ptx
#include <cstdint>
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define OBJECT "r"((uint32_t)__cvta_generic_to_shared(object))
#define SHARED(pointer) "r"((uint32_t)__cvta_generic_to_shared(pointer))
using Object = uint64_t;
struct alignas(64) Map { char bytes[128]; };

__device__ __forceinline__ void begin(Object* object, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::OBJECT, "r"(count) : "memory");
}
__device__ __forceinline__ void known() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void arrive(Object* object) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::OBJECT : "memory");
}
__device__ __forceinline__ void expect(Object* object, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::OBJECT, "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(Object* object, int parity) {
    asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}"
                 ::OBJECT, "r"(parity) : "memory");
}
__device__ __forceinline__ void copy(void* to, const void* from, int bytes, Object* object) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::SHARED(to), "l"(from), "r"(bytes), OBJECT : "memory");
}
__device__ __forceinline__ void box(void* to, const Map* map, int x, int y, Object* object) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::SHARED(to), "l"(map), "r"(x), "r"(y), OBJECT : "memory");
}
__device__ __forceinline__ uint32_t matrix(const void* at) {
    uint32_t a, b, c, d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : SHARED(at) : "memory");
    return a ^ b ^ c ^ d;
}

// A ring of four stages: one warp fills, four read.
enum Slip { NONE, EARLY, ELSEWHERE };
template <Slip SLIP> __device__ void ring(const float* in, float* out, int n) {
    __shared__ alignas(128) float tile[4][1024];
    __shared__ Object full[4], empty[4];
    if (threadIdx.x == 0) {
        for (int s = 0; s < 4; s++) { begin(&full[s], 1); begin(&empty[s], 4); }
        known();
    }
    __syncthreads();
    int t = threadIdx.x - 32;
    if (t < 0) {
        if (threadIdx.x == 0) for (int k = 0; k < n; k++) {
            wait(&empty[k % 4], (k / 4 & 1) ^ 1);
            expect(&full[k % 4], 4096);
            copy(tile[SLIP == ELSEWHERE ? (k + 1) % 4 : k % 4], in + k * 1024, 4096, &full[k % 4]);
        }
    } else {
        float sum = 0;
        for (int k = 0; k < n; k++) {
            wait(&full[k % 4], k / 4 & 1);
            if (SLIP == EARLY && t % 32 == 0) arrive(&empty[k % 4]);
            for (int j = 0; j < 8; j++) sum += tile[k % 4][t + j * 128];
            __syncwarp();
            if (SLIP != EARLY && t % 32 == 0) arrive(&empty[k % 4]);
        }
        out[t] = sum;
    }
}
KERNEL(160) bulk_ring(const float* in, float* out, int n) { ring<NONE>(in, out, n); }
KERNEL(160) bulk_ring_given_back_early(const float* in, float* out, int n) { ring<EARLY>(in, out, n); }
KERNEL(160) bulk_ring_one_stage_off(const float* in, float* out, int n) { ring<ELSEWHERE>(in, out, n); }

// Two operands for each stage, three stages that are counted by hand.
extern __shared__ __align__(1024) char memory[];
template <bool OFF> __device__ void operands(const float* a, const float* b, float* out, int n) {
    float *A = (float*)memory, *B = A + 3 * 512;
    Object *full = (Object*)(B + 3 * 256), *empty = full + 3;
    if (threadIdx.x == 0) {
        for (int s = 0; s < 3; s++) { begin(&full[s], 1); begin(&empty[s], 128); }
        known();
    }
    __syncthreads();
    int warp = threadIdx.x / 32, s = 0, p = 0;
    if (warp == 4) {
        if (threadIdx.x % 32 == 0) for (int k = 0; k < n; k++) {
            wait(&empty[s], p ^ 1);
            expect(&full[s], 3072);
            copy(A + s * 512, a + k * 512, 2048, &full[s]);
            copy(B + (OFF ? (s + 1) % 3 : s) * 256, b + k * 256, 1024, &full[s]);
            if (++s == 3) { s = 0; p ^= 1; }
        }
    } else {
        float sum = 0;
        for (int k = 0; k < n; k++) {
            wait(&full[s], p);
            for (int j = 0; j < 4; j++)
                sum += A[s * 512 + warp * 128 + j * 32 + threadIdx.x % 8] * B[s * 256 + j * 64 + threadIdx.x % 16];
            arrive(&empty[s]);
            if (++s == 3) { s = 0; p ^= 1; }
        }
        out[threadIdx.x] = sum;
    }
}
KERNEL(160) two_operands(const float* a, const float* b, float* out, int n) { operands<false>(a, b, out, n); }
KERNEL(160) two_operands_one_off(const float* a, const float* b, float* out, int n) { operands<true>(a, b, out, n); }

// The same by tensor maps: the code says nowhere how large the boxes are.
template <Slip SLIP> __device__ void boxes(const Map* a, const Map* b, uint32_t* out, int n) {
    char *A = memory, *B = A + 4 * 8192;
    Object *full = (Object*)(B + 4 * 4096), *empty = full + 4;
    if (threadIdx.x == 0) {
        for (int s = 0; s < 4; s++) { begin(&full[s], 1); begin(&empty[s], 4); }
        known();
    }
    __syncthreads();
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp == 4) {
        if (lane == 0) for (int k = 0; k < n; k++) {
            wait(&empty[k & 3], (k >> 2 & 1) ^ 1);
            expect(&full[k & 3], 8192 + 4096);
            box(A + (k & 3) * 8192, a, k * 32, blockIdx.x * 128, &full[k & 3]);
            box(B + (k & 3) * 4096, b, k * 32, blockIdx.y * 64, &full[k & 3]);
        }
    } else {
        uint32_t sum = 0;
        for (int k = 0; k < n; k++) {
            wait(&full[k & 3], k >> 2 & 1);
            if (SLIP == EARLY && lane == 0) arrive(&empty[k & 3]);
            sum ^= matrix(A + (k & 3) * 8192 + warp * 2048 + lane * 64) ^ matrix(B + (k & 3) * 4096 + lane * 64 + 16);
            if (SLIP != EARLY && lane == 0) arrive(&empty[k & 3]);
        }
        out[threadIdx.x] = sum;
    }
}
KERNEL(160) tensor_boxes(const __grid_constant__ Map a, const __grid_constant__ Map b, uint32_t* out, int n) {
    boxes<NONE>(&a, &b, out, n);
}
KERNEL(160) tensor_boxes_given_back_early(const __grid_constant__ Map a, const __grid_constant__ Map b, uint32_t* out, int n) {
    boxes<EARLY>(&a, &b, out, n);
}

// Tiles in turn, each of n parts: the phases go on from tile to tile.
__device__ __forceinline__ void meet() { asm volatile("bar.sync 1, 128;" ::: "memory"); }
template <int STAGES, Slip SLIP> __device__ void turns(const char* a, const char* b, float* out, int tiles, int n) {
    char *A = memory, *B = A + STAGES * 4096;
    float* result = (float*)(B + STAGES * 2048);
    Object *full = (Object*)(result + 256), *empty = full + STAGES;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) { begin(&full[s], 1); begin(&empty[s], 4); }
        known();
    }
    __syncthreads();
    int lane = threadIdx.x % 32, s = 0, p = 0;
    if (threadIdx.x >= 128) {
        if (lane == 0)
            for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
                for (int k = 0; k < n; k++) {
                    wait(&empty[s], p ^ 1);
                    expect(&full[s], 6144);
                    copy(A + s * 4096, a + (tile * n + k) * 4096, 4096, &full[s]);
                    copy(B + s * 2048, b + (tile * n + k) * 2048, 2048, &full[s]);
                    if (++s == STAGES) { s = 0; p ^= 1; }
                }
    } else {
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            float sums[2] = {0, 0};
            for (int k = 0; k < n; k++) {
                wait(&full[s], p);
                float *x = (float*)(A + s * 4096), *y = (float*)(B + s * 2048);
                if (SLIP == EARLY && lane == 0) arrive(&empty[s]);
                for (int i = 0; i < 8; i++) sums[i & 1] += x[threadIdx.x * 8 + i] * y[(threadIdx.x * 4 + i) % 512];
                __syncwarp();
                if (SLIP != EARLY && lane == 0) arrive(&empty[s]);
                if (++s == STAGES) { s = 0; p ^= 1; }
            }
            if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
            meet();
            result[threadIdx.x] = sums[0];
            result[threadIdx.x + 128] = sums[1];
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            if (SLIP != ELSEWHERE) meet();
            if (threadIdx.x == 0)
                asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;\n"
                             "cp.async.bulk.commit_group;" ::"l"(out + tile * 256), SHARED(result) : "memory");
        }
        if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}
#define TURNS(name, stages, slip) KERNEL(160) name(const char* a, const char* b, float* out, int tiles, int n) { \
    turns<stages, slip>(a, b, out, tiles, n); }
TURNS(tiles_in_turns, 2, NONE)
TURNS(tiles_in_turns_given_back_early, 2, EARLY)
TURNS(tiles_in_turns_copied_out_at_once, 2, ELSEWHERE)

// One tile that everybody waits for, or half of the threads.
template <int WAITING> __device__ void once(const float* in, float* out) {
    __shared__ alignas(16) float tile[64];
    __shared__ Object full;
    if (threadIdx.x == 0) { begin(&full, 1); known(); }
    __syncthreads();
    if (threadIdx.x == 0) { expect(&full, 256); copy(tile, in, 256, &full); }
    if (threadIdx.x < WAITING) wait(&full, 0);
    out[threadIdx.x] = tile[threadIdx.x ^ 1];
}
KERNEL(64) one_tile(const float* in, float* out) { once<64>(in, out); }
KERNEL(64) one_tile_half_wait(const float* in, float* out) { once<32>(in, out); }

// A buffer that is copied to again, with a barrier behind the reads or without.
template <bool MEETS> __device__ void again(const float* in, float* out, int n) {
    __shared__ alignas(16) float tile[128];
    __shared__ Object full;
    if (threadIdx.x == 0) { begin(&full, 1); known(); }
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        if (threadIdx.x == 0) { expect(&full, 512); copy(tile, in + k * 128, 512, &full); }
        wait(&full, k & 1);
        sum += tile[threadIdx.x];
        if (MEETS) __syncthreads();
        else if (k + 1 < n) asm volatile("barrier.sync 1, 128;" ::: "memory");
    }
    out[threadIdx.x] = sum;
}
KERNEL(128) copied_again(const float* in, float* out, int n) { again<true>(in, out, n); }
KERNEL(128) copied_again_by_a_named_barrier(const float* in, float* out, int n) { again<false>(in, out, n); }

// Two copies side by side: the first is four numbers longer than what its object is waited for.
template <int LONGER> __device__ void beside(const float* in, float* out) {
    __shared__ alignas(16) float both[256];
    __shared__ Object full[2];
    if (threadIdx.x == 0) { begin(&full[0], 1); begin(&full[1], 1); known(); }
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&full[0], 512 + 4 * LONGER);
        copy(both, in, 512 + 4 * LONGER, &full[0]);
        expect(&full[1], 512 - 4 * LONGER);
        copy(both + 128 + LONGER, in + 128 + LONGER, 512 - 4 * LONGER, &full[1]);
    }
    wait(&full[1], 0);
    float sum = both[128 + threadIdx.x];
    wait(&full[0], 0);
    out[threadIdx.x] = sum + both[threadIdx.x];
}
KERNEL(128) side_by_side(const float* in, float* out) { beside<0>(in, out); }
KERNEL(128) side_by_side_longer(const float* in, float* out) { beside<4>(in, out); }

// Threads write what is behind a box: the box is not taken to reach there.
KERNEL(128) written_behind_a_box(const __grid_constant__ Map a, const __grid_constant__ Map b, float* out, int n) {
    char* base = memory;
    Object* full = (Object*)(base + 20480);
    if (threadIdx.x == 0) { begin(full, 1); known(); }
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(full, 8192 + 2048);
        box(base, &a, 0, 0, full);
        box(base + 10240, &b, 0, 0, full);
    }
    ((float*)(base + 8192))[threadIdx.x] = threadIdx.x;
    ((float*)(base + 12288))[threadIdx.x] = threadIdx.x;
    __syncthreads();
    float sum = ((float*)(base + 8192))[threadIdx.x ^ 32] + ((float*)(base + 12288))[threadIdx.x ^ 64];
    wait(full, 0);
    out[threadIdx.x] = sum + ((float*)base)[threadIdx.x] + ((float*)(base + 10240))[threadIdx.x];
}
