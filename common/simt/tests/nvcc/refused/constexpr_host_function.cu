// expect: calling a constexpr __host__ function("ceil_div") from a __global__ function("k") is not allowed
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
__global__ void k(int* o, int n) {
    o[0] = ceil_div(n, 32);  // here
}
int main() {}
