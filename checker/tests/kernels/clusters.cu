// Clusters of two CTAs: tiles that both need are loaded in halves, each half for both.
typedef unsigned int u32;
typedef unsigned long long u64;

__device__ u32 at(void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }
__device__ u32 rank() { u32 r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ void init(u64* b, u32 n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(n)); }
__device__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ void cluster_sync() { cluster_arrive(); cluster_wait(); }
__device__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ void expect(u64* b, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(bytes) : "memory");
}
__device__ void wait(u64* b, u32 parity) {
    asm volatile(
        "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}"
        ::"r"(at(b)), "r"(parity) : "memory");
}
__device__ void arrive_at(u64* b, u32 cta) {
    asm volatile(
        "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}"
        ::"r"(at(b)), "r"(cta) : "memory");
}
__device__ void load_for_both(void* to, const void* map, int x, u64* b) {
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2}], [%3], %4;"
        ::"r"(at(to)), "l"(map), "r"(x), "r"(at(b)), "h"((unsigned short)3) : "memory");
}

template <int CONSUMERS, bool BEGINS, bool ENDS>
__device__ void ring(const void* map, int tiles) {
    constexpr int STAGES = 4;
    __shared__ alignas(128) char tile[STAGES][2048];
    __shared__ u64 full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) { init(&full[s], 1); init(&empty[s], CONSUMERS); }
        fence_init();
    }
    if (BEGINS) cluster_sync(); else __syncthreads();
    u32 stage = 0, phase = 0;
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0)
            for (int t = 0; t < tiles; t++) {
                wait(&empty[stage], phase ^ 1);
                expect(&full[stage], 2048);
                load_for_both(tile[stage] + rank() * 1024, map, t * 2048 + rank() * 1024, &full[stage]);
                if (++stage == STAGES) { stage = 0; phase ^= 1; }
            }
    } else {
        for (int t = 0; t < tiles; t++) {
            wait(&full[stage], phase);
            if (threadIdx.x % 32 < 2) arrive_at(&empty[stage], threadIdx.x % 32);
            if (++stage == STAGES) { stage = 0; phase ^= 1; }
        }
    }
    if (ENDS) cluster_sync();
}

template <bool PEER, int FLIP, bool BOTH>
__device__ void handover(int rounds) {
    __shared__ u64 turn;
    if (threadIdx.x == 0) { init(&turn, 1); fence_init(); }
    cluster_sync();
    for (int i = 0; i < rounds; i++) {
        if (threadIdx.x == 0 && (BOTH || rank() == 0)) arrive_at(&turn, PEER ? rank() ^ 1 : 0);
        wait(&turn, (i & 1) ^ FLIP);
        cluster_sync();
    }
}

extern "C" {
// Two warps of consumers in each CTA release a stage in both.
// expect cluster_ring: verified
__global__ void __cluster_dims__(2) __launch_bounds__(96) cluster_ring(const void* map, int tiles) { ring<4, true, true>(map, tiles); }
// The count is that of one CTA.
// expect cluster_ring_counts_one_cta: violated unobserved-phase
__global__ void __cluster_dims__(2) __launch_bounds__(96) cluster_ring_counts_one_cta(const void* map, int tiles) { ring<2, true, true>(map, tiles); }
// A peer may arrive before the object is initialised.
// expect cluster_ring_begins_at_once: violated mbarrier-not-live
__global__ void __cluster_dims__(2) __launch_bounds__(96) cluster_ring_begins_at_once(const void* map, int tiles) { ring<4, false, true>(map, tiles); }
// A CTA exits before its peer is done with it.
// expect cluster_ring_exits_at_once: violated remote-after-exit
__global__ void __cluster_dims__(2) __launch_bounds__(96) cluster_ring_exits_at_once(const void* map, int tiles) { ring<4, true, false>(map, tiles); }

// All warps of the cluster meet, once for each of an unknown number of rounds.
// expect cluster_meets: verified
__global__ void __cluster_dims__(4) __launch_bounds__(128) cluster_meets(int rounds) {
    for (int i = 0; i < rounds; i++) { cluster_arrive(); cluster_wait(); }
}
// One CTA leaves out a meeting, and is behind by one from then on: it exits when the others wait for the last.
// expect cluster_meets_but_one: verified
__global__ void __cluster_dims__(4) __launch_bounds__(128) cluster_meets_but_one(int rounds) {
    for (int i = 0; i < rounds; i++) { if (i != 2 || rank() != 3) cluster_sync(); }
}
// The last CTA of the grid has less to do, and those that have exited are not waited for.
// expect cluster_tail: verified
__global__ void __cluster_dims__(2) __launch_bounds__(64) cluster_tail(int n) {
    if (blockIdx.x * 64 < n) cluster_sync();
}
// A message with its own arrival: bytes are stored in the peer's memory.
// expect cluster_message: verified
__global__ void __cluster_dims__(2) __launch_bounds__(32) cluster_message(int rounds) {
    __shared__ u64 box;
    __shared__ u32 word;
    if (threadIdx.x == 0) { init(&box, 1); fence_init(); }
    cluster_sync();
    for (int i = 0; i < rounds; i++) {
        if (threadIdx.x == 0) {
            expect(&box, 4);
            asm volatile(
                "{\n.reg .b32 a, b;\nmapa.shared::cluster.u32 a, %0, %2;\nmapa.shared::cluster.u32 b, %1, %2;\nst.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [a], %3, [b];\n}"
                ::"r"(at(&word)), "r"(at(&box)), "r"(rank() ^ 1), "r"(i) : "memory");
        }
        wait(&box, i & 1);
        cluster_sync();
    }
}
// Each CTA arrives at the other's.
// expect cluster_handover: verified
__global__ void __cluster_dims__(2) __launch_bounds__(64) cluster_handover(int rounds) { handover<true, 0, true>(rounds); }
// Both arrive at that of the first.
// expect cluster_handover_to_the_first: violated unobserved-phase
__global__ void __cluster_dims__(2) __launch_bounds__(64) cluster_handover_to_the_first(int rounds) { handover<false, 0, true>(rounds); }
// They wait for the phase that is yet to come.
// expect cluster_handover_next_parity: violated deadlock
__global__ void __cluster_dims__(2) __launch_bounds__(64) cluster_handover_next_parity(int rounds) { handover<true, 1, true>(rounds); }
// One of them does not arrive.
// expect cluster_handover_of_one: violated deadlock
__global__ void __cluster_dims__(2) __launch_bounds__(64) cluster_handover_of_one(int rounds) { handover<true, 0, false>(rounds); }
}
