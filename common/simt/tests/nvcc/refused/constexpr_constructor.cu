// expect: calling a constexpr __host__ function("P::P") from a __global__ function("k") is not allowed
struct P { int a, b; constexpr P() : a(1), b(2) {} };
__global__ void k(int* o) { P p;  // here
 o[0] = p.a; }
int main() {}
