// expect: __global__ function "k" cannot be __device__ or __host__, too
__global__ __host__ void k(int* o) {  // here
    o[0] = 1;
}
int main() {}
