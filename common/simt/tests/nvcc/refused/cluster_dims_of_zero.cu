// expect: __cluster_dims__ arguments must be positive integers
__global__ void __cluster_dims__(2, 0) k(int* x) {  // here
    *x = 1;
}
