// expect: device code does not support exception handling
__global__ void k(int* o) {
    try {  // here
        o[0] = 1;
    } catch (...) {
    }
}
int main() {}
