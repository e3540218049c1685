namespace x { __global__ void a(float* o) {
    extern __shared__ float s[];
    o[0] = s[0];
} }
namespace y { __global__ void b(int* o) {
    extern __shared__ int s[];
    o[0] = s[0];
} }
int main() {}
