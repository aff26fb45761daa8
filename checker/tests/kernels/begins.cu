// Rings whose counters begin somewhere, have 64 bits or several registers, as nvcc unrolls their loops.
typedef unsigned int u32;
typedef unsigned long long u64;

__device__ u32 at(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }
__device__ void init(u64* b, u32 n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(n)); }
__device__ void arrive(u64* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory"); }
__device__ void expect(u64* b, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(bytes) : "memory");
}
__device__ void wait(u64* b, u32 parity) {
    asm volatile(
        "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}"
        ::"r"(at(b)), "r"(parity) : "memory");
}
__device__ void load(void* to, const void* from, u32 bytes, u64* b) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        ::"r"(at(to)), "l"(from), "r"(bytes), "r"(at(b)) : "memory");
}

template <u32 STAGES>
struct Ring {
    alignas(128) char tile[STAGES][1024];
    u64 full[STAGES], empty[STAGES];
    __device__ void begin(u32 readers) {
        if (threadIdx.x == 0)
            for (u32 i = 0; i < STAGES; i++) init(&full[i], 1), init(&empty[i], readers);
        __syncthreads();
    }
};

// Each CTA has a part of the steps: the stage is counted from its first. `less` are left out by the readers.
template <int LESS>
__device__ void part(const char* in, float* out, int all, int parts) {
    __shared__ Ring<4> ring;
    ring.begin(32);
    int each = (all + parts - 1) / parts, first = blockIdx.y * each, last = min(all, first + each);
    if (threadIdx.x == 32) {
        for (int k = first; k < last; k++) {
            int i = k - first, s = i % 4;
            wait(&ring.empty[s], i / 4 & 1 ^ 1);
            expect(&ring.full[s], 1024);
            load(ring.tile[s], in + k * 1024, 1024, &ring.full[s]);
        }
    } else if (threadIdx.x < 32) {
        float sum = 0;
        for (int k = first; k < last - LESS; k++) {
            int i = k - first, s = i % 4;
            wait(&ring.full[s], i / 4 & 1);
            sum += ring.tile[s][threadIdx.x];
            arrive(&ring.empty[s]);
        }
        out[threadIdx.x] = sum;
    }
}
extern "C" __global__ void each_from_its_first(const char* in, float* out, int n, int p) { part<0>(in, out, n, p); }
extern "C" __global__ void one_less_from_its_first(const char* in, float* out, int n, int p) { part<1>(in, out, n, p); }

// The first tiles are larger. With LATE one more than is announced is.
template <int LATE>
__device__ void sizes(const char* in, float* out, int n, int large) {
    __shared__ Ring<4> ring;
    ring.begin(32);
    if (threadIdx.x == 32) {
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            int s = i % 4;
            wait(&ring.empty[s], i / 4 & 1 ^ 1);
            expect(&ring.full[s], i < large ? 1024 : 512);
            load(ring.tile[s], in + i * 1024, 512, &ring.full[s]);
            if (i < large + LATE) load(ring.tile[s] + 512, in + i * 1024 + 512, 512, &ring.full[s]);
        }
    } else if (threadIdx.x < 32) {
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            int s = i % 4;
            wait(&ring.full[s], i / 4 & 1);
            sum += ring.tile[s][threadIdx.x];
            arrive(&ring.empty[s]);
        }
        out[threadIdx.x] = sum;
    }
}
extern "C" __global__ void large_ones_first(const char* in, float* out, int n, int l) { sizes<0>(in, out, n, l); }
extern "C" __global__ void one_is_too_large(const char* in, float* out, int n, int l) { sizes<1>(in, out, n, l); }

// Two tiles are fetched ahead. With MORE a tile is fetched that is none.
template <int MORE>
__device__ void ahead(const char* in, float* out, int n) {
    __shared__ Ring<3> ring;
    ring.begin(1);
    if (threadIdx.x == 0)
        for (int i = 0; i < 2 && i < n; i++) {
            expect(&ring.full[i], 1024);
            load(ring.tile[i], in + i * 1024, 1024, &ring.full[i]);
        }
    float sum = 0;
    for (int i = 0; i < n; i++) {
        wait(&ring.full[i % 3], i / 3 & 1);
        sum += ring.tile[i % 3][threadIdx.x];
        __syncthreads();
        int next = i + 2, s = next % 3;
        if (threadIdx.x == 0 && next < n + MORE) {
            expect(&ring.full[s], 1024);
            load(ring.tile[s], in + next * 1024, 1024, &ring.full[s]);
        }
    }
    out[threadIdx.x] = sum;
}
extern "C" __global__ void two_ahead(const char* in, float* out, int n) { ahead<0>(in, out, n); }
extern "C" __global__ void two_ahead_and_one_more(const char* in, float* out, int n) { ahead<1>(in, out, n); }

// A counter of 64 bits. With EARLY its parity changes a tile early.
template <int EARLY>
__device__ void wide(const char* in, float* out, long long n) {
    __shared__ Ring<4> ring;
    ring.begin(32);
    if (threadIdx.x == 32) {
#pragma unroll 1
        for (long long i = 0; i < n; i++) {
            int s = i % 4;
            wait(&ring.empty[s], i / 4 & 1 ^ 1);
            expect(&ring.full[s], 1024);
            load(ring.tile[s], in + i * 1024, 1024, &ring.full[s]);
        }
    } else if (threadIdx.x < 32) {
        float sum = 0;
#pragma unroll 1
        for (long long i = 0; i < n; i++) {
            int s = i % 4;
            wait(&ring.full[s], (i + EARLY) / 4 & 1);
            sum += ring.tile[s][threadIdx.x];
            arrive(&ring.empty[s]);
        }
        out[threadIdx.x] = sum;
    }
}
extern "C" __global__ void counts_in_64_bits(const char* in, float* out, long long n) { wide<0>(in, out, n); }
extern "C" __global__ void early_in_64_bits(const char* in, float* out, long long n) { wide<1>(in, out, n); }

// Tile after tile has so many steps, and the ring goes on. With LESS the reader leaves the last tile out.
template <int LESS>
__device__ void tiles(const char* in, float* out, int tiles, int steps) {
    __shared__ Ring<3> ring;
    ring.begin(32);
    u32 s = 0, parity = 0;
    if (threadIdx.x == 32) {
        for (int t = blockIdx.x; t < tiles; t += gridDim.x)
            for (int k = 0; k < steps; k++) {
                wait(&ring.empty[s], parity ^ 1);
                expect(&ring.full[s], 1024);
                load(ring.tile[s], in + k * 1024, 1024, &ring.full[s]);
                if (++s == 3) s = 0, parity ^= 1;
            }
    } else if (threadIdx.x < 32) {
        float sum = 0;
        for (int t = blockIdx.x; t < tiles - LESS; t += gridDim.x)
            for (int k = 0; k < steps; k++) {
                wait(&ring.full[s], parity);
                sum += ring.tile[s][threadIdx.x];
                arrive(&ring.empty[s]);
                if (++s == 3) s = 0, parity ^= 1;
            }
        out[threadIdx.x] = sum;
    }
}
extern "C" __global__ void tile_after_tile(const char* in, float* out, int t, int k) { tiles<0>(in, out, t, k); }
extern "C" __global__ void without_the_last_tile(const char* in, float* out, int t, int k) { tiles<1>(in, out, t, k); }

// A bound without a sign is at least 0.
extern "C" __global__ void bounded_without_a_sign(unsigned n, float* out) {
    if (threadIdx.x < 32) {
#pragma unroll 1
        for (unsigned i = 0; i < 3; i++)
            if (i < n) asm volatile("bar.sync 1, 64;" ::: "memory");
    } else if (n != 0) {
        unsigned i = 0;
        do asm volatile("bar.sync 1, 64;" ::: "memory");
        while (++i < n && i < 3);
    }
}
