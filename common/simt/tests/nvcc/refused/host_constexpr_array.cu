// expect: identifier "weights" is undefined in device code
constexpr float weights[3] = {1, 2, 3};
__global__ void k(float* o) {
    o[0] *= weights[threadIdx.x];  // here
}
int main() {}
