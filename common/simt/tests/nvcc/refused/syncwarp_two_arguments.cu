// expect: too many arguments in function call
__global__ void k(int* o) {
    o[0] = 1;
    __syncwarp(~0u, 0);  // here
}
int main() {}
