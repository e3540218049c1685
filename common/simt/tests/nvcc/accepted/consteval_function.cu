consteval int ceil_div(int a, int b) { return (a + b - 1) / b; }
__global__ void k(int* o, int which) {
    int n = ceil_div(3, 2);
    o[0] = n;
}
int main() {}
