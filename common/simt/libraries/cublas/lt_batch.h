#pragma once
// A call of cublasLtMatmul: what its parts share.

#include "lt_objects.h"
#include "mixed_product.h"

namespace simt::cublas {

/// Marks our one algorithm, so that one that nobody filled is recognised.
constexpr uint64_t kLtAlgorithm = 0x73696d7420677420;

/// A batch of products with all that it needs; copied into the stream.
struct LtBatch {
    LtProduct product;
    LtLayout a, b, c, d;
    const void *A, *B, *C;
    void* D;

    int m() const { return static_cast<int>(d.rows); }
    int n() const { return static_cast<int>(d.cols); }
    int k() const {
        return static_cast<int>(product.trans_a == CUBLAS_OP_N ? a.cols : a.rows);
    }
};

inline cudaDataType type_of(const LtLayout& layout) {
    return static_cast<cudaDataType>(layout.type);
}

// Parts of an epilogue that have no name of their own.
constexpr uint32_t kEpilogueDrelu = 8, kEpilogueBgrad = 16, kEpilogueAux = 128;

inline bool has(const LtProduct& product, uint32_t epilogue) {
    return (product.epilogue & epilogue) == epilogue;
}
/// Sums of A's rows or B's columns.
inline bool sums_operand(const LtProduct& product) {
    return product.epilogue == CUBLASLT_EPILOGUE_BGRADA ||
           product.epilogue == CUBLASLT_EPILOGUE_BGRADB;
}
inline bool uses_bias(const LtProduct& product) {
    return has(product, CUBLASLT_EPILOGUE_BIAS) || has(product, kEpilogueBgrad) ||
           sums_operand(product);
}

inline bool uses_aux(const LtProduct& product) {
    return has(product, kEpilogueAux);
}
/// Is aux a matrix of bits, one for each element of D: those that RELU let pass?
inline bool has_bit_mask(const LtProduct& product) {
    return uses_aux(product) &&
           (has(product, CUBLASLT_EPILOGUE_RELU) || has(product, kEpilogueDrelu));
}

inline Arithmetic arithmetic_in(const LtProduct& product) {
    return arithmetic_of(static_cast<cublasComputeType_t>(product.compute_type));
}

/// Everything but pointers to matrices: types, shapes, epilogue. Says why it refuses.
cublasStatus_t check_shapes(const LtBatch& x);

}  // namespace simt::cublas
