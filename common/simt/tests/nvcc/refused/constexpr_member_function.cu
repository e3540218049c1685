// expect: calling a constexpr __host__ function("Counter::get") from a __global__ function("k") is not allowed
struct Counter {
    int n;
    constexpr int get() const { return n; }
};
__global__ void k(Counter c, int* o) {
    o[0] = c.get();  // here
}
int main() {}
