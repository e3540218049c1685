// expect: kernel launch from __device__ or __global__ functions requires separate compilation mode: -rdc=true
__global__ void child(int* o) { o[0] = 1; }
__global__ void k(int* o) {
    child<<<1, 1>>>(o);  // here
}
int main() {}
