// expect: declaration is incompatible with previous "s" (declared at line 3): extern __shared__ arrays of one name are
__global__ void a(float* o) {
    extern __shared__ float s[];
    o[0] = s[0];
}
__global__ void b(int* o) {
    extern __shared__ int s[];  // here
    o[0] = s[0];
}
int main() {}
