// expect: calling a __host__ function("cudaMemset") from a __global__ function("k")
__global__ void k(int* x) {
    cudaMemset(x, 0, 4);  // here
}
int main() {}
