// Places through which others are told, stored to again before all have looked, and in time.
// nvcc -arch=sm_90 -std=c++17 -ptx
typedef unsigned u32;
typedef unsigned long long u64;

__device__ __forceinline__ u32 at(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(u64* object, u32 count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(object)), "r"(count) : "memory");
}
__device__ __forceinline__ void arrive(u64* object) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(object)) : "memory");
}
__device__ __forceinline__ void wait(u64* object, u32 parity) {
    asm volatile(
        "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra.uni DONE;\nbra.uni AGAIN;\nDONE:\n}"
        ::"r"(at(object)), "r"(parity) : "memory");
}

// A lane takes tiles from a counter and tells two warps of each whether it is one, through a ring of two places.
enum How { RIGHT, ONE_PLACE, BEFORE_THE_WAIT, THE_OTHER_PLACE_TOO, LATER_IN_THE_OTHER, GIVEN_BACK_FIRST, ONE_SUFFICES };
template <How HOW>
__device__ void tell(u32* counter, u32 tiles) {
    __shared__ u64 full[2], empty[2];
    __shared__ int place[2][4];
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++) init(&full[i], 1), init(&empty[i], HOW == ONE_SUFFICES ? 32 : 64);
    __syncthreads();
    int role = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
    if (role == 0) {
        if (threadIdx.x % 32 == 0) {
            u32 stage = 0, phase = 1;
#pragma unroll 1
            for (int i = 0;; i++) {
                if (HOW != BEFORE_THE_WAIT) wait(&empty[stage], phase);
                int is_one = atomicAdd(counter, 1) < tiles;
                place[HOW == ONE_PLACE ? 0 : stage][0] = is_one;
                if (HOW == THE_OTHER_PLACE_TOO) *(volatile int*)&place[stage ^ 1][0] = is_one;
                if (HOW == LATER_IN_THE_OTHER && i > 0) place[stage ^ 1][0] = 0;
                if (HOW == BEFORE_THE_WAIT) wait(&empty[stage], phase);
                arrive(&full[stage]);
                if (++stage == 2) stage = 0, phase ^= 1;
                if (!is_one) break;
            }
        }
    } else if (HOW != ONE_SUFFICES || role == 1) {
        u32 stage = 0, phase = 0;
#pragma unroll 1
        for (;;) {
            wait(&full[stage], phase);
            if (HOW == GIVEN_BACK_FIRST) arrive(&empty[stage]);
            int is_one = *(volatile int*)&place[HOW == ONE_PLACE ? 0 : stage][0];
            if (HOW != GIVEN_BACK_FIRST) arrive(&empty[stage]);
            if (++stage == 2) stage = 0, phase ^= 1;
            if (!is_one) break;
        }
    } else {
        u32 stage = 0, phase = 0;
#pragma unroll 1
        for (;;) {
            wait(&full[stage], phase);
            int is_one = *(volatile int*)&place[stage][0];
            if (++stage == 2) stage = 0, phase ^= 1;
            if (!is_one) break;
        }
    }
}
#define KERNEL extern "C" __global__ __launch_bounds__(96)
KERNEL void given_back(u32* counter, u32 tiles) { tell<RIGHT>(counter, tiles); }
KERNEL void given_back_elsewhere(u32* counter, u32 tiles) { tell<ONE_PLACE>(counter, tiles); }
KERNEL void stored_before_the_wait(u32* counter, u32 tiles) { tell<BEFORE_THE_WAIT>(counter, tiles); }
KERNEL void stored_to_both(u32* counter, u32 tiles) { tell<THE_OTHER_PLACE_TOO>(counter, tiles); }
KERNEL void stored_to_the_other_later(u32* counter, u32 tiles) { tell<LATER_IN_THE_OTHER>(counter, tiles); }
KERNEL void given_back_before_it_is_read(u32* counter, u32 tiles) { tell<GIVEN_BACK_FIRST>(counter, tiles); }
KERNEL void given_back_by_one_of_two(u32* counter, u32 tiles) { tell<ONE_SUFFICES>(counter, tiles); }

// The wait stands at the end of the round, for the next one.
template <bool OLDER>
__device__ void at_the_end(u32* counter, u32 tiles) {
    __shared__ u64 full, empty;
    __shared__ u32 next;
    if (threadIdx.x == 0) init(&full, 1), init(&empty, 64);
    __syncthreads();
    int role = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
    u32 phase = 0;
    if (role == 0) {
        if (threadIdx.x % 32 == 0) {
#pragma unroll 1
            for (;;) {
                u32 tile = atomicAdd(counter, 1);
                *(volatile u32*)&next = tile;
                arrive(&full);
                if (tile >= tiles) break;
                wait(&empty, OLDER ? phase ^ 1 : phase);
                phase ^= 1;
            }
        }
    } else {
#pragma unroll 1
        for (;;) {
            wait(&full, phase);
            u32 tile = *(volatile u32*)&next;
            arrive(&empty);
            if (tile >= tiles) break;
            phase ^= 1;
        }
    }
}
KERNEL void given_back_at_the_end(u32* counter, u32 tiles) { at_the_end<false>(counter, tiles); }
KERNEL void given_back_a_round_before(u32* counter, u32 tiles) { at_the_end<true>(counter, tiles); }
