// What several roles, or several places of one, have a part in: bytes of one announcement, totals, prologues.
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
__device__ __forceinline__ void expect(u64* object, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(object)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(u64* object, u32 parity) {
    asm volatile(
        "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra.uni DONE;\nbra.uni AGAIN;\nDONE:\n}"
        ::"r"(at(object)), "r"(parity) : "memory");
}
struct __align__(64) Map { char bytes[128]; };
__device__ __forceinline__ void tensor(void* to, const Map* map, u64* object, int x) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %3}], [%2];"
        ::"r"(at(to)), "l"(map), "r"(at(object)), "r"(x) : "memory");
}
__device__ __forceinline__ bool elected() {
    u32 is;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(is));
    return is;
}
__device__ __forceinline__ int role() { return __shfl_sync(0xffffffffu, threadIdx.x / 32, 0); }

__shared__ __align__(1024) char tile[16384];

// The last copy stands where the kernel ends for the other lanes.
template <bool LATER>
__device__ void in_tail(const Map* map) {
    __shared__ u64 full;
    if (threadIdx.x == 0) init(&full, 1);
    __syncthreads();
    if (role() == 0) {
        if (elected()) expect(&full, 8192);
        if (elected()) tensor(tile, map, &full, 0);
        if (elected()) tensor(tile + 4096, map, &full, 1);
        if (LATER && elected()) tensor(tile + 8192, map, &full, 1);
    } else {
        wait(&full, 0);
        if (LATER) wait(&full, 1);
    }
}
extern "C" __global__ __launch_bounds__(64) void tail(const __grid_constant__ Map map) { in_tail<false>(&map); }
extern "C" __global__ __launch_bounds__(64) void tail_waits_twice(const __grid_constant__ Map map) { in_tail<true>(&map); }

// One role announces for both and copies its part, another copies the other part, or not always.
template <int EACH>
__device__ void of_two_roles(const Map* one, const Map* other, int n) {
    __shared__ u64 full[2], empty[2];
    if (threadIdx.x == 0) for (int i = 0; i < 2; i++) init(&full[i], 1), init(&empty[i], 1);
    __syncthreads();
    u32 stage = 0, phase = 0;
    int own = role();
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        if (own == 2) {
            wait(&full[stage], phase);
            __syncwarp();
            if (elected()) arrive(&empty[stage]);
        } else if (threadIdx.x % 32 == 0) {
            wait(&empty[stage], phase ^ 1);
            if (own == 0) {
                expect(&full[stage], 3072);
                tensor(tile + stage * 4096, one, &full[stage], k);
            } else if (EACH == 1 || k % EACH == 0) {
                tensor(tile + stage * 4096 + 2048, other, &full[stage], k);
            }
        }
        if (++stage == 2) stage = 0, phase ^= 1;
    }
}
extern "C" __global__ __launch_bounds__(96) void two_roles(const __grid_constant__ Map one, const __grid_constant__ Map other, int n) {
    of_two_roles<1>(&one, &other, n);
}
extern "C" __global__ __launch_bounds__(96) void two_roles_of_which_one_skips(const __grid_constant__ Map one,
                                                        const __grid_constant__ Map other, int n) {
    of_two_roles<3>(&one, &other, n);
}

// Two rounds one after the other, each with its copies before the announcement.
extern "C" __global__ __launch_bounds__(64) void copies_first(const __grid_constant__ Map map) {
    __shared__ u64 full, empty;
    if (threadIdx.x == 0) init(&full, 1), init(&empty, 1);
    __syncthreads();
    if (role() == 0) {
        if (elected())
            for (int k = 0; k < 2; k++) {
                wait(&empty, k & 1 ^ 1);
                tensor(tile, &map, &full, k);
                tensor(tile + 2048, &map, &full, k);
                expect(&full, 3072);
            }
    } else {
        for (int k = 0; k < 2; k++) {
            wait(&full, k & 1);
            __syncwarp();
            if (elected()) arrive(&empty);
        }
    }
}

// A copy stands behind a wait at another object.
template <bool MAKES>
__device__ void behind(const Map* one, const Map* other, int n) {
    __shared__ u64 full, first, second;
    if (threadIdx.x == 0) init(&full, 1), init(&first, 1), init(&second, 1);
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        if (role() == 0) {
            wait(&first, k & 1 ^ 1);
            if (elected()) {
                expect(&full, 2048);
                tensor(tile, one, &full, k);
            }
            wait(&second, k & 1 ^ 1);
            if (MAKES || k > 0)
                if (elected()) tensor(tile + 1024, other, &full, k);
        } else {
            wait(&full, k & 1);
            __syncwarp();
            if (elected()) arrive(&first), arrive(&second);
        }
    }
}
extern "C" __global__ __launch_bounds__(64) void behind_a_wait(const __grid_constant__ Map one, const __grid_constant__ Map other, int n) {
    behind<true>(&one, &other, n);
}
extern "C" __global__ __launch_bounds__(64) void behind_a_wait_but_once(const __grid_constant__ Map one, const __grid_constant__ Map other,
                                                  int n) {
    behind<false>(&one, &other, n);
}

// Each role sums up for itself how many tiles the groups of a list have; one leaves out a group.
template <int LESS>
__device__ void total(const int* __restrict__ list, int groups, int width, const Map* map) {
    __shared__ u64 full[2], empty[2];
    if (threadIdx.x == 0) for (int i = 0; i < 2; i++) init(&full[i], 1), init(&empty[i], 1);
    __syncthreads();
    u32 stage = 0, phase = 0;
    if (role() == 0) {
        u32 tiles = 0;
#pragma unroll 1
        for (int g = 0; g < groups; g++) tiles += (list[g] + 127u) / 128;
#pragma unroll 1
        for (u32 t = blockIdx.x; t < tiles * width; t += gridDim.x) {
            wait(&empty[stage], phase ^ 1);
            if (elected()) {
                expect(&full[stage], 1024);
                tensor(tile + stage * 1024, map, &full[stage], t);
            }
            if (++stage == 2) stage = 0, phase ^= 1;
        }
    } else {
        u32 tiles = 0;
#pragma unroll 1
        for (int g = LESS; g < groups; g++) tiles += (list[g] + 127u) / 128;
#pragma unroll 1
        for (u32 t = blockIdx.x; t < tiles * width; t += gridDim.x) {
            wait(&full[stage], phase);
            __syncwarp();
            if (elected()) arrive(&empty[stage]);
            if (++stage == 2) stage = 0, phase ^= 1;
        }
    }
}
extern "C" __global__ __launch_bounds__(64) void totals(const int* __restrict__ list, int groups, int width,
                                  const __grid_constant__ Map map) {
    total<0>(list, groups, width, &map);
}
extern "C" __global__ __launch_bounds__(64) void totals_of_one_less(const int* __restrict__ list, int groups, int width,
                                              const __grid_constant__ Map map) {
    total<1>(list, groups, width, &map);
}

// The first rounds, two at most, by two loops of which one is laid out otherwise; one waits for too many.
template <int LATER>
__device__ void first_rounds(const Map* map, int n) {
    __shared__ u64 full[4];
    if (threadIdx.x == 0) for (int i = 0; i < 4; i++) init(&full[i], 1);
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll 1
        for (int i = 0; i < 2; i++)
            if (i < n) {
                expect(&full[i], 1024);
                tensor(tile + i * 1024, map, &full[i], i);
            }
    }
#pragma unroll 1
    for (int i = 0; i < n + LATER && i < 2; i++) wait(&full[i], 0);
}
extern "C" __global__ __launch_bounds__(64) void two_at_most(const __grid_constant__ Map map, int n) { first_rounds<0>(&map, n); }
extern "C" __global__ __launch_bounds__(64) void two_at_most_and_one_more(const __grid_constant__ Map map, int n) { first_rounds<1>(&map, n); }

// Whether it is the first round is asked of the counter; one looks at the stage of its own round.
template <int BACK>
__device__ void looks_back(int tiles) {
    __shared__ u64 there[2], back[2];
    if (threadIdx.x == 0) for (int i = 0; i < 2; i++) init(&there[i], 1), init(&back[i], 1);
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < tiles; i++) {
        if (role() == 0) {
            if (i > 0) wait(&back[(i - BACK) & 1], (i - BACK) >> 1 & 1);
            if (elected()) arrive(&there[i & 1]);
        } else {
            wait(&there[i & 1], i >> 1 & 1);
            __syncwarp();
            if (elected()) arrive(&back[i & 1]);
        }
    }
}
extern "C" __global__ __launch_bounds__(64) void looks_one_back(int tiles) { looks_back<1>(tiles); }
extern "C" __global__ __launch_bounds__(64) void looks_at_its_own(int tiles) { looks_back<0>(tiles); }
