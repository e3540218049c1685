// expect: kernel launch: expected `>>>(arguments)` after this `<<<`
__global__ void k() {}
int main() {
    k<<<1, 1>>>;  // here
}
