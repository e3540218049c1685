// expect: 'warp_sun' was not declared in this scope; did you mean 'warp_sum'?
__device__ float warp_sum(float own) {
    return own;
}
template <class T>
__global__ void sum(T* out) {
    float own = 0;
    out[threadIdx.x] = warp_sun(own);  // here
}
int main() {
    sum<<<1, 32>>>(static_cast<float*>(nullptr));
}
