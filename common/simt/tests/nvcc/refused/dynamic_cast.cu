// expect: the operator 'dynamic_cast' is not allowed in device code
struct A { virtual __device__ int f() { return 1; } };
struct B : A {};
__global__ void k(A* a, int* o) {
    o[0] = dynamic_cast<B*>(a) != nullptr;  // here
}
int main() {}
