// What a warp stores for others and goes by itself, and loops up to the lesser of two numbers.
// nvcc -arch=sm_90a -std=c++17 -ptx
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
__device__ __forceinline__ bool elected() {
    u32 is;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(is));
    return is;
}
__device__ __forceinline__ int role() { return __shfl_sync(0xffffffffu, threadIdx.x / 32, 0); }


// A warp tells two others through a ring of two places whether there is an item, and goes by that itself.
enum How { RIGHT, ANOTHER_ROUND, THE_OTHER_PLACE, THE_OTHER_PARITY, STORED_TWICE, TWO_TELL, RELAXED };
template <How HOW>
__device__ void tell(int items) {
    __shared__ u64 full[2], empty[2];
    __shared__ int place[2][4];
    if (threadIdx.x == 0) for (int i = 0; i < 2; i++) init(&full[i], HOW == TWO_TELL ? 2 : 1), init(&empty[i], 64);
    __syncthreads();
    int role = ::role();
    if (role == 0 || HOW == TWO_TELL && role == 3) {
        u32 stage = 0, phase = 1;
#pragma unroll 1
        for (int i = 0;; i++) {
            wait(&empty[stage], phase);
            int is_one = i < items;
            if (elected()) {
                place[stage][0] = is_one;
                if (HOW == STORED_TWICE) asm volatile("st.shared.b32 [%0], %1;" ::"r"(at(&place[stage][0])), "r"(i & 1) : "memory");
                if (HOW == RELAXED) asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(at(&full[stage])) : "memory");
                else arrive(&full[stage]);
            }
            if (++stage == 2) stage = 0, phase ^= 1;
            if (HOW == ANOTHER_ROUND ? i > items : !is_one) break;
        }
    } else if (role < 3) {
        u32 stage = 0, phase = HOW == THE_OTHER_PARITY;
#pragma unroll 1
        for (;;) {
            wait(&full[stage], phase);
            int is_one = place[HOW == THE_OTHER_PLACE ? stage ^ 1 : stage][0];
            arrive(&empty[stage]);
            if (++stage == 2) stage = 0, phase ^= 1;
            if (!is_one) break;
        }
    }
}
extern "C" __global__ __launch_bounds__(96) void items(int n) { tell<RIGHT>(n); }
extern "C" __global__ __launch_bounds__(96) void items_and_another_round(int n) { tell<ANOTHER_ROUND>(n); }
extern "C" __global__ __launch_bounds__(96) void items_of_the_other_place(int n) { tell<THE_OTHER_PLACE>(n); }
extern "C" __global__ __launch_bounds__(96) void items_of_the_other_parity(int n) { tell<THE_OTHER_PARITY>(n); }
extern "C" __global__ __launch_bounds__(96) void items_stored_twice(int n) { tell<STORED_TWICE>(n); }
extern "C" __global__ __launch_bounds__(96) void items_that_need_not_be_seen(int n) { tell<RELAXED>(n); }
extern "C" __global__ __launch_bounds__(128) void items_that_two_tell(int n) { tell<TWO_TELL>(n); }

// One lane takes the next tile from a counter and tells it; the tile that is none ends all.
template <int LESS>
__device__ void next_of(u32* counter, u32 tiles) {
    __shared__ u64 full, empty;
    __shared__ u32 next;
    if (threadIdx.x == 0) init(&full, 1), init(&empty, 64);
    __syncthreads();
    int role = ::role();
    if (role == 0) {
        if (elected()) {
            u32 phase = 1;
#pragma unroll 1
            for (;;) {
                wait(&empty, phase);
                u32 tile = atomicAdd(counter, 1);
                *(volatile u32*)&next = tile;
                arrive(&full);
                if (tile + LESS >= tiles) break;
                phase ^= 1;
            }
        }
    } else {
        u32 phase = 0;
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
extern "C" __global__ __launch_bounds__(96) void next_tile(u32* counter, u32 tiles) { next_of<0>(counter, tiles); }
extern "C" __global__ __launch_bounds__(96) void next_tile_but_one(u32* counter, u32 tiles) { next_of<1>(counter, tiles); }

// Two lanes take tiles from one counter, each for a reader of its own, and then ask how many they were: each has its
// own number.
extern "C" __global__ __launch_bounds__(128) void two_take_tiles(u32* counter, u32 tiles) {
    __shared__ u64 full[2], empty[2];
    __shared__ u32 next[2];
    if (threadIdx.x == 0) for (int i = 0; i < 2; i++) init(&full[i], 1), init(&empty[i], 32);
    __syncthreads();
    int role = ::role(), pair = role & 1;
    u32 phase = role < 2;
#pragma unroll 1
    for (u32 taken = 0;; taken++, phase ^= 1) {
        if (role < 2) {
            wait(&empty[pair], phase);
            u32 tile = 0;
            if (elected()) tile = atomicAdd(counter, 1);
            tile = __shfl_sync(0xffffffffu, tile, 0);
            if (elected()) *(volatile u32*)&next[pair] = tile, arrive(&full[pair]);
            if (tile >= tiles) {
                if (taken & 1) asm volatile("bar.sync 1, 64;" ::: "memory");
                break;
            }
        } else {
            wait(&full[pair], phase);
            u32 tile = *(volatile u32*)&next[pair];
            arrive(&empty[pair]);
            if (tile >= tiles) break;
        }
    }
}

// Two things in each round, told through one place: who looks behind the first phase finds another than who looks
// behind the second.
template <bool LATER>
__device__ void in_one_place(const int* a, const int* b, int n) {
    __shared__ u64 full[2], empty;
    __shared__ int place;
    if (threadIdx.x == 0) init(&full[0], 1), init(&full[1], 1), init(&empty, 64);
    __syncthreads();
    int role = ::role();
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        if (role == 0) {
            wait(&empty, 1);
            if (elected()) *(volatile int*)&place = a[i], arrive(&full[0]);
            wait(&empty, 0);
            if (elected()) *(volatile int*)&place = b[i], arrive(&full[1]);
        } else {
            int found = 0;
            wait(&full[0], i & 1);
            if (!LATER || role == 1) found = *(volatile int*)&place;
            arrive(&empty);
            wait(&full[1], i & 1);
            if (LATER && role == 2) found = *(volatile int*)&place;
            arrive(&empty);
            if (found) asm volatile("bar.sync 1, 64;" ::: "memory");
        }
    }
}
extern "C" __global__ __launch_bounds__(96) void one_place(const int* a, const int* b, int n) { in_one_place<false>(a, b, n); }
extern "C" __global__ __launch_bounds__(96) void one_place_at_two_times(const int* a, const int* b, int n) { in_one_place<true>(a, b, n); }

// The first rounds, as many as the ring has stages or fewer, do not wait.
template <int FIRST, int STAGES>
__device__ void filled_at_once(int n) {
    __shared__ u64 full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) for (int i = 0; i < STAGES; i++) init(&full[i], 1), init(&empty[i], 1);
    __syncthreads();
    if (role() == 0) {
        if (elected()) {
            int first = n < FIRST ? n : FIRST;
#pragma unroll 1
            for (int k = 0; k < first; k++) arrive(&full[k % STAGES]);
#pragma unroll 1
            for (int k = FIRST; k < n; k++) {
                wait(&empty[k % STAGES], k / STAGES & 1 ^ 1);
                arrive(&full[k % STAGES]);
            }
        }
    } else {
#pragma unroll 1
        for (int k = 0; k < n; k++) {
            wait(&full[k % STAGES], k / STAGES & 1);
            __syncwarp();
            if (elected()) arrive(&empty[k % STAGES]);
        }
    }
}
extern "C" __global__ __launch_bounds__(64) void filled(int n) { filled_at_once<4, 4>(n); }
extern "C" __global__ __launch_bounds__(64) void filled_with_one_less(int n) { filled_at_once<3, 4>(n); }
extern "C" __global__ __launch_bounds__(64) void filled_with_one_more(int n) { filled_at_once<5, 4>(n); }
