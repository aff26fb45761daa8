// Halves of a warp come to a barrier each by itself, or the whole warp does: where lanes have parted, chips
// before sm_80 bring them together in a function first.
// nvcc -arch=sm_75 -cubin; cuobjdump -sass
#define KERNEL extern "C" __global__ void __launch_bounds__(128)

KERNEL halves_arrive(int* p) {
    if (threadIdx.x / 32 == 0) {
        if (threadIdx.x & 1) {
            p[0] = 1;
            asm volatile("barrier.arrive 1, 96;");
        } else {
            p[2] = 1;
            asm volatile("barrier.arrive 1, 96;");
        }
    } else if (threadIdx.x / 32 == 1) {
        asm volatile("barrier.sync 1, 96;");
    }
    p[1] = 1;
}

KERNEL whole_arrives(int* p) {
    if (threadIdx.x / 32 == 0) {
        p[threadIdx.x] = 1;
        asm volatile("barrier.arrive 1, 64;");
    } else if (threadIdx.x / 32 == 1) {
        asm volatile("barrier.sync 1, 64;");
    }
    p[1] = 1;
}

KERNEL whole_arrives_for_three(int* p) {
    if (threadIdx.x / 32 == 0) {
        p[threadIdx.x] = 1;
        asm volatile("barrier.arrive 1, 96;");
    } else if (threadIdx.x / 32 == 1) {
        asm volatile("barrier.sync 1, 96;");
    }
    p[1] = 1;
}
