// Programs written for older standards, compiled as C++20.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <barrier>
#include <compare>
#include <latch>
#include <numeric>
#include <span>
#include <vector>

using namespace std;

__host__ __device__ float lerp(float a, float b, float t) { return a + t * (b - a); }
__host__ __device__ int midpoint(int a, int b) { return (a + b) / 2; }
int popcount(unsigned x) { return __builtin_popcount(x); }

__host__ __device__ float identity(float x) { return x; }
float integral(float (*f)(float), float a, float b) {
    return (f(a) + f(b)) / 2 * (b - a);
}
__global__ void predicate(int* out) { out[0] = identity(3.0f); }

// Types and variables, too.
struct span {
    int first, last;
    __device__ int length() const { return last - first; }
};
class latch;
class latch {
 public:
    int value;
};
using strong_ordering = int;
typedef float weak_ordering;
__device__ int barrier = 2, ranges[3];
__global__ void types(int* out, latch in, span s) {
    const span* const more = &s;
    strong_ordering order = in.value;
    weak_ordering half = 0.5f;
    ranges[1] = barrier;
    out[0] = order + more->length() + ranges[1] + int(2 * half);
}

__device__ void warp_reduce(volatile int* s, int t) {
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}

__global__ void k(int* out, float* f) {
    volatile __shared__ int s[16];
    register int t = threadIdx.x;
    s[t] = t < 8 ? t : 0;
    __syncthreads();
    if (t == 0) {
        int total = 0;
        for (int i = 0; i < 8; i++) total += s[i];
        out[0] = total;
        warp_reduce(s, 0);
        f[0] = lerp(1.0f, 3.0f, 0.5f) + midpoint(2, 4);
    }
}

int main(void) {
    int* d;
    float* f;
    cudaMalloc((void**)&d, sizeof(int));
    cudaMalloc((void**)&f, sizeof(float));
    k<<<1, 16>>>(d, f);
    cudaThreadSynchronize();
    vector<int> h(1);
    float result;
    cudaMemcpy(&h[0], d, sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(&result, f, sizeof(float), cudaMemcpyDeviceToHost);
    bool ok = h[0] == 28 && result == 5.0f && lerp(0.0f, 2.0f, 0.5f) == 1.0f &&
              popcount(7u) == 3 && integral(identity, 0, 2) == 2.0f;
    predicate<<<1, 1>>>(d);
    cudaMemcpy(&h[0], d, sizeof(int), cudaMemcpyDeviceToHost);
    ok = ok && h[0] == 3;
    types<<<1, 1>>>(d, latch{40}, span{1, 10});
    cudaMemcpy(&h[0], d, sizeof(int), cudaMemcpyDeviceToHost);
    ok = ok && h[0] == 52 && std::span<int>(h).size() == 1;
    cout << (ok ? "PASSED" : "FAILED") << endl;
    cudaDeviceReset();
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
