// expect: calling a __host__ function("Pair::Pair") from a __global__ function("k") is not allowed
struct Pair {
    int a, b;
    Pair(int x) : a(x), b(x) {}
};
__global__ void k(int* o) {
    Pair p(o[0]);  // here
    o[0] = p.a + p.b;
}
int main() {}
