__nv_pure__ __device__ int pure(int x) { return x + 1; }
__inline_hint__ __device__ int hint(int x) { return x + 1; }
__device__ __noinline__ int not_inline(int x) { return x + 1; }
__device__ __forceinline__ int always_inline(int x) { return x + 1; }
struct __align__(16) Aligned {
    int x;
};
struct __builtin_align__(8) BuiltinAligned {
    int x;
};
__managed__ int managed;
__global__ void __launch_bounds__(256, 2, 1) bounds(int* p) {
    *p = pure(hint(not_inline(always_inline(managed))));
}
__global__ void __maxnreg__(32) registers(const __grid_constant__ Aligned a) {}
__global__ void __local_maxnreg__(32) local_registers() {}
int main() {}
