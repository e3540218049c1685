constexpr int next(int x) { return x + 3; }
__device__ int x = next(3);
__constant__ int y = next(4) + 2;
const int n = 7;
__device__ int z = n;
int main() {}
