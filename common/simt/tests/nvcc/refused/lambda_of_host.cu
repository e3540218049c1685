// expect: calling a __host__ function("twice") from a __global__ function("k") is not allowed
auto twice = [](int x) { return 2 * x; };
__global__ void k(int* o) {
    o[0] = twice(o[0]);  // here
}
int main() {}
