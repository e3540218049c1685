// expect: an automatic "__device__" variable declaration is not allowed inside a device function body
__global__ void k(float* o) {
    __device__ float a[64];  // here
    o[0] = a[0];
}
int main() {}
