// What nvcc includes without being asked: the CUDA runtime, the C headers, and of
// <algorithm> what <cmath> needs.
__global__ void hello(int* o) {
    printf("hello from thread %d of block %d\n", threadIdx.x, blockIdx.x);
    assert(threadIdx.x < 4);
    o[threadIdx.x] = abs(-3) + min(1, 2) + max(1.0f, 2.0f) + (int)floorf(2.5f);
    o[threadIdx.x] += (int)sqrt(4.0);
}

#ifndef __CUDACC__
#error "__CUDACC__ is not defined"
#endif
#if !defined(__NVCC__) || __CUDACC_VER_MAJOR__ < 12
#error "the compiler's version is not defined"
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "__CUDA_ARCH__ is too small"
#endif

int main(int argc, char** argv) {
    int *d, *h = (int*)malloc(4 * sizeof(int));
    cudaMalloc((void**)&d, 4 * sizeof(int));
    hello<<<1, 4>>>(d);
    cudaMemcpy(h, d, 4 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d);
    if (h[3] != 10 || argc > 5 || strlen(argv[0]) == 0 || time(NULL) == 0) {
        fprintf(stderr, "got %d\n", h[3]);
        exit(EXIT_FAILURE);
    }
    int copy[4] = {}, *end = std::copy(h, h + 4, copy);
    std::swap(copy[0], copy[1]);
    if (end != copy + 4 || !std::equal(copy, end, h) || std::max(copy[0], 3) != 10)
        exit(EXIT_FAILURE);
    std::fill(copy, end, std::min(std::numeric_limits<int>::max(), 7));
    free(h);
    return copy[3] == 7 ? 0 : EXIT_FAILURE;
}
