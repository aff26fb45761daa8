// Ranges of blocks that differ from tile to tile: the lesser and the greater of numbers, counted down.
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

// Attention in a window: blocks from the last that this tile sees down to the first, as long as there is one.
// `MORE` and `FEWER` are looked at by the readers at either end.
template <int MORE, int FEWER>
__device__ void window(const char* in, float* out, int blocks) {
    __shared__ Ring<2> ring;
    ring.begin(32);
    int last = min((int)(blockIdx.x + 1) * 2, blocks), first = blockIdx.x > 3 ? (int)blockIdx.x - 3 : 0;
    u32 stage = 0, phase = 0;
    if (threadIdx.x == 32) {
        for (int block = last - 1; block >= first; --block) {
            wait(&ring.empty[stage], phase ^ 1);
            expect(&ring.full[stage], 1024);
            load(ring.tile[stage], in + block * 1024, 1024, &ring.full[stage]);
            if (++stage == 2) stage = 0, phase ^= 1;
        }
    } else if (threadIdx.x < 32) {
        float sum = 0;
        for (int block = last - 1 + MORE; block >= first + FEWER; --block) {
            wait(&ring.full[stage], phase);
            sum += ring.tile[stage][threadIdx.x];
            arrive(&ring.empty[stage]);
            if (++stage == 2) stage = 0, phase ^= 1;
        }
        out[threadIdx.x] = sum;
    }
}
extern "C" __global__ void in_a_window(const char* in, float* out, int n) { window<0, 0>(in, out, n); }
extern "C" __global__ void beyond_a_window(const char* in, float* out, int n) { window<1, 0>(in, out, n); }
extern "C" __global__ void less_than_a_window(const char* in, float* out, int n) { window<0, 1>(in, out, n); }

// The first block is masked, and stands before the loop.
template <int LESS>
__device__ void masked(const char* in, float* out, int blocks) {
    __shared__ Ring<2> ring;
    ring.begin(32);
    int last = min((int)(blockIdx.x + 1) * 2, blocks), first = blockIdx.x > 3 ? (int)blockIdx.x - 3 : 0;
    if (last <= first) return;
    u32 stage = 0, phase = 0;
    int block = last - 1;
    if (threadIdx.x == 32) {
        for (; block >= first; --block) {
            wait(&ring.empty[stage], phase ^ 1);
            expect(&ring.full[stage], 1024);
            load(ring.tile[stage], in + block * 1024, 1024, &ring.full[stage]);
            if (++stage == 2) stage = 0, phase ^= 1;
        }
    } else if (threadIdx.x < 32) {
        float sum = 0;
        wait(&ring.full[stage], phase);
        sum += ring.tile[stage][threadIdx.x] * 2;
        arrive(&ring.empty[stage]);
        stage = 1;
        for (block -= 1 + LESS; block >= first; --block) {
            wait(&ring.full[stage], phase);
            sum += ring.tile[stage][threadIdx.x];
            arrive(&ring.empty[stage]);
            if (++stage == 2) stage = 0, phase ^= 1;
        }
        out[threadIdx.x] = sum;
    }
}
extern "C" __global__ void first_masked(const char* in, float* out, int n) { masked<0>(in, out, n); }
extern "C" __global__ void second_forgotten(const char* in, float* out, int n) { masked<1>(in, out, n); }

// A causal range of blocks for each tile, backwards, with a query of its own; `MORE` blocks are read.
template <int MORE>
__device__ void causal(const char* in, float* out, int keys, int tiles) {
    __shared__ Ring<2> ring;
    __shared__ Ring<1> query;
    ring.begin(32);
    query.begin(32);
    u32 stage = 0, phase = 0, turn = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int blocks = min((keys + 63) / 64, ((tile + 1) * 128 + keys + 63) / 64);
        if (blocks <= 0) continue;
        if (threadIdx.x == 32) {
            wait(&query.empty[0], turn ^ 1);
            expect(&query.full[0], 1024);
            load(query.tile[0], in + tile * 1024, 1024, &query.full[0]);
            for (int block = blocks - 1; block >= 0; --block) {
                wait(&ring.empty[stage], phase ^ 1);
                expect(&ring.full[stage], 1024);
                load(ring.tile[stage], in + block * 1024, 1024, &ring.full[stage]);
                if (++stage == 2) stage = 0, phase ^= 1;
            }
        } else if (threadIdx.x < 32) {
            float sum = 0;
            wait(&query.full[0], turn);
            for (int block = blocks - 1 + MORE; block >= 0; --block) {
                wait(&ring.full[stage], phase);
                sum += ring.tile[stage][threadIdx.x];
                arrive(&ring.empty[stage]);
                if (++stage == 2) stage = 0, phase ^= 1;
            }
            sum += query.tile[0][threadIdx.x];
            arrive(&query.empty[0]);
            out[tile * 32 + threadIdx.x] = sum;
        }
        turn ^= 1;
    }
}
extern "C" __global__ void causal_blocks(const char* in, float* out, int n, int t) { causal<0>(in, out, n, t); }
extern "C" __global__ void one_causal_block_more(const char* in, float* out, int n, int t) { causal<1>(in, out, n, t); }
