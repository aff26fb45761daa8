// Rings of persistent kernels, whose state goes on by as many steps as a tile has, however many these are.
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
__device__ void load(void* to, const void* map, int x, u64* b) {
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
        ::"r"(at(to)), "l"(map), "r"(x), "r"(at(b)) : "memory");
}


template <u32 STAGES>
struct State {
    u32 stage = 0, phase = 0;
    __device__ void next() { if (++stage == STAGES) { stage = 0; phase ^= 1; } }
    // As CUTLASS does it: the phase changes with each time that the ring has been gone round.
    __device__ void advance(u32 steps) {
        if (steps < STAGES && stage + steps >= STAGES) phase ^= 1;
        if (steps >= STAGES && (stage + steps) / STAGES % 2 == 1) phase ^= 1;
        stage = (stage + steps) % STAGES;
    }
};
enum Slip { NONE, ONE_MORE, PHASE_STAYS, ROUNDS_DOWN, LAST_STAGE, BY_TWOS, PAIRS_ONLY };

template <u32 STAGES, Slip SLIP>
__device__ void ring(const void* map, int tiles, int k) {
    __shared__ alignas(128) char memory[STAGES][2048];
    __shared__ u64 full[STAGES], empty[STAGES];
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; s++) { init(&full[s], 1); init(&empty[s], 32); }
    __syncthreads();
    int steps = (k + 63) / 64;
    State<STAGES> state;
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0)
            for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
                State<STAGES> write = state;
#pragma unroll 1
                for (int step = 0; step < steps; step++) {
                    wait(&empty[write.stage], write.phase ^ 1);
                    expect(&full[write.stage], 2048);
                    load(memory[write.stage], map, step * 64, &full[write.stage]);
                    write.next();
                }
                state.advance(steps);
            }
        return;
    }
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        State<STAGES> read = state;
        if (SLIP == LAST_STAGE) {
            // The last stage is given back behind the loop, by what is computed of the number of steps.
#pragma unroll 1
            for (int step = steps; step > 0; step--) {
                wait(&full[read.stage], read.phase);
                if (step > 1) arrive(&empty[read.stage]);
                read.next();
            }
            if (steps > 0) arrive(&empty[(state.stage + steps - 1) % STAGES]);
        } else if (SLIP == BY_TWOS || SLIP == PAIRS_ONLY) {
            // Two steps in each iteration; what is left over is a step of its own, or is forgotten.
#pragma unroll 1
            for (int left = steps - (steps & 1); left > 0; left -= 2)
                for (int i = 0; i < 2; i++) {
                    wait(&full[read.stage], read.phase);
                    arrive(&empty[read.stage]);
                    read.next();
                }
            if (SLIP == BY_TWOS && (steps & 1) == 1) {
                wait(&full[read.stage], read.phase);
                arrive(&empty[read.stage]);
            }
        } else {
#pragma unroll 1
            for (int step = steps; step > 0; step--) {
                wait(&full[read.stage], read.phase);
                arrive(&empty[read.stage]);
                read.next();
            }
        }
        if (SLIP == ONE_MORE) state.advance(steps + 1);
        else if (SLIP == PHASE_STAYS) state.stage = (state.stage + steps) % STAGES;
        else if (SLIP == ROUNDS_DOWN) state.advance(k / 64);
        else state.advance(steps);
    }
}

#define KERNEL(name, stages, slip) \
    extern "C" __global__ void __launch_bounds__(64) name(const void* map, int tiles, int k) { \
        ring<stages, slip>(map, tiles, k); \
    }
KERNEL(goes_on_by_4, 4, NONE)
KERNEL(goes_on_by_6, 6, NONE)
KERNEL(goes_on_by_7, 7, NONE)
KERNEL(last_stage_is_computed, 3, LAST_STAGE)
KERNEL(one_step_more, 4, ONE_MORE)
KERNEL(phase_stays, 3, PHASE_STAYS)
KERNEL(rounds_down, 4, ROUNDS_DOWN)
KERNEL(steps_by_twos, 4, BY_TWOS)
KERNEL(odd_step_forgotten, 4, PAIRS_ONLY)
