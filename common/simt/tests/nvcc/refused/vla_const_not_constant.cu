// expect: the array "r" needs a constant size: expression must have a constant value
__global__ void k(float* o, int m) {
    const int n = m;
    float r[n];  // here
    r[0] = o[0];
    o[1] = r[0];
}
int main() {}
