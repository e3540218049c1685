// expect: calling a __host__ function("P::~P") from a __global__ function("k") is not allowed
struct P { int a; ~P() { a = 0; } };
__global__ void k(int* o) { P p{3}; o[0] = p.a; }  // here
int main() {}
