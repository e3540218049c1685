// What libraries do with device memory: the checker neither blames them for it nor
// forgets it.
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <curand.h>

#include <cstdio>
#include <vector>

#include "simt/check.h"

template <class T>
T* memory(int n) {
    T* p = nullptr;
    cudaMalloc(&p, static_cast<size_t>(n) * sizeof(T));
    return p;
}

template <class T>
__global__ void use(const T* x, T* out) {
    out[threadIdx.x] = x[threadIdx.x];
}

/// Has the checker found something since the last call? Prints what is not as wanted.
int expect(const char* what, bool wanted = false) {
    static uint64_t before = 0;
    cudaDeviceSynchronize();
    uint64_t sum = 0;
    for (size_t i = 0; i < simt::check::num_findings(); ++i)
        sum += simt::check::finding(i).count;
    const bool wrong = (sum > before) != wanted;
    if (wrong) std::printf("%s: %s\n", what, wanted ? "no finding" : "a finding");
    before = sum;
    return wrong;
}

int main() {
    constexpr int n = 24;
    const float one = 1, zero = 0;
    cublasHandle_t cublas;
    cublasCreate(&cublas);
    const std::vector<float> ones(n * n, 1);
    float *a = memory<float>(n * n), *out = memory<float>(n * n);
    cudaMemcpy(a, ones.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
    int failures = 0;

    float* c = memory<float>(n * n);
    const auto N = CUBLAS_OP_N;
    cublasSgemm(cublas, N, N, n, n, n, &one, a, n, a, n, &zero, c, n);
    use<<<1, n>>>(c, out);
    failures += expect("cublasSgemm with beta 0");

    c = memory<float>(n * n);
    cublasSgemv(cublas, N, n, n, &one, a, n, a, 1, &zero, c, 2);
    use<<<1, 1>>>(c + 2 * (n - 1), out);
    failures += expect("cublasSgemv");
    use<<<1, 1>>>(c + 1, out);
    failures += expect("cublasSgemv, between the elements", true);

    auto* h = memory<__half>(n * n);
    cublasGemmEx(cublas,
                 N,
                 N,
                 n,
                 n,
                 n,
                 &one,
                 a,
                 CUDA_R_32F,
                 n,
                 a,
                 CUDA_R_32F,
                 n,
                 &zero,
                 c,
                 CUDA_R_32F,
                 n,
                 CUBLAS_COMPUTE_32F,
                 CUBLAS_GEMM_DEFAULT);
    use<<<1, n>>>(c, out);
    failures += expect("cublasGemmEx");

    cublasSetPointerMode(cublas, CUBLAS_POINTER_MODE_DEVICE);
    c = memory<float>(1);
    cublasSdot(cublas, n, a, 1, a, 1, c);
    use<<<1, 1>>>(c, out);
    failures += expect("cublasSdot to device memory");

    curandGenerator_t curand;
    curandCreateGenerator(&curand, CURAND_RNG_PSEUDO_DEFAULT);
    c = memory<float>(n);
    curandGenerateUniform(curand, c, n);
    use<<<1, n>>>(c, out);
    failures += expect("curandGenerateUniform");

    use<<<1, n>>>(h, h + n);
    failures += expect("memory that nobody wrote", true);
    std::printf("%s\n", failures == 0 ? "all right" : "FAILED");
    return failures != 0;
}
