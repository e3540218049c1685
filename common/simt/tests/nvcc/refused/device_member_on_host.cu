// expect: calling a __device__ function("Counter::get") from a __host__ function("main") is not allowed
struct Counter {
    int n;
    __device__ int get() const { return n; }
};
int main() {
    Counter c{3};
    return c.get();  // here
}
