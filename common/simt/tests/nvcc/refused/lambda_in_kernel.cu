// expect: calling a __host__ function("half_of") from a __global__ function("k") is not allowed
int half_of(int x) { return x / 2; }
__global__ void k(int* o) {
    auto f = [](int x) { return half_of(x); };  // here
    o[0] = f(o[0]);
}
int main() {}
