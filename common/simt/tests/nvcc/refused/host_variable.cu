// expect: identifier "scale" is undefined in device code
int scale = 3;
__global__ void k(int* o) {
    o[0] *= scale;  // here
}
int main() {}
