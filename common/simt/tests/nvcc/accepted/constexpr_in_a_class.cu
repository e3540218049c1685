constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
template <int N> struct Tile {
    static constexpr int kRows = ceil_div(N, 2);
    int x[ceil_div(N, 4)];
    __device__ int get() { return kRows; }
};
__global__ void k(int* o) { Tile<3> t; o[0] = t.get(); }
int main() {}
