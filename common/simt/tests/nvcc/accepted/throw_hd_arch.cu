__host__ __device__ void f(int* o) {
#ifdef __CUDA_ARCH__
    __trap();
#else
    if (o[0] < 0) throw 1;
#endif
}
__global__ void k(int* o) { f(o); }
int main() { }
