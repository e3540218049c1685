// Wrong arguments of device functions.
#include <cuda_fp16.h>

struct Three {
    int a[3];
};

__global__ void k(int* p, Three t, double* d, unsigned short* u) {
    // says: no instance of function "__shfl_sync" matches the argument types (unsigned
    int x = __shfl_sync(0xffffffff, *p);
    // says: warp operations exchange values of at most 8 bytes
    t = __shfl_sync(0xffffffff, t, 0);
    // says: too few arguments in function call; CUDA has: unsigned int __ballot_sync(un
    x = __ballot_sync(1);
    __syncthreads(1);  // says: too many arguments in function call
    __syncwarp(1, 2);  // says: too many arguments in function call
    // says: no instance of function "atomicAdd" matches the argument types (int*)
    atomicAdd(p);
    // says: matches the argument types (Three*, int)
    atomicAdd(&t, 1);
    // says: matches the argument types (double*, double)
    atomicAnd(d, 1.0);
    // says: matches the argument types (short unsigned int*, int)
    atomicAdd(u, 1);
    // says: invalid conversion from 'int*' to 'int'
    atomicAdd(p, p);
}
