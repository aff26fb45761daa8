// Compiled to counted.ptx by NVRTC 12.9 for sm_90a.
typedef unsigned u32; typedef unsigned long long u64;
__device__ __forceinline__ u32 sm(const void* p){ return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(u64* b,int c){ asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"::"r"(sm(b)),"r"(c):"memory"); }
__device__ __forceinline__ void arrive(u64* b){ asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];"::"r"(sm(b)):"memory"); }
__device__ __forceinline__ void expect(u64* b,u32 n){ asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;"::"r"(sm(b)),"r"(n):"memory"); }
__device__ __forceinline__ void wait(u64* b,u32 p){ asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 P1, [%0], %1;\n@P1 bra.uni DONE;\nbra.uni LAB_WAIT;\nDONE:\n}"::"r"(sm(b)),"r"(p):"memory"); }
__device__ __forceinline__ void copy(void* d,const void* s,u32 n,u64* b){ asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"::"r"(sm(d)),"l"(s),"r"(n),"r"(sm(b)):"memory"); }
#define BS(i,n) asm volatile("bar.sync %0, %1;"::"n"(i),"n"(n):"memory")
#define BA(i,n) asm volatile("bar.arrive %0, %1;"::"n"(i),"n"(n):"memory")
extern "C" {
// a TMA ring with four stages, producer warp and two consumer warps, unknown number of tiles
__global__ void __launch_bounds__(96) ring(const float* g, float* o, int n){
  __shared__ alignas(128) float buf[4][256]; __shared__ u64 full[4], empty[4];
  int w=threadIdx.x/32, l=threadIdx.x%32;
  if(threadIdx.x==0){ for(int i=0;i<4;i++){ init(full+i,1); init(empty+i,2);} asm volatile("fence.mbarrier_init.release.cluster;"); }
  __syncthreads();
  if(w==0){ if(l==0) for(int t=0;t<n;t++){ int s=t%4; wait(empty+s, ((t/4)&1)^1); expect(full+s,1024); copy(buf[s],g+t*256,1024,full+s);} }
  else { float a=0; for(int t=0;t<n;t++){ int s=t%4; wait(full+s,(t/4)&1); a+=buf[s][threadIdx.x]; __syncwarp(); if(l==0) arrive(empty+s);} o[threadIdx.x]=a; }
}
// named barriers: a producer that is unrolled, a consumer that is not
__global__ void __launch_bounds__(64) unlike(float* o, int n){
  __shared__ float x[64];
  if(threadIdx.x<32){
#pragma unroll 4
    for(int t=0;t<n;t++){ BS(1,64); x[threadIdx.x]=t; BA(2,64);} }
  else { float a=0; 
#pragma unroll 1
    for(int t=0;t<n;t++){ BA(1,64); BS(2,64); a+=x[threadIdx.x-32]; } o[threadIdx.x]=a; }
}
__global__ void __launch_bounds__(64) unlike_broken(float* o, int n){
  __shared__ float x[64];
  if(threadIdx.x<32){
#pragma unroll 4
    for(int t=0;t<n;t++){ BS(1,64); x[threadIdx.x]=t; BA(2,64);} }
  else { float a=0; 
#pragma unroll 1
    for(int t=0;t<n-1;t++){ BA(1,64); BS(2,64); a+=x[threadIdx.x-32]; } o[threadIdx.x]=a; }
}
// persistent tiles with a length each, loaded
__global__ void __launch_bounds__(96) tiles(const float* g, const int* len, float* o, int n){
  __shared__ alignas(128) float buf[4][256]; __shared__ u64 full[4], empty[4];
  int w=threadIdx.x/32, l=threadIdx.x%32;
  if(threadIdx.x==0){ for(int i=0;i<4;i++){ init(full+i,1); init(empty+i,2);} asm volatile("fence.mbarrier_init.release.cluster;"); }
  __syncthreads();
  if(w==0){ if(l==0){ int s=0; u32 ph=1; for(int t=blockIdx.x;t<n;t+=gridDim.x){ int k=len[t]; for(int i=0;i<k;i++){ wait(empty+s,ph); expect(full+s,1024); copy(buf[s],g+i*256,1024,full+s); if(++s==4){s=0;ph^=1;} } } } }
  else { float a=0; int s=0; u32 ph=0; for(int t=blockIdx.x;t<n;t+=gridDim.x){ int k=len[t]; for(int i=0;i<k;i++){ wait(full+s,ph); a+=buf[s][threadIdx.x]; __syncwarp(); if(l==0) arrive(empty+s); if(++s==4){s=0;ph^=1;} } o[t*96+threadIdx.x]=a; } }
}
// ceil division of a length in elements
__global__ void __launch_bounds__(96) blocks(const float* g, float* o, int m){
  __shared__ alignas(128) float buf[2][256]; __shared__ u64 full[2], empty[2];
  int w=threadIdx.x/32, l=threadIdx.x%32; int n=(m+255)/256;
  if(threadIdx.x==0){ for(int i=0;i<2;i++){ init(full+i,1); init(empty+i,2);} asm volatile("fence.mbarrier_init.release.cluster;"); }
  __syncthreads();
  if(m<=0) return;
  if(w==0){ if(l==0) for(int t=0;t<n;t++){ int s=t&1; if(t>=2) wait(empty+s, ((t/2)&1)^1); expect(full+s,1024); copy(buf[s],g+t*256,1024,full+s);} }
  else { float a=0; for(int t=0;t*256<m;t++){ int s=t&1; wait(full+s,(t/2)&1); a+=buf[s][threadIdx.x]; __syncwarp(); if(l==0) arrive(empty+s);} o[threadIdx.x]=a; }
}
__global__ void __launch_bounds__(96) blocks_broken(const float* g, float* o, int m){
  __shared__ alignas(128) float buf[2][256]; __shared__ u64 full[2], empty[2];
  int w=threadIdx.x/32, l=threadIdx.x%32; int n=m/256;
  if(threadIdx.x==0){ for(int i=0;i<2;i++){ init(full+i,1); init(empty+i,2);} asm volatile("fence.mbarrier_init.release.cluster;"); }
  __syncthreads();
  if(m<=0) return;
  if(w==0){ if(l==0) for(int t=0;t<n;t++){ int s=t&1; if(t>=2) wait(empty+s, ((t/2)&1)^1); expect(full+s,1024); copy(buf[s],g+t*256,1024,full+s);} }
  else { float a=0; for(int t=0;t*256<m;t++){ int s=t&1; wait(full+s,(t/2)&1); a+=buf[s][threadIdx.x]; __syncwarp(); if(l==0) arrive(empty+s);} o[threadIdx.x]=a; }
}
}
