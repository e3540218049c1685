__host__ __device__ int f(int x) {
#ifdef __CUDA_ARCH__
    return __popc(x);
#else
    return __builtin_popcount(x);
#endif
}
__global__ void k(int* o) { o[0] = f(o[0]); }
int main() { return f(3); }
