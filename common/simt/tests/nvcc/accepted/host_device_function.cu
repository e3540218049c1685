int half_of(int x) { return x / 2; }
__host__ __device__ int f(int x) { return half_of(x); }
__global__ void k(int* o) { o[0] = f(o[0]); }
int main(int argc, char**) {
    return f(argc);
}
