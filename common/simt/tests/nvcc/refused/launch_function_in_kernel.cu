// expect: calling a __host__ function(
__global__ void child(int* x) { *x = 1; }
__global__ void k(int* x) {
    void* arguments[] = {&x};
    cudaLaunchKernel((void*)child, dim3(1), dim3(1), arguments, 0, 0);  // here
}
int main() {}
