// expect: identifier "half_of" is undefined in device code
int half_of(int x) { return x / 2; }
__global__ void k(int (**o)(int)) {
    o[0] = half_of;  // here
}
int main() {}
