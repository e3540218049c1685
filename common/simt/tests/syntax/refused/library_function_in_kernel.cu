// expect: library_function_in_kernel.cu:3: error: calling a __host__ function("rand") from a __global__ function("k") is not allowed
__global__ void k(int* o) {
    o[0] = rand();
}
int main() {}
