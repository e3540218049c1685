// Which products cublasLtMatmul takes, and the one algorithm that it has.

#include <algorithm>
#include <iterator>

#include "api/call.h"
#include "lt_batch.h"

using namespace simt::cublas;
using simt::detail::hint;

namespace {

cublasStatus_t refuse(const char* why) {
    hint("cublasLtMatmul: %s", why);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t invalid(const char* why) {
    hint("cublasLtMatmul: %s", why);
    return CUBLAS_STATUS_INVALID_VALUE;
}

bool known_epilogue(uint32_t epilogue) {
    constexpr uint32_t kKnown[] = {
        CUBLASLT_EPILOGUE_DEFAULT,  CUBLASLT_EPILOGUE_BIAS,
        CUBLASLT_EPILOGUE_RELU,     CUBLASLT_EPILOGUE_RELU_BIAS,
        CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
        CUBLASLT_EPILOGUE_DRELU,    CUBLASLT_EPILOGUE_DRELU_BGRAD,
        CUBLASLT_EPILOGUE_GELU,     CUBLASLT_EPILOGUE_GELU_BIAS,
        CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
        CUBLASLT_EPILOGUE_DGELU,    CUBLASLT_EPILOGUE_DGELU_BGRAD,
        CUBLASLT_EPILOGUE_BGRADA,   CUBLASLT_EPILOGUE_BGRADB,
    };
    return std::find(std::begin(kKnown), std::end(kKnown), epilogue) !=
           std::end(kKnown);
}

/// The type of alpha and beta that goes with a compute type.
cudaDataType scale_type_of(Arithmetic arithmetic) {
    switch (arithmetic) {
        case Arithmetic::f64:
            return CUDA_R_64F;
        case Arithmetic::f16:
            return CUDA_R_16F;
        case Arithmetic::i32:
            return CUDA_R_32I;
        default:
            return CUDA_R_32F;
    }
}

cublasStatus_t check_layout(const LtLayout& layout) {
    if (layout.order != CUBLASLT_ORDER_COL && layout.order != CUBLASLT_ORDER_ROW)
        return refuse("only the orders COL and ROW are simulated");
    if (layout.batch_mode != 0 || layout.plane_offset != 0)
        return refuse("arrays of pointers and planar layouts are not simulated");
    const uint64_t length =
        layout.order == CUBLASLT_ORDER_COL ? layout.rows : layout.cols;
    if (layout.rows == 0 || layout.cols == 0 || layout.batch_count < 1)
        return invalid("a layout has no elements");
    if (layout.rows > 0x7fffffff || layout.cols > 0x7fffffff ||
        layout.ld > 0x7fffffff || layout.ld < 0)
        return refuse("a size above 2^31 is not simulated");
    if (static_cast<uint64_t>(layout.ld) < length)
        return invalid(
            "a leading dimension is less than the columns' (with ORDER_ROW the "
            "rows') length");
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t check_epilogue(const LtBatch& x) {
    const LtProduct& p = x.product;
    if (!known_epilogue(p.epilogue)) return invalid("the epilogue is no enumerator");
    if (p.epilogue == CUBLASLT_EPILOGUE_DEFAULT) return CUBLAS_STATUS_SUCCESS;
    if (arithmetic_in(p) != Arithmetic::f32)
        return refuse("epilogues need a compute type of the family 32F");
    const bool plain =
        p.epilogue == CUBLASLT_EPILOGUE_RELU || p.epilogue == CUBLASLT_EPILOGUE_GELU;
    if (x.d.order != CUBLASLT_ORDER_COL && !plain)
        return refuse("with ORDER_ROW only the epilogues RELU and GELU are simulated");
    const bool own_types = (p.bias_type != -1 && p.bias_type != x.d.type) ||
                           (p.aux_type != -1 && p.aux_type != x.d.type);
    if (own_types) return refuse("bias and aux must have the type of D");
    if (uses_bias(p) && !p.bias)
        return invalid("the epilogue needs CUBLASLT_MATMUL_DESC_BIAS_POINTER");
    if (!uses_bias(p) && p.bias)  // cuBLAS on an H100 refuses it, too
        return invalid(
            "CUBLASLT_MATMUL_DESC_BIAS_POINTER is set, but the epilogue takes no bias");
    if (!uses_aux(p)) return CUBLAS_STATUS_SUCCESS;
    if (!p.aux) return invalid("the epilogue needs a pointer to its aux matrix");
    const int unit = has_bit_mask(p) ? 128 : 8;
    if (p.aux_ld < x.m() || p.aux_ld % unit != 0)
        return invalid(
            has_bit_mask(p)
                ? "the leading dimension of aux must be a multiple of 128, >= rows"
                : "the leading dimension of aux must be a multiple of 8, >= rows");
    return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

namespace simt::cublas {

cublasStatus_t check_shapes(const LtBatch& x) {
    const LtProduct& p = x.product;
    for (const LtLayout* layout : {&x.a, &x.b, &x.c, &x.d})
        if (const cublasStatus_t status = check_layout(*layout)) return status;
    if (p.trans_a > CUBLAS_OP_C || p.trans_b > CUBLAS_OP_C || p.trans_a < 0 ||
        p.trans_b < 0)
        return invalid("a transposition is not an enumerator");
    if (p.trans_c != CUBLAS_OP_N || p.fill_mode != CUBLAS_FILL_MODE_FULL)
        return refuse("C cannot be transposed or triangular");
    const Arithmetic arithmetic = arithmetic_in(p);
    if (p.scale_type != scale_type_of(arithmetic) || x.a.type != x.b.type ||
        x.c.type != x.d.type || !is_supported(arithmetic, type_of(x.a), type_of(x.c)))
        return refuse("this combination of types is not simulated");
    for (const void* pointer : p.scale_pointers)
        if (pointer) return refuse("scales of 8-bit floats are not simulated");
    if (p.emulation) return refuse("emulated precision is not simulated");
    if (p.pointer_mode != CUBLASLT_POINTER_MODE_HOST &&
        p.pointer_mode != CUBLASLT_POINTER_MODE_DEVICE)
        return refuse("vectors of alpha are not simulated");
    const bool ta = p.trans_a != CUBLAS_OP_N, tb = p.trans_b != CUBLAS_OP_N;
    const bool fit = (ta ? x.a.cols : x.a.rows) == x.d.rows &&
                     (tb ? x.b.rows : x.b.cols) == x.d.cols &&
                     (ta ? x.a.rows : x.a.cols) == (tb ? x.b.cols : x.b.rows) &&
                     x.c.rows == x.d.rows && x.c.cols == x.d.cols;
    if (!fit) return invalid("the shapes of A, B, C and D do not fit together");
    for (const LtLayout* layout : {&x.a, &x.b, &x.c})
        if (layout->batch_count != x.d.batch_count)
            return invalid("the batch counts of A, B, C and D differ");
    return check_epilogue(x);
}

}  // namespace simt::cublas

// ---- The one algorithm --------------------------------------------------------------

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
    cublasLtMatrixLayout_t a_layout, cublasLtMatrixLayout_t b_layout,
    cublasLtMatrixLayout_t c_layout, cublasLtMatrixLayout_t d_layout,
    cublasLtMatmulPreference_t preference, int requested,
    cublasLtMatmulHeuristicResult_t results[], int* returned) {
    if (!is_lt_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!preference || requested < 1 || !results || !returned)
        return CUBLAS_STATUS_INVALID_VALUE;
    *returned = 0;
    cublasLtMatmulAlgo_t algorithm = {{kLtAlgorithm}};
    const cublasStatus_t status =
        cublasLtMatmulAlgoCheck(handle, description, a_layout, b_layout, c_layout,
                                d_layout, &algorithm, results);
    if (status == CUBLAS_STATUS_SUCCESS) *returned = 1;
    return status;
}

cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle, cublasComputeType_t,
                                        cudaDataType_t, cudaDataType_t, cudaDataType_t,
                                        cudaDataType_t, cudaDataType_t, int requested,
                                        int ids[], int* returned) {
    if (!is_lt_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (requested < 1 || !ids || !returned) return CUBLAS_STATUS_INVALID_VALUE;
    ids[0] = 0;
    *returned = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t,
                                      cudaDataType_t, cudaDataType_t, cudaDataType_t,
                                      cudaDataType_t, cudaDataType_t, int id,
                                      cublasLtMatmulAlgo_t* algorithm) {
    if (!is_lt_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (id != 0 || !algorithm) return CUBLAS_STATUS_INVALID_VALUE;
    *algorithm = {{kLtAlgorithm}};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
    cublasLtMatrixLayout_t a_layout, cublasLtMatrixLayout_t b_layout,
    cublasLtMatrixLayout_t c_layout, cublasLtMatrixLayout_t d_layout,
    const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulHeuristicResult_t* result) {
    if (!is_lt_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!description || !a_layout || !b_layout || !c_layout || !d_layout ||
        !algorithm || !result || algorithm->data[0] != kLtAlgorithm)
        return CUBLAS_STATUS_INVALID_VALUE;
    LtBatch x = {in(description), in(a_layout), in(b_layout),
                 in(c_layout),    in(d_layout), nullptr,
                 nullptr,         nullptr,      nullptr};
    // Pointers of the epilogue may still be missing.
    x.product.bias = uses_bias(x.product) ? description : nullptr;
    if (uses_aux(x.product) && !x.product.aux) x.product.aux = description;
    const cublasStatus_t status = check_shapes(x);
    *result = {*algorithm, 0, status, 1.0f, {}};
    return status;
}
