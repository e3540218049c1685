// expect: calling a __host__ function("P::P") from a __global__ function("k") is not allowed
struct P { int a, b; P(int x) : a(x), b(x) {} };
__global__ void k(int* o) {
    P* p = new P(3);  // here
    o[0] = p->a;
}
int main() {}
