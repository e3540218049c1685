#include <cuda_runtime.h>
__constant__ float weights[3] = {1, 2, 3};
__device__ int counter = 0, other = 1;
__device__ const int kTable[4] = {1, 2, 3, 4};
static __device__ unsigned mask = ~0u;
__device__ float* pointer = nullptr;
__device__ int (*function)(int) = nullptr;
__managed__ int shared_by_both = 7;
constexpr int kN = 4;
__device__ int size = kN * 2;
__constant__ int2 pair = {1, 2};
__device__ double ratio = 1.0 / 3;
namespace n { __device__ int x = 3; }
struct Holder { static __device__ int f() { __shared__ int s[4]; s[0] = n::x; return s[0]; } };
__global__ void k(int* o) {
    __shared__ float tile[kN][kN + 1], *p;
    __shared__ union { int i[4]; float f[4]; } u;
    static __device__ int calls = 0;
    static const int table[3] = {1, 2, 3};
    static int plain = 3;
    alignas(16) __shared__ char raw[64];
    p = &tile[0][0]; u.i[0] = 1; raw[0] = 1;
    if (o[0]) { __shared__ int inner; inner = 3; o[3] = inner; }
    o[0] = weights[0] + counter + kTable[o[1]] + mask + (pointer == nullptr) + shared_by_both + size + pair.x + ratio + Holder::f() + *p + u.i[0] + raw[0] + calls + table[o[2]] + plain++ + other + (function == nullptr);
}
int main() {
    int h = 3;
    cudaMemcpyToSymbol(counter, &h, 4);
    shared_by_both = 4;
    k<<<1, 1>>>(nullptr);
}
