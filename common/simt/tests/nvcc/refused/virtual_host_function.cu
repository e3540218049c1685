// expect: calling a __host__ function("A::f") from a __global__ function("k") is not allowed
struct A {
    virtual int f() { return 1; }
};
__global__ void k(A* a, int* o) {
    o[0] = a->f();  // here
}
int main() {}
