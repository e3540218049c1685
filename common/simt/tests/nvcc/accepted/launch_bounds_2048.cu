__global__ void __launch_bounds__(2048) k(int* o) {
    o[0] = 1;
}
int main() {}
