// expect: calling a __host__ function("rand") from a __global__ function("k") is not allowed
__global__ void k(int* o) {
    o[0] = rand();  // here
}
int main() {}
