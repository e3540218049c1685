// expect: calling a __host__ function("cudaMemcpy") from a __global__ function("k") is not allowed
__global__ void k(int* o) {
    cudaMemcpy(o, o + 1, 4, cudaMemcpyDeviceToDevice);  // here
}
int main() {}
