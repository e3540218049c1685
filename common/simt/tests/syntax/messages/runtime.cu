// Wrong arguments of the runtime API and of launches.
__global__ void k(int*, float) {}

int main() {
    int *d, h[3];
    float x = 0;
    // says: too few arguments in function call; CUDA has: cudaError_t cudaMemcpy(void*,
    cudaMemcpy(d, h, 12);
    cudaMemcpy(d, h, cudaMemcpyHostToDevice, 12);  // says: invalid conversion from
    // says: cannot convert 'float' to 'cudaStream_t'
    cudaMemcpyAsync(d, h, 12, cudaMemcpyDefault, x);
    // says: no instance of function "cudaMalloc" matches the argument types (int*, int)
    cudaMalloc(d, 12);
    k<<<1, 1>>>(d);  // says: too few arguments for the kernel
    // says: the kernel's parameters are (int*, float), its arguments here (int*, const
    k<<<1, 1>>>(d, "x");
    // says: <<<...>>> takes (dim3 grid, dim3 block, size_t shared, cudaStream_t), not (
    k<<<1, 1, d>>>(d, x);
    cudaFuncSetAttribute(k, 3);  // says: no instance of function "cudaFuncSetAttribute"
}
