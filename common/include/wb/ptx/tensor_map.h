/// wb/ptx/tensor_map.h: what the TMA unit knows of a tensor: how the host asks the
/// driver for it. What kernels do with it: tma.h.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "wb/arguments.h"
#include "wb/check.h"
#include "wb/errors.h"
#include "wb/ptx/hopper.h"
#include "wb/ptx/tile_layout.h"
#if !defined(SIMT_CPU)
#include <cuda.h>
#endif

namespace wb::ptx {

/// 128 bytes that the host makes and a kernel takes as a `const __grid_constant__`
/// parameter.
#if defined(WB_HOPPER_SIM)
using TensorMap = simt::ptx::TensorMap;
#elif !defined(SIMT_CPU)
using TensorMap = CUtensorMap;
#else
struct alignas(64) TensorMap {
    uint64_t opaque[16];
};
#endif

/// A tensor of four dimensions and the box that one copy moves.
struct TensorBox {
    const void* base;    ///< element [0, 0, 0, 0], a multiple of 16
    int element_bytes;   ///< 2 for half and bfloat16, 1 for FP8
    int64_t sizes[4];    ///< elements a dimension, the contiguous one first; >= 1
    int64_t strides[3];  ///< bytes between neighbours in dimensions 1 to 3;
                         ///< multiples of 16, below 2^40
    int box[4];          ///< elements of the box a dimension, 1 to 256; the first
                         ///< one 128 / element_bytes
    int l2_bytes = 256;  ///< that a miss brings to L2 at a time: 64, 128 or 256. Rows
                         ///< that begin anywhere are faster with 128
};

/// The map of a tensor.
///
/// Throws wb::InvalidArgument with the name of the tensor where the hardware's rules
/// (tma.h) are broken, and wb::CudaError where the driver knows no tensor maps.
inline TensorMap make_tensor_map(const char* name, const TensorBox& tensor);

namespace detail {

/// Refuses what cuTensorMapEncodeTiled would answer with "invalid value", with names.
inline void check_tensor_box(const char* name, const TensorBox& tensor) {
    const Arguments arguments("make_tensor_map");
    const auto require =
        [&](bool condition, const char* what, int64_t value, const char* requirement) {
            arguments.require(
                condition, (std::string(name) + what).c_str(), value, requirement);
        };
    const auto address = reinterpret_cast<uintptr_t>(tensor.base);
    require(address % 16 == 0,
            ": address % 16",
            address % 16,
            "must be 0 for the TMA unit");
    require(tensor.element_bytes == 1 || tensor.element_bytes == 2,
            ": bytes of an element",
            tensor.element_bytes,
            "must be 1 or 2");
    require(tensor.box[0] * tensor.element_bytes == kSwizzleBytes,
            ": bytes of a row of the box",
            tensor.box[0] * tensor.element_bytes,
            "must be 128, the width of the swizzle");
    for (int i = 0; i < 4; ++i) {
        require(tensor.sizes[i] >= 1 && tensor.sizes[i] <= int64_t{1} << 32,
                ": elements of a dimension",
                tensor.sizes[i],
                "must be 1 to 2^32");
        require(tensor.box[i] >= 1 && tensor.box[i] <= 256,
                ": elements of the box",
                tensor.box[i],
                "must be 1 to 256");
    }
    for (const int64_t stride : tensor.strides) {
        require(stride >= 0 && stride % 16 == 0 && stride < int64_t{1} << 40,
                ": bytes of a stride",
                stride,
                "must be a multiple of 16 below 2^40 for the TMA unit");
    }
}

}  // namespace detail

#if defined(WB_HOPPER_SIM)
inline TensorMap make_tensor_map(const char* name, const TensorBox& tensor) {
    detail::check_tensor_box(name, tensor);
    return simt::ptx::make_tensor_map(
        tensor.base, tensor.element_bytes, tensor.sizes, tensor.strides, tensor.box);
}
#elif defined(SIMT_CPU)
inline TensorMap make_tensor_map(const char* name, const TensorBox& tensor) {
    detail::check_tensor_box(name, tensor);
    return {};
}
#else
namespace detail {
using EncodeTiled = CUresult (*)(CUtensorMap*,
                                 CUtensorMapDataType,
                                 cuuint32_t,
                                 void*,
                                 const cuuint64_t*,
                                 const cuuint64_t*,
                                 const cuuint32_t*,
                                 const cuuint32_t*,
                                 CUtensorMapInterleave,
                                 CUtensorMapSwizzle,
                                 CUtensorMapL2promotion,
                                 CUtensorMapFloatOOBfill);

/// The driver's function, without linking against the driver, so that the program still
/// starts where there is none.
inline EncodeTiled encode_tiled() {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    CUDA_CHECK(cudaGetDriverEntryPointByVersion(
        "cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &result));
#else
    CUDA_CHECK(cudaGetDriverEntryPoint(
        "cuTensorMapEncodeTiled", &function, cudaEnableDefault, &result));
#endif
    if (result != cudaDriverEntryPointSuccess || function == nullptr) {
        throw CudaError(cudaErrorSymbolNotFound,
                        "make_tensor_map: the driver has no cuTensorMapEncodeTiled; it "
                        "must be of CUDA 12.0 or later");
    }
    return reinterpret_cast<EncodeTiled>(function);
}
}  // namespace detail

inline TensorMap make_tensor_map(const char* name, const TensorBox& tensor) {
    detail::check_tensor_box(name, tensor);
    static const detail::EncodeTiled encode = detail::encode_tiled();
    // The driver's function needs a context, which a new host thread has not got before
    // the runtime gives it the device's.
    int device = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaSetDevice(device));
    cuuint64_t sizes[4], strides[3];
    cuuint32_t box[4];
    for (int i = 0; i < 4; ++i) {
        sizes[i] = static_cast<cuuint64_t>(tensor.sizes[i]);
        box[i] = static_cast<cuuint32_t>(tensor.box[i]);
    }
    for (int i = 0; i < 3; ++i)
        strides[i] = static_cast<cuuint64_t>(tensor.strides[i]);
    const cuuint32_t element_strides[4] = {1, 1, 1, 1};
    TensorMap map;
    // The type matters only to fills and reductions; zeros are zeros in all of them.
    const CUresult status =
        encode(&map,
               tensor.element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                         : CU_TENSOR_MAP_DATA_TYPE_UINT8,
               4,
               const_cast<void*>(tensor.base),
               sizes,
               strides,
               box,
               element_strides,
               CU_TENSOR_MAP_INTERLEAVE_NONE,
               CU_TENSOR_MAP_SWIZZLE_128B,
               tensor.l2_bytes == 256   ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
               : tensor.l2_bytes == 128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B
                                        : CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status != CUDA_SUCCESS) {
        throw CudaError(
            cudaErrorInvalidValue,
            std::string("make_tensor_map: cuTensorMapEncodeTiled refuses ") + name +
                " with CUresult " + std::to_string(status));
    }
    return map;
}
#endif

}  // namespace wb::ptx
