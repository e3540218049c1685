// expect: no instance of function "__shfl_sync" matches the argument types
__global__ void k(int* o) {
    o[0] = 1;
    o[0] = __shfl_sync(~0u, o[0], 0, 32, 0);  // here
}
int main() {}
