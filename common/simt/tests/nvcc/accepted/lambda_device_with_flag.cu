// flags: --extended-lambda
template <class F>
__global__ void k(int* o, F f) { o[0] = f(o[0]); }
int main() {
    auto twice = [] __device__(int x) { return 2 * x; };
    k<<<1, 1>>>(static_cast<int*>(nullptr), twice);
    k<<<1, 1>>>(static_cast<int*>(nullptr), [] __host__ __device__(int x) { return 2 * x; });
}
