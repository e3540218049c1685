// expect: launch_without_arguments.cu:4: error: kernel launch: expected `>>>(arguments)` after this `<<<`
__global__ void k() {}
int main() {
    k<<<1, 1>>>;
}
