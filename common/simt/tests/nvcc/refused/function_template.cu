// expect: calling a __host__ function("larger") from a __global__ function("k") is not allowed
template <class T>
T larger(T a, T b) { return a < b ? b : a; }
__global__ void k(int* o, int n) {
    o[0] = larger<int>(n, 32);  // here
}
int main() {}
