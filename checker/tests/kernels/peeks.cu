// A ring whose consumers ask ahead whether the next stage is full, and wait only where it was not.
typedef unsigned int u32;
typedef unsigned long long u64;

__device__ u32 at(void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }
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
__device__ bool ask(u64* b, u32 parity) {
    u32 yes;
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.b32 %0, 1, 0, p;\n}"
        : "=r"(yes) : "r"(at(b)), "r"(parity) : "memory");
    return yes;
}
__device__ void load(void* to, const void* map, int x, u64* b) {
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
        ::"r"(at(to)), "l"(map), "r"(x), "r"(at(b)) : "memory");
}

constexpr int STAGES = 4;
struct State {
    u32 stage = 0, phase = 0;
    __device__ void next() { if (++stage == STAGES) { stage = 0; phase ^= 1; } }
};
enum Slip { NONE, ASKS_BEFORE, OTHER_PARITY, OTHER_OBJECT, STEERS, APART };

template <Slip SLIP, bool SKIPS>
__device__ void ring(const void* map, int tiles) {
    __shared__ alignas(128) char tile[STAGES][2048];
    __shared__ u64 full[STAGES], empty[STAGES];
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; s++) { init(&full[s], 1); init(&empty[s], 2); }
    __syncthreads();
    State state;
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0)
            for (int t = 0; t < tiles; t++) {
                wait(&empty[state.stage], state.phase ^ 1);
                expect(&full[state.stage], 2048);
                load(tile[state.stage], map, t * 2048, &full[state.stage]);
                state.next();
            }
        return;
    }
    bool yes = tiles > 0 ? ask(&full[0], 0) : SKIPS;
#pragma unroll 1
    for (int t = 0; t < tiles; t++) {
        if (!yes) wait(&full[state.stage], state.phase);
        if (SLIP != APART) __syncwarp();
        State before = state;
        state.next();
        const State& asked = SLIP == ASKS_BEFORE ? before : state;
        u64* object = SLIP == OTHER_OBJECT ? &empty[asked.stage] : &full[asked.stage];
        if (SKIPS) yes = t + 1 < tiles ? ask(object, asked.phase ^ (SLIP == OTHER_PARITY)) : true;
        else yes = ask(object, asked.phase ^ (SLIP == OTHER_PARITY));
        if (threadIdx.x % 32 == 0 && (SLIP != STEERS || yes)) arrive(&empty[before.stage]);
    }
}

extern "C" {
// expect asks_ahead: verified
__global__ void __launch_bounds__(96) asks_ahead(const void* map, int tiles) { ring<NONE, false>(map, tiles); }
// The last tile asks for nothing.
// expect asks_ahead_if_more: verified
__global__ void __launch_bounds__(96) asks_ahead_if_more(const void* map, int tiles) { ring<NONE, true>(map, tiles); }
// What is asked for is not what is waited for: the wait may be left out though nothing has come.
// expect asks_for_this_stage: inconclusive
__global__ void __launch_bounds__(96) asks_for_this_stage(const void* map, int tiles) { ring<ASKS_BEFORE, false>(map, tiles); }
// expect asks_for_other_parity: inconclusive
__global__ void __launch_bounds__(96) asks_for_other_parity(const void* map, int tiles) { ring<OTHER_PARITY, true>(map, tiles); }
// expect asks_for_other_object: inconclusive
__global__ void __launch_bounds__(96) asks_for_other_object(const void* map, int tiles) { ring<OTHER_OBJECT, false>(map, tiles); }
// A lane that need not wait may run ahead and arrive for the others.
// expect lanes_go_apart: inconclusive
__global__ void __launch_bounds__(96) lanes_go_apart(const void* map, int tiles) { ring<APART, false>(map, tiles); }
// The answer decides more than whether to wait.
// expect answer_steers: inconclusive
__global__ void __launch_bounds__(96) answer_steers(const void* map, int tiles) { ring<STEERS, false>(map, tiles); }
}
