// cuBLASLt's product of FP8 matrices, as a peer.
#pragma once

#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <wb/bench/array.h>
#include <wb/check_cublas.h>
#include <wb/gemm.h>

#include <cstdint>

/// C = A B with one scale for each of A and B, by the algorithm that cuBLASLt's
/// heuristic puts first.
class CublasLtFp8 {
 public:
    /// @param s      transposes B, as FP8 needs it
    /// @param scale  on the device, of A and of B
    /// @param fast   sums stay in the tensor cores' accumulators for all of K, as ours
    ///               do; else cuBLASLt adds them up in floats now and then
    CublasLtFp8(const wb::GemmShape& s, const float* scale, bool fast) {
        CUBLAS_CHECK(cublasLtCreate(&handle_));
        CUBLAS_CHECK(
            cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F));
        const cublasOperation_t transpose = CUBLAS_OP_T;
        const int8_t fast_accumulation = fast ? 1 : 0;
        set(CUBLASLT_MATMUL_DESC_TRANSA, transpose);
        set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, fast_accumulation);
        set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale);
        set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scale);
        // It counts columns first: to it, our C is C^T = B^T A^T.
        const auto size = [](int64_t n) { return static_cast<uint64_t>(n); };
        CUBLAS_CHECK(cublasLtMatrixLayoutCreate(
            &b_, CUDA_R_8F_E4M3, size(s.K), size(s.N), s.ldb));
        CUBLAS_CHECK(cublasLtMatrixLayoutCreate(
            &a_, CUDA_R_8F_E4M3, size(s.K), size(s.M), s.lda));
        CUBLAS_CHECK(
            cublasLtMatrixLayoutCreate(&c_, CUDA_R_16BF, size(s.N), size(s.M), s.ldc));
        cublasLtMatmulPreference_t preference = nullptr;
        CUBLAS_CHECK(cublasLtMatmulPreferenceCreate(&preference));
        const size_t most = workspace_.bytes();
        CUBLAS_CHECK(cublasLtMatmulPreferenceSetAttribute(
            preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most));
        int found = 0;
        const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
            handle_, operation_, b_, a_, c_, c_, preference, 1, &algorithm_, &found);
        is_there_ = status == CUBLAS_STATUS_SUCCESS && found == 1;
        CUBLAS_CHECK(cublasLtMatmulPreferenceDestroy(preference));
    }
    ~CublasLtFp8() {
        (void)cublasLtMatrixLayoutDestroy(a_);
        (void)cublasLtMatrixLayoutDestroy(b_);
        (void)cublasLtMatrixLayoutDestroy(c_);
        (void)cublasLtMatmulDescDestroy(operation_);
        (void)cublasLtDestroy(handle_);
    }
    CublasLtFp8(const CublasLtFp8&) = delete;
    CublasLtFp8& operator=(const CublasLtFp8&) = delete;

    /// Whether the library has an algorithm for these sizes.
    bool is_there() const { return is_there_; }

    void multiply(const __nv_fp8_e4m3* a,
                  const __nv_fp8_e4m3* b,
                  __nv_bfloat16* c,
                  cudaStream_t stream) const {
        const float one = 1.0f;
        const float zero = 0.0f;
        CUBLAS_CHECK(cublasLtMatmul(handle_,
                                    operation_,
                                    &one,
                                    b,
                                    b_,
                                    a,
                                    a_,
                                    &zero,
                                    c,
                                    c_,
                                    c,
                                    c_,
                                    &algorithm_.algo,
                                    workspace_.data(),
                                    algorithm_.workspaceSize,
                                    stream));
    }

 private:
    template <class T>
    void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
        CUBLAS_CHECK(cublasLtMatmulDescSetAttribute(
            operation_, attribute, &value, sizeof value));
    }

    wb::bench::Array<unsigned char> workspace_{int64_t{64} << 20};
    cublasLtHandle_t handle_ = nullptr;
    cublasLtMatmulDesc_t operation_ = nullptr;
    cublasLtMatrixLayout_t a_ = nullptr;
    cublasLtMatrixLayout_t b_ = nullptr;
    cublasLtMatrixLayout_t c_ = nullptr;
    cublasLtMatmulHeuristicResult_t algorithm_ = {};
    bool is_there_ = false;
};
