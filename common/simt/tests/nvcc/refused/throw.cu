// expect: device code does not support exception handling
__global__ void k(int* o) {
    if (o[0] < 0) throw 1;  // here
}
int main() {}
