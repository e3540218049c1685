// expect: an extended __device__ lambda cannot capture variables by reference
// flags: --extended-lambda
template <class F>
__global__ void k(int* o, F f) { o[0] = f(o[0]); }
int main() {
    int n = 3;
    k<<<1, 1>>>(static_cast<int*>(nullptr), [&] __device__(int x) { return n * x; });  // here
}
