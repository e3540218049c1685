// expect: calling a __host__ function("Tools::half") from a __global__ function("k") is not allowed
struct Tools {
    static int half(int x) { return x / 2; }
};
__global__ void k(int* o) {
    o[0] = Tools::half(o[0]);  // here
}
int main() {}
