// expect: calling a __host__ function("Twice::operator()") from a __global__ function("k") is not allowed
struct Twice {
    int operator()(int x) const { return 2 * x; }
};
__global__ void k(int* o, Twice f) {
    o[0] = f(o[0]);  // here
}
int main() {}
