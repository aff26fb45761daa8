// Two roles that look at one word of memory, each by an address that it computes in its own way; and slips. The last
// are about numbers that are at least something.
// nvcc -arch=sm_90 -std=c++17 -ptx
#define KERNEL extern "C" __global__ void __launch_bounds__(64)
__device__ __forceinline__ void meet() { asm volatile("bar.sync 1, 64;" ::: "memory"); }

// The first warp comes if `one` holds, the second if `other` does.
#define ONCE(name, one, other)                                                                                      \
    KERNEL name(const int* p, int n, float* to) {                                                                   \
        int const x = blockIdx.x;                                                                                   \
        if (threadIdx.x < 32) { if (one) meet(); }                                                                  \
        else { if (other) meet(); }                                                                                 \
        to[threadIdx.x] = 1 + x;                                                                                    \
    }
ONCE(an_element_of_a_vector, p[x * 4 + 2] > 0, ((const int4*)p)[x].z > 0)
ONCE(another_element_of_a_vector, p[x * 4 + 2] > 0, ((const int4*)p)[x].w > 0)
ONCE(in_a_row, p[(int)blockIdx.y * n + x] > 0, (p + (int)blockIdx.y * n)[x] > 0)
ONCE(from_the_end, p[n - 1 - x] > 0, (p + n)[-1 - x] > 0)
ONCE(with_and_without_a_sign, p[blockIdx.y * 3u] > 0, p[(unsigned long long)blockIdx.y * 3] > 0)
ONCE(the_next_word, p[x] > 0, p[x + 1] > 0)

// Until a list ends.
KERNEL until_the_list_ends(const int* p, float* to) {
    if (threadIdx.x < 32) {
        for (int i = 0; p[i] >= 0; i++) meet();
    } else {
        int i = 0;
        while (p[i] >= 0) meet(), to[i & 1] = i, i++;
    }
}
KERNEL until_the_list_ends_or_one_more(const int* p, float* to) {
    if (threadIdx.x < 32) {
        for (int i = 0; p[i] >= 0; i++) meet();
    } else {
        int i = 0;
        do meet(), to[i & 1] = i, i++; while (p[i] >= 0);
    }
}
// The one looks at the word of its round, the other at the one behind, in rounds of its own.
KERNEL in_rounds_of_their_own(const int* p, int n, float* to) {
    if (threadIdx.x < 32) {
        _Pragma("unroll 1") for (int i = 0; i < n; i++) if (p[i + 1] == 0) meet();
    } else {
        _Pragma("unroll 1") for (int i = 1; i <= n; i++) { if (p[i] == 0) meet(); to[i] = 1; }
    }
}
KERNEL in_pairs(const int* p, int n, float* to) {
    if (threadIdx.x < 32) {
        _Pragma("unroll 1") for (int i = blockIdx.x; i < n; i += gridDim.x) if (p[i * 2 + 1] == 0) meet();
    } else {
        _Pragma("unroll 1") for (int i = blockIdx.x; i < n; i += gridDim.x) {
            int2 const pair = ((const int2*)p)[i];
            if (pair.y == 0) meet();
            to[i] = pair.x;
        }
    }
}

// The first goes round at most twice, up to a number that is at least 2.
#define FEW(name, number)                                                                                           \
    KERNEL name(int n, float* to) {                                                                                 \
        int const all = number;                                                                                     \
        int at = 0;                                                                                                 \
        if (threadIdx.x < 32) {                                                                                     \
            _Pragma("unroll 1") for (int i = 0; i < 2 && i < all; i++) meet(), to[at++] = 1;                        \
        } else meet(), meet(), to[at++] = 1;                                                                        \
    }
FEW(of_at_least_32, max(n, 32))
FEW(of_40_more, max(n, 0) + 40)
FEW(of_at_least_1, max(n, 1))
