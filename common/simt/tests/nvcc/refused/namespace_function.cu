// expect: calling a __host__ function("half") from a __global__ function("k") is not allowed
namespace tools {
int half(int x) { return x / 2; }
}
__global__ void k(int* o) {
    o[0] = tools::half(o[0]);  // here
}
int main() {}
