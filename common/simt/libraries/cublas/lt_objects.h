#pragma once
// What lies in the opaque descriptors of cuBLASLt.

#include "cublasLt.h"

namespace simt::cublas {

/// A matrix, or a strided batch of them.
struct LtLayout {
    uint64_t rows, cols;
    int64_t ld;
    int64_t batch_stride;
    int64_t plane_offset;
    int32_t type, order, batch_count, batch_mode;
};

/// A product: its types, transpositions and epilogue.
struct LtProduct {
    int32_t compute_type, scale_type, pointer_mode;
    int32_t trans_a, trans_b, trans_c, fill_mode;
    uint32_t epilogue;
    const void* bias;
    int64_t bias_batch_stride;
    void* aux;
    int64_t aux_ld, aux_batch_stride;
    int32_t bias_type, aux_type;
    int64_t alpha_batch_stride;
    int32_t sm_count_target;
    // What only products of 8-bit floats use: pointers and modes, all of them 0 here.
    const void* scale_pointers[8];
    int32_t scale_modes[6];
    int8_t fast_accumulation;
    void* emulation;
};

/// What a program asks of the choice of an algorithm; nothing of it matters here.
struct LtPreference {
    uint64_t workspace_bytes;
    uint64_t implementation_mask;
    uint32_t search_mode, reduction_mask;
    uint32_t alignment[4];
    float max_waves;
};

static_assert(sizeof(LtLayout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(LtProduct) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(LtPreference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));

inline LtLayout& in(cublasLtMatrixLayout_t layout) {
    return *reinterpret_cast<LtLayout*>(layout->data);
}
inline LtProduct& in(cublasLtMatmulDesc_t description) {
    return *reinterpret_cast<LtProduct*>(description->data);
}
inline LtPreference& in(cublasLtMatmulPreference_t preference) {
    return *reinterpret_cast<LtPreference*>(preference->data);
}

/// Was the handle made by cublasLtCreate, or by cublasCreate?
bool is_lt_handle(cublasLtHandle_t handle);

}  // namespace simt::cublas
