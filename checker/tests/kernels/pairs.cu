// Pairs of loops that go over one number in different ways. Compiled to pairs.ptx by NVRTC 12.9 for sm_80.
#define T asm volatile("bar.sync 1, 64;" ::: "memory");
extern "C" {
__global__ void __launch_bounds__(64) un2_up(int n) {
    if (threadIdx.x < 32) { _Pragma("unroll 2") for(int t=0;t<n;t++){T} }
    else { for(int t=0;t<n;t++){T} }
}
__global__ void __launch_bounds__(64) two_un4(int n) {
    if (threadIdx.x < 32) { _Pragma("unroll 1") for(int t=0;t<n;t+=2){T if(t+1<n){T}} }
    else { _Pragma("unroll 4") for(int t=0;t<n;t++){T} }
}
__global__ void __launch_bounds__(64) first_last(int n) {
    if (threadIdx.x < 32) { if(n>0){T} _Pragma("unroll 1") for(int t=1;t<n;t++){T} }
    else { _Pragma("unroll 1") for(int t=0;t<n-1;t++){T} if(n>0){T} }
}
__global__ void __launch_bounds__(64) wrap_pos(int n) {
    if (threadIdx.x < 32) { if((unsigned)(n-2)<7u){T} else if(n>0){T} }
    else { if(n>0){T} }
}
__global__ void __launch_bounds__(64) even_up(int n) {
    if (threadIdx.x < 32) { _Pragma("unroll 1") for(int t=0;t+1<n;t+=2){T T} }
    else { for(int t=0;t<n;t++){T} }
}
__global__ void __launch_bounds__(64) min5_un4(int n) {
    if (threadIdx.x < 32) { _Pragma("unroll 1") for(int t=0;t<n&&t<5;t++){T} }
    else { _Pragma("unroll 4") for(int t=0;t<n;t++){T} }
}
__global__ void __launch_bounds__(64) max1_dowh(int n) {
    if (threadIdx.x < 32) { {int k=n>1?n:1; _Pragma("unroll 1") for(int t=0;t<k;t++){T}} }
    else { if(n>0){int t=0; do{T t++;}while(t<n);} }
}
__global__ void __launch_bounds__(64) un4from1_up(int n) {
    if (threadIdx.x < 32) { _Pragma("unroll 4") for(int t=1;t<n;t++){T} }
    else { for(int t=0;t<n;t++){T} }
}
__global__ void __launch_bounds__(64) un4le_one(int n) {
    if (threadIdx.x < 32) { _Pragma("unroll 4") for(int t=0;t<=n;t++){T} }
    else { _Pragma("unroll 1") for(int t=0;t<n;t++){T} }
}
}
