/// wb/bench/cublas_lt.h: cuBLASLt as a peer: products in bf16 with what it can do to
/// their sums while they are in registers (its epilogues).
///
///     #if WB_HAVE_CUBLAS
///     wb::bench::LtProduct product({.rows = M, .columns = N, .depth = K, …});
///     problem.time("cublasLt BIAS", "library", [&](cudaStream_t stream) {
///         product.run(x, w, residual, y, stream);
///     });
///     #endif
#pragma once

#if WB_HAVE_CUBLAS

#include <cublasLt.h>
#include <cuda_bf16.h>
#include <wb/bench/array.h>
#include <wb/check_cublas.h>

#include <cstdint>

namespace wb::bench {

/// C = epilogue(A * op(B)), all row-major, without gaps, in bf16; sums in float.
struct LtOptions {
    int64_t rows;      ///< of C
    int64_t columns;   ///< of C
    int64_t depth;     ///< columns of A
    bool b_by_column;  ///< B is stored as [columns, depth]; else as [depth, columns]
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    const void* bias = nullptr;  ///< [columns] bf16, or where BGRAD puts its sums
    const void* aux = nullptr;   ///< [rows, columns] bf16, of D... and ..._AUX
    bool adds_c = false;         ///< C holds something that is added
};

/// A product with its descriptors, and the algorithm that the library's heuristic puts
/// first for it.
class LtProduct {
 public:
    explicit LtProduct(const LtOptions& o) : workspace_(kWorkspace) {
        beta_ = o.adds_c ? 1.0f : 0.0f;
        CUBLAS_CHECK(cublasLtCreate(&handle_));
        CUBLAS_CHECK(
            cublasLtMatmulDescCreate(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F));
        // The library counts columns first: to it, C is [columns, rows], the first
        // factor is B, and the second one is A.
        set(CUBLASLT_MATMUL_DESC_TRANSA, o.b_by_column ? CUBLAS_OP_T : CUBLAS_OP_N);
        set(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
        set(CUBLASLT_MATMUL_DESC_EPILOGUE, o.epilogue);
        if (o.bias != nullptr) {
            set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, o.bias);
            set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_16BF);
        }
        if (o.aux != nullptr) {
            set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, o.aux);
            set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, o.columns);
            set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, CUDA_R_16BF);
        }
        b_ = o.b_by_column ? layout(o.depth, o.columns) : layout(o.columns, o.depth);
        a_ = layout(o.depth, o.rows);
        c_ = layout(o.columns, o.rows);
        choose();
    }
    ~LtProduct() {
        (void)cublasLtMatrixLayoutDestroy(a_);
        (void)cublasLtMatrixLayoutDestroy(b_);
        (void)cublasLtMatrixLayoutDestroy(c_);
        (void)cublasLtMatmulDescDestroy(product_);
        (void)cublasLtDestroy(handle_);
    }
    LtProduct(const LtProduct&) = delete;
    LtProduct& operator=(const LtProduct&) = delete;

    /// Whether the library can do it on this GPU; else it must not be run.
    bool is_there() const { return is_there_; }

    /// @param added  with adds_c, what is added; else not looked at
    void run(const __nv_bfloat16* A,
             const __nv_bfloat16* B,
             const __nv_bfloat16* added,
             __nv_bfloat16* C,
             cudaStream_t stream) const {
        const float one = 1.0f;
        CUBLAS_CHECK(cublasLtMatmul(handle_,
                                    product_,
                                    &one,
                                    B,
                                    b_,
                                    A,
                                    a_,
                                    &beta_,
                                    added == nullptr ? C : added,
                                    c_,
                                    C,
                                    c_,
                                    &algorithm_,
                                    workspace_.data(),
                                    kWorkspace,
                                    stream));
    }

 private:
    static constexpr int64_t kWorkspace = int64_t{32} << 20;

    template <class Value>
    void set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
        CUBLAS_CHECK(
            cublasLtMatmulDescSetAttribute(product_, attribute, &value, sizeof(value)));
    }

    static cublasLtMatrixLayout_t layout(int64_t rows, int64_t columns) {
        cublasLtMatrixLayout_t made = nullptr;
        CUBLAS_CHECK(cublasLtMatrixLayoutCreate(&made,
                                                CUDA_R_16BF,
                                                static_cast<uint64_t>(rows),
                                                static_cast<uint64_t>(columns),
                                                rows));
        return made;
    }

    void choose() {
        cublasLtMatmulPreference_t preference = nullptr;
        CUBLAS_CHECK(cublasLtMatmulPreferenceCreate(&preference));
        const auto most = static_cast<size_t>(kWorkspace);
        CUBLAS_CHECK(cublasLtMatmulPreferenceSetAttribute(
            preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof(most)));
        cublasLtMatmulHeuristicResult_t first = {};
        int found = 0;
        const auto status = cublasLtMatmulAlgoGetHeuristic(
            handle_, product_, b_, a_, c_, c_, preference, 1, &first, &found);
        (void)cublasLtMatmulPreferenceDestroy(preference);
        is_there_ = status == CUBLAS_STATUS_SUCCESS && found > 0;
        algorithm_ = first.algo;
    }

    Array<unsigned char> workspace_;
    cublasLtHandle_t handle_ = nullptr;
    cublasLtMatmulDesc_t product_ = nullptr;
    cublasLtMatrixLayout_t a_ = nullptr;
    cublasLtMatrixLayout_t b_ = nullptr;
    cublasLtMatrixLayout_t c_ = nullptr;
    cublasLtMatmulAlgo_t algorithm_ = {};
    float beta_ = 0.0f;
    bool is_there_ = false;
};

}  // namespace wb::bench

#endif  // WB_HAVE_CUBLAS
