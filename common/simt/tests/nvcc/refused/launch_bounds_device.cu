// expect: __launch_bounds__ is only allowed on a __global__ function
__device__ void __launch_bounds__(256) f(int* o) {  // here
    o[0] = 1;
}
int main() {}
