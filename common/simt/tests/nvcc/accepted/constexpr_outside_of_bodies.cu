constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
template <int N, int M = ceil_div(N, 2)>
__device__ int f() { return M; }
__global__ void __launch_bounds__(ceil_div(100, 2)) k(int* o) { o[0] = f<3>(); }
int main() {}
