// library.cpp: given with this exercise: see library.h.
#include "library.h"

#include <wb/arguments.h>

#if WB_GPT_HAS_CUBLAS
#include <wb/check_cublas.h>
#endif

bool has_cublas() {
    return WB_GPT_HAS_CUBLAS != 0;
}

void check_cublas_kinds(const char* function, unsigned kinds) {
    const wb::Arguments arguments(function);
    arguments.require(
        kinds <= kAllProducts, "cublas", kinds, "must be kinds of product");
    arguments.require(
        kinds == 0 || has_cublas(),
        "cublas",
        kinds,
        "must be 0: this program has no cuBLAS (the simulator never has)");
}

#if WB_GPT_HAS_CUBLAS

namespace {

/// The handle of this thread, for as long as it lives. Never destroyed: at a program's
/// end CUDA may be gone before it.
cublasHandle_t handle_on(cudaStream_t stream) {
    thread_local cublasHandle_t handle = [] {
        cublasHandle_t made = nullptr;
        CUBLAS_CHECK(cublasCreate(&made));
        return made;
    }();
    CUBLAS_CHECK(cublasSetStream(handle, stream));
    return handle;
}

/// cuBLAS's matrices are column-major: it is asked for C^T = op(B)^T op(A)^T.
void product(const wb::GemmShape& s,
             const void* A,
             const void* B,
             float beta,
             void* C,
             cudaDataType_t type,
             cudaDataType_t type_of_c,
             cudaStream_t stream) {
    const float one = 1.0f;
    CUBLAS_CHECK(cublasGemmEx(handle_on(stream),
                              s.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                              s.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                              static_cast<int>(s.N),
                              static_cast<int>(s.M),
                              static_cast<int>(s.K),
                              &one,
                              B,
                              type,
                              static_cast<int>(s.ldb),
                              A,
                              type,
                              static_cast<int>(s.lda),
                              &beta,
                              C,
                              type_of_c,
                              static_cast<int>(s.ldc),
                              CUBLAS_COMPUTE_32F,
                              CUBLAS_GEMM_DEFAULT));
}

}  // namespace

void cublas_product(const wb::GemmShape& shape,
                    const float* A,
                    const float* B,
                    float beta,
                    float* C,
                    cudaStream_t stream) {
    product(shape, A, B, beta, C, CUDA_R_32F, CUDA_R_32F, stream);
}

void cublas_product(const wb::GemmShape& shape,
                    const __nv_bfloat16* A,
                    const __nv_bfloat16* B,
                    __nv_bfloat16* C,
                    cudaStream_t stream) {
    product(shape, A, B, 0.0f, C, CUDA_R_16BF, CUDA_R_16BF, stream);
}

void cublas_product(const wb::GemmShape& shape,
                    const __nv_bfloat16* A,
                    const __nv_bfloat16* B,
                    float* C,
                    cudaStream_t stream) {
    product(shape, A, B, 0.0f, C, CUDA_R_16BF, CUDA_R_32F, stream);
}

#else

void cublas_product(
    const wb::GemmShape&, const float*, const float*, float, float*, cudaStream_t) {
    check_cublas_kinds("cublas_product", kAllProducts);
}

void cublas_product(const wb::GemmShape&,
                    const __nv_bfloat16*,
                    const __nv_bfloat16*,
                    __nv_bfloat16*,
                    cudaStream_t) {
    check_cublas_kinds("cublas_product", kAllProducts);
}

void cublas_product(const wb::GemmShape&,
                    const __nv_bfloat16*,
                    const __nv_bfloat16*,
                    float*,
                    cudaStream_t) {
    check_cublas_kinds("cublas_product", kAllProducts);
}

#endif
