// expect: a parameter annotated with __grid_constant__ must have const-qualified type
__global__ void k(const __grid_constant__ int a) {}
__global__ void l(__grid_constant__ int b) {}  // here
int main() {}
