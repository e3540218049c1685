// expect: launch_without_configuration.cu:4: error: kernel launch: no grid and block between <<< and >>>
__global__ void k() {}
int main() {
    k<<<>>>();
}
