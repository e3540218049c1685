// expect: texture references were removed in CUDA 12
texture<float, 2> image;  // here
__global__ void read(float* out) {
    out[threadIdx.x] = tex2D(image, 0.5f, 0.5f);
}
int main() {}
