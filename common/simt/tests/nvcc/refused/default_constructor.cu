// expect: calling a __host__ function("Pair::Pair") from a __global__ function("k") is not allowed
struct Pair {
    int a, b;
    Pair() { a = b = 1; }
};
__global__ void k(int* o) {
    Pair p;  // here
    o[0] = p.a + p.b;
}
int main() {}
