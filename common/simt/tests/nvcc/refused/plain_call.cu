// expect: a __global__ function call must be configured: write k<<<grid, block>>>(...)
__global__ void k(int* o) { o[0] = 1; }
int main() {
    k(nullptr);  // here
}
