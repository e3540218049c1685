struct A { int x; int get() const { return x; } };
struct B { int x; __device__ int get() const { return x; } };
__global__ void k(B b, int* o) {
    o[0] = b.get();
}
int main() { A a{3}; return a.get(); }
