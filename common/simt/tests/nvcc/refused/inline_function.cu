// expect: calling a __host__ function("half_of") from a __device__ function("f") is not allowed
int half_of(int x) { return x / 2; }
inline __device__ int f(int x) { return half_of(x); }  // here
__global__ void k(int* o) { o[0] = f(o[0]); }
int main() {}
