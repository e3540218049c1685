// expect: the closure type for a lambda cannot be used in the template argument type of a __global__ function template
template <class F>
__global__ void k(int* o, F f) { o[0] = f(o[0]); }
int main() {
    k<<<1, 1>>>(static_cast<int*>(nullptr), [](int x) { return 2 * x; });  // here
}
