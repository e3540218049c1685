// expect: __cluster_dims__ is only allowed on a __global__ function
__device__ int __cluster_dims__(2) twice(int x) {  // here
    return 2 * x;
}
__global__ void k(int* x) {
    *x = twice(*x);
}
