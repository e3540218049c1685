// expect: calling a __host__ function("half_of") from a __device__ function("main") is not allowed
// flags: --extended-lambda
int half_of(int x) { return x / 2; }
template <class F>
__global__ void k(int* o, F f) { o[0] = f(o[0]); }
int main() {
    auto twice = [] __device__(int x) { return half_of(x); };  // here
    k<<<1, 1>>>(static_cast<int*>(nullptr), twice);
}
