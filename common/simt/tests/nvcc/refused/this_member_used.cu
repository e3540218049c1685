// expect: calling a __host__ function("A::get") from a __device__ function("twice") is not allowed
struct A {
    int x;
    int get() const { return x; }
    __device__ int twice() const {
        return 2 * get();  // here
    }
};
__global__ void k(A a, int* o) { o[0] = a.twice(); }
int main() {}
