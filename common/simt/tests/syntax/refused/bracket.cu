// expect: bracket.cu:7:.*expected '\]' before '\)'|bracket.cu:7:.*expected ‘]’ before ‘\)’
// What follows a wrong bracket is still seen as what it is: `for` is no function of the
// host, and the kernel is a kernel.
#include <cuda_runtime.h>

__global__ void odd(int* out, const int* in, int n) {
    const int first = in[blockIdx.x + 1) - n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = first;
}

int main() {
    odd<<<1, 32>>>(nullptr, nullptr, 0);
}
