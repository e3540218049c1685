// expect: too many arguments between <<< and >>>: grid, block, bytes of shared memory and stream
__global__ void k(int* o) { o[0] = 1; }
int main() {
    k<<<1, 1, 0, 0, 0>>>(nullptr);  // here
}
