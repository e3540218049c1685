// Handles and descriptors of cuBLASLt: made, changed and read.

#include "lt_objects.h"

#include <cstring>

#include "api/handles.h"
#include "call.h"

struct cublasLtContext {};

namespace simt::cublas {
namespace {

detail::HandleTable<cublasLtContext>& lt_handles() {
    static auto* const table = new detail::HandleTable<cublasLtContext>;
    return *table;
}

/// Where an attribute lies in its descriptor.
struct Field {
    int attribute;
    size_t offset, bytes;
};

#define FIELD(attribute, structure, member) \
    { attribute, offsetof(structure, member), sizeof(structure::member) }

constexpr Field kLayout[] = {
    FIELD(CUBLASLT_MATRIX_LAYOUT_TYPE, LtLayout, type),
    FIELD(CUBLASLT_MATRIX_LAYOUT_ORDER, LtLayout, order),
    FIELD(CUBLASLT_MATRIX_LAYOUT_ROWS, LtLayout, rows),
    FIELD(CUBLASLT_MATRIX_LAYOUT_COLS, LtLayout, cols),
    FIELD(CUBLASLT_MATRIX_LAYOUT_LD, LtLayout, ld),
    FIELD(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, LtLayout, batch_count),
    FIELD(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, LtLayout, batch_stride),
    FIELD(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, LtLayout, plane_offset),
    FIELD(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, LtLayout, batch_mode),
};

constexpr Field kProduct[] = {
    FIELD(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, LtProduct, compute_type),
    FIELD(CUBLASLT_MATMUL_DESC_SCALE_TYPE, LtProduct, scale_type),
    FIELD(CUBLASLT_MATMUL_DESC_POINTER_MODE, LtProduct, pointer_mode),
    FIELD(CUBLASLT_MATMUL_DESC_TRANSA, LtProduct, trans_a),
    FIELD(CUBLASLT_MATMUL_DESC_TRANSB, LtProduct, trans_b),
    FIELD(CUBLASLT_MATMUL_DESC_TRANSC, LtProduct, trans_c),
    FIELD(CUBLASLT_MATMUL_DESC_FILL_MODE, LtProduct, fill_mode),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE, LtProduct, epilogue),
    FIELD(CUBLASLT_MATMUL_DESC_BIAS_POINTER, LtProduct, bias),
    FIELD(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, LtProduct, bias_batch_stride),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, LtProduct, aux),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, LtProduct, aux_ld),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, LtProduct, aux_batch_stride),
    FIELD(CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, LtProduct,
          alpha_batch_stride),
    FIELD(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, LtProduct, sm_count_target),
    FIELD(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, LtProduct, scale_pointers[0]),
    FIELD(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, LtProduct, scale_pointers[1]),
    FIELD(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, LtProduct, scale_pointers[2]),
    FIELD(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, LtProduct, scale_pointers[3]),
    FIELD(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, LtProduct, scale_pointers[4]),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, LtProduct, aux_type),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, LtProduct,
          scale_pointers[5]),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, LtProduct, scale_pointers[6]),
    FIELD(CUBLASLT_MATMUL_DESC_FAST_ACCUM, LtProduct, fast_accumulation),
    FIELD(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, LtProduct, bias_type),
    FIELD(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, LtProduct, scale_modes[0]),
    FIELD(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, LtProduct, scale_modes[1]),
    FIELD(CUBLASLT_MATMUL_DESC_C_SCALE_MODE, LtProduct, scale_modes[2]),
    FIELD(CUBLASLT_MATMUL_DESC_D_SCALE_MODE, LtProduct, scale_modes[3]),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, LtProduct, scale_modes[4]),
    FIELD(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, LtProduct, scale_pointers[7]),
    FIELD(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, LtProduct, scale_modes[5]),
    FIELD(CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, LtProduct, emulation),
};

constexpr Field kPreference[] = {
    FIELD(CUBLASLT_MATMUL_PREF_SEARCH_MODE, LtPreference, search_mode),
    FIELD(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, LtPreference, workspace_bytes),
    FIELD(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, LtPreference, reduction_mask),
    FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, LtPreference, alignment[0]),
    FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, LtPreference, alignment[1]),
    FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, LtPreference, alignment[2]),
    FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, LtPreference, alignment[3]),
    FIELD(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, LtPreference, max_waves),
    FIELD(CUBLASLT_MATMUL_PREF_IMPL_MASK, LtPreference, implementation_mask),
};
#undef FIELD

template <size_t N>
const Field* find(const Field (&fields)[N], int attribute) {
    for (const Field& field : fields)
        if (field.attribute == attribute) return &field;
    return nullptr;
}

/// Sizes must be exact; values are looked at when they are used, as in cuBLASLt.
template <size_t N, class Opaque>
cublasStatus_t set(const Field (&fields)[N], Opaque* object, int attribute,
                   const void* value, size_t bytes) {
    const Field* field = find(fields, attribute);
    if (!object || !field || !value || bytes != field->bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(reinterpret_cast<char*>(object->data) + field->offset, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

/// With 0 bytes, only tells the size.
template <size_t N, class Opaque>
cublasStatus_t get(const Field (&fields)[N], Opaque* object, int attribute, void* value,
                   size_t bytes, size_t* written) {
    const Field* field = find(fields, attribute);
    if (!object || !field || (bytes == 0 && !written))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (bytes != 0) {
        if (!value || bytes != field->bytes) return CUBLAS_STATUS_INVALID_VALUE;
        const char* data = reinterpret_cast<const char*>(object->data);
        std::memcpy(value, data + field->offset, bytes);
    }
    if (written) *written = field->bytes;
    return CUBLAS_STATUS_SUCCESS;
}

/// A new object that `init` fills.
template <class Opaque, class Init>
cublasStatus_t create(Opaque** object, Init init) {
    if (!object) return CUBLAS_STATUS_INVALID_VALUE;
    *object = new Opaque{};
    return init(*object);
}

template <class Opaque>
cublasStatus_t destroy(Opaque* object) {
    delete object;
    return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

bool is_lt_handle(cublasLtHandle_t handle) {
    return handle && (lt_handles().contains(handle) ||
                      is_handle(reinterpret_cast<cublasHandle_t>(handle)));
}

}  // namespace simt::cublas

using namespace simt::cublas;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = lt_handles().insert(std::make_unique<cublasLtContext>());
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    return lt_handles().remove(handle) ? CUBLAS_STATUS_SUCCESS
                                       : CUBLAS_STATUS_NOT_INITIALIZED;
}
const char* cublasLtGetStatusName(cublasStatus_t status) {
    return cublasGetStatusName(status);
}
const char* cublasLtGetStatusString(cublasStatus_t status) {
    return cublasGetStatusString(status);
}
size_t cublasLtGetVersion() {
    return CUBLAS_VERSION;
}
size_t cublasLtGetCudartVersion() {
    return CUDART_VERSION;
}
cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
    return cublasGetProperty(type, value);
}
cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t* capacity) {
    if (!capacity) return CUBLAS_STATUS_INVALID_VALUE;
    *capacity = 0;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerSetCallback(cublasLtLoggerCallback_t) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerSetFile(FILE*) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerOpenFile(const char*) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerSetLevel(int) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerSetMask(int) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerForceDisable() {
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout,
                                        cudaDataType type, uint64_t rows, uint64_t cols,
                                        int64_t ld) {
    if (!layout) return CUBLAS_STATUS_INVALID_VALUE;
    *layout = {};
    in(layout) = {rows, cols, ld, 0, 0, type, CUBLASLT_ORDER_COL, 1, 0};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout,
                                          cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t ld) {
    return create(layout, [=](cublasLtMatrixLayout_t made) {
        return cublasLtMatrixLayoutInit(made, type, rows, cols, ld);
    });
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    return destroy(layout);
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,
    const void* value, size_t bytes) {
    return set(kLayout, layout, attribute, value, bytes);
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,
    void* value, size_t bytes, size_t* written) {
    return get(kLayout, layout, attribute, value, bytes, written);
}

cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t description,
                                      cublasComputeType_t compute_type,
                                      cudaDataType_t scale_type) {
    if (!description) return CUBLAS_STATUS_INVALID_VALUE;
    *description = {};
    LtProduct& product = in(description);
    product.compute_type = compute_type;
    product.scale_type = scale_type;
    product.fill_mode = CUBLAS_FILL_MODE_FULL;
    product.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    product.bias_type = -1;
    product.aux_type = -1;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description,
                                        cublasComputeType_t compute_type,
                                        cudaDataType_t scale_type) {
    return create(description, [=](cublasLtMatmulDesc_t made) {
        return cublasLtMatmulDescInit(made, compute_type, scale_type);
    });
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
    return destroy(description);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
    return set(kProduct, description, attribute, value, bytes);
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              void* value, size_t bytes,
                                              size_t* written) {
    return get(kProduct, description, attribute, value, bytes, written);
}

cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference) {
    if (!preference) return CUBLAS_STATUS_INVALID_VALUE;
    *preference = {};
    LtPreference& wishes = in(preference);
    wishes.reduction_mask = CUBLASLT_REDUCTION_SCHEME_MASK;
    wishes.implementation_mask = ~uint64_t(0);
    for (uint32_t& alignment : wishes.alignment)
        alignment = 256;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
    return create(preference, cublasLtMatmulPreferenceInit);
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    return destroy(preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute, const void* value, size_t bytes) {
    return set(kPreference, preference, attribute, value, bytes);
}
cublasStatus_t cublasLtMatmulPreferenceGetAttribute(
    cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute, void* value, size_t bytes,
    size_t* written) {
    return get(kPreference, preference, attribute, value, bytes, written);
}
