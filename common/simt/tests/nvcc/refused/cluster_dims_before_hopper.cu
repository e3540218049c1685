// expect: __cluster_dims__ is not supported for this GPU architecture
// flags: -arch=sm_80
__global__ void __cluster_dims__(2) k(int* x) {  // here
    *x = 1;
}
