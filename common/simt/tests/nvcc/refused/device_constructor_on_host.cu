// expect: calling a __device__ function("Counter::Counter") from a __host__ function("main") is not allowed
struct Counter {
    int n;
    __device__ Counter(int x) : n(x) {}
};
int main() {
    Counter c(3);  // here
    return c.n;
}
