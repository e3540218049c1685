int scale;
struct S { int scale; __device__ int f() const { return scale; } };
__global__ void k(S s, int* o) { o[0] = s.scale + s.f(); }
int main() {}
