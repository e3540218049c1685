// expect: a __device__ function call cannot be configured: "f" is no __global__ function
__device__ void f(int* o) { o[0] = 1; }
int main() {
    f<<<1, 1>>>(nullptr);  // here
}
