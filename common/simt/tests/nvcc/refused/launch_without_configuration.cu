// expect: kernel launch: no grid and block between <<< and >>>
__global__ void k() {}
int main() {
    k<<<>>>();  // here
}
