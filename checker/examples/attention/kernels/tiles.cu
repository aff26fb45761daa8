// The softmax of a tile, with one warp that loads and three that compute: barrier 1 says that the tile is
// there, barrier 2 that it may be overwritten.
//
//     nvcc -ptx -lineinfo -arch=sm_80 -o kernels/tiles.ptx kernels/tiles.cu

__device__ __forceinline__ void sync(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

__device__ __forceinline__ void arrive(int barrier, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

extern "C" __global__ __launch_bounds__(128) void softmax_tiles(const float *in, float *out, int tiles) {
    __shared__ float tile[96];
    const int lane = threadIdx.x % 32;
    if (threadIdx.x / 32 == 0) {
        for (int i = 0; i < tiles; ++i) {
            if (i > 0) {
                sync(2, 128);
            }
            for (int k = lane; k < 96; k += 32) {
                tile[k] = in[i * 96 + k];
            }
            arrive(1, 128);
        }
    } else {
        for (int i = 0; i < tiles; ++i) {
            sync(1, 128);
            out[i * 96 + threadIdx.x - 32] = __expf(tile[threadIdx.x - 32]);
            if (i + 1 < tiles) {
                arrive(2, 128);
            }
        }
    }
}

// The same with a wait too many at the end of the loading warp's loop.
extern "C" __global__ __launch_bounds__(128) void softmax_tiles_broken(const float *in, float *out, int tiles) {
    __shared__ float tile[96];
    const int lane = threadIdx.x % 32;
    if (threadIdx.x / 32 == 0) {
        for (int i = 0; i < tiles; ++i) {
            for (int k = lane; k < 96; k += 32) {
                tile[k] = in[i * 96 + k];
            }
            arrive(1, 128);
            sync(2, 128);
        }
    } else {
        for (int i = 0; i < tiles; ++i) {
            sync(1, 128);
            out[i * 96 + threadIdx.x - 32] = __expf(tile[threadIdx.x - 32]);
            if (i + 1 < tiles) {
                arrive(2, 128);
            }
        }
    }
}
