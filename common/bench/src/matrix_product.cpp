// The compute ceilings: what cuBLAS reaches on a product of two large square matrices.
#include <wb/bench/ceilings.h>
#include <wb/bench/cublas.h>

#include "kernels.h"

namespace wb::bench {

#if WB_HAVE_CUBLAS

namespace {

constexpr int kN = 8192;  // 1.1 TFLOP a product: far beyond launch overheads

struct Precision {
    cudaDataType_t inputs;
    cublasComputeType_t compute;
};

Precision precision_of(Ceiling ceiling) {
    switch (ceiling) {
        case Ceiling::tf32:
            return {CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
        case Ceiling::fp16:
            return {CUDA_R_16F, CUBLAS_COMPUTE_32F};
        case Ceiling::bf16:
            return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
        default:
            return {CUDA_R_32F, CUBLAS_COMPUTE_32F};
    }
}

/// kN * kN random numbers in the precision, in the front of an array of floats. Random
/// and not zero: a product of zeros draws less power, so the clocks stay higher.
Array<float> random_matrix(cudaDataType_t type, std::uint64_t seed) {
    constexpr std::int64_t kCount = std::int64_t{kN} * kN;
    Array<float> numbers = random_normal(kCount, seed);
    if (type == CUDA_R_32F) return numbers;
    Array<float> narrow(kCount / 2);
    launch_narrow(numbers.data(), narrow.data(), kCount, type == CUDA_R_16BF, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    return narrow;
}

}  // namespace

double measure_matrix_product(Ceiling ceiling, Timer& timer) {
    const auto [type, compute] = precision_of(ceiling);
    const Array<float> a = random_matrix(type, 3);
    const Array<float> b = random_matrix(type, 4);
    const Array<float> c(std::int64_t{kN} * kN);
    const float one = 1.0f;
    const float zero = 0.0f;
    const Cublas blas;
    Timer::rest();
    const Timing timing = timer.measure(
        [&, type = type, compute = compute](cudaStream_t stream) {
            CUBLAS_CHECK(cublasGemmEx(blas.on(stream),
                                      CUBLAS_OP_N,
                                      CUBLAS_OP_N,
                                      kN,
                                      kN,
                                      kN,
                                      &one,
                                      a.data(),
                                      type,
                                      kN,
                                      b.data(),
                                      type,
                                      kN,
                                      &zero,
                                      c.data(),
                                      CUDA_R_32F,
                                      kN,
                                      compute,
                                      CUBLAS_GEMM_DEFAULT));
        },
        Cache::cold);
    const double n = kN;
    return 2.0 * n * n * n / timing.us.median * 1e-6;  // FLOP/us -> TFLOP/s
}

#else

double measure_matrix_product(Ceiling, Timer&) {
    return 0.0;
}

#endif  // WB_HAVE_CUBLAS

}  // namespace wb::bench
