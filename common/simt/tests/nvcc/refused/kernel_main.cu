// expect: function main cannot be marked __device__ or __global__
__global__ void main() {}  // here
