// expect: __host__ or __device__ annotation on lambda requires --extended-lambda nvcc flag
template <class F>
__global__ void k(int* o, F f) { o[0] = f(o[0]); }
int main() {
    auto twice = [] __device__(int x) { return 2 * x; };  // here
    k<<<1, 1>>>(static_cast<int*>(nullptr), twice);
}
