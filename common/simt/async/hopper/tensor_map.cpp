// cuTensorMapEncodeTiled: the driver's rules, each with the name of what breaks it.

#include "tensor_map.h"

#include <cstdio>
#include <cstdlib>

#include "api/call.h"
#include "simt/error.h"
#include "simt/hopper/tma.h"

namespace simt::detail {
namespace {

constexpr int kInvalidValue = 1;
constexpr int kNotSupported = 801;

int refuse(const char* what, unsigned long long value, const char* rule) {
    hint("cuTensorMapEncodeTiled refuses %s %llu: %s", what, value, rule);
    return kInvalidValue;
}

int element_bytes(CUtensorMapDataType type) {
    switch (type) {
        case CU_TENSOR_MAP_DATA_TYPE_UINT8:
            return 1;
        case CU_TENSOR_MAP_DATA_TYPE_UINT16:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
        case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
            return 2;
        case CU_TENSOR_MAP_DATA_TYPE_UINT64:
        case CU_TENSOR_MAP_DATA_TYPE_INT64:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
            return 8;
        case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B:
        case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B:
        case CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B:
            return 0;
        default:
            return 4;
    }
}

/// Bytes of a swizzle's rows, or -1.
int swizzle_bytes(CUtensorMapSwizzle swizzle) {
    switch (swizzle) {
        case CU_TENSOR_MAP_SWIZZLE_NONE:
            return 0;
        case CU_TENSOR_MAP_SWIZZLE_32B:
            return 32;
        case CU_TENSOR_MAP_SWIZZLE_64B:
            return 64;
        case CU_TENSOR_MAP_SWIZZLE_128B:
            return 128;
        default:
            return -1;
    }
}

int check_box(const TensorMapContents& map,
              const cuuint64_t* sizes,
              const cuuint64_t* strides,
              const cuuint32_t* box,
              const cuuint32_t* element_strides) {
    for (unsigned i = 0; i < map.rank; ++i) {
        if (sizes[i] < 1 || sizes[i] > uint64_t{1} << 32)
            return refuse("globalDim", sizes[i], "1 to 2^32");
        if (box[i] < 1 || box[i] > 256) return refuse("boxDim", box[i], "1 to 256");
        if (element_strides[i] < 1 || element_strides[i] > 8)
            return refuse("elementStrides", element_strides[i], "1 to 8");
        if (i + 1 == map.rank) continue;
        if (strides[i] % 16 != 0 || strides[i] >= uint64_t{1} << 40)
            return refuse(
                "globalStrides", strides[i], "a multiple of 16 bytes below 2^40");
    }
    const unsigned row = box[0] * map.element_bytes;
    if (row % 16 != 0)
        return refuse("boxDim[0] of bytes", row, "it must be a multiple of 16");
    if (map.swizzle_bytes != 0 && row > map.swizzle_bytes)
        return refuse("boxDim[0] of bytes", row, "no more than the swizzle's width");
    for (unsigned i = 1; i < map.rank; ++i) {
        if (element_strides[i] == 1) continue;
        hint("cuTensorMapEncodeTiled: the simulator supports no element strides");
        return kNotSupported;
    }
    if (map.swizzle_bytes != 0 && row < map.swizzle_bytes) {
        hint(
            "cuTensorMapEncodeTiled: the simulator supports no box whose rows (%u "
            "bytes) are narrower than the swizzle (%u)",
            row,
            map.swizzle_bytes);
        return kNotSupported;
    }
    return 0;
}

}  // namespace

int encode_tensor_map(CUtensorMap* map,
                      CUtensorMapDataType type,
                      cuuint32_t rank,
                      void* address,
                      const cuuint64_t* sizes,
                      const cuuint64_t* strides,
                      const cuuint32_t* box,
                      const cuuint32_t* element_strides,
                      CUtensorMapInterleave interleave,
                      CUtensorMapSwizzle swizzle,
                      CUtensorMapL2promotion promotion,
                      CUtensorMapFloatOOBfill fill) {
    (void)promotion;  // there are no caches
    const auto at = reinterpret_cast<uintptr_t>(address);
    if (!map || reinterpret_cast<uintptr_t>(map) % 64 != 0)
        return refuse("tensorMap at", reinterpret_cast<uintptr_t>(map), "% 64 != 0");
    if (!sizes || !box || !element_strides || (rank > 1 && !strides))
        return refuse("a null array; rank", rank, "");
    if (rank < 1 || rank > 5) return refuse("tensorRank", rank, "1 to 5");
    if (at == 0 || at % 16 != 0) return refuse("globalAddress", at, "a multiple of 16");
    const int bytes = element_bytes(type);
    const int width = swizzle_bytes(swizzle);
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || bytes == 0 || width < 0 ||
        fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) {
        hint(
            "cuTensorMapEncodeTiled: the simulator supports no interleaved layouts, "
            "packed types, swizzles of larger atoms and NaN fills");
        return kNotSupported;
    }
    TensorMapContents contents{};
    contents.magic = TensorMapContents::kMagic;
    contents.address = static_cast<char*>(address);
    contents.rank = static_cast<uint8_t>(rank);
    contents.element_bytes = static_cast<uint8_t>(bytes);
    contents.swizzle_bytes = static_cast<uint8_t>(width);
    if (const int error = check_box(contents, sizes, strides, box, element_strides))
        return error;
    for (unsigned i = 0; i < rank; ++i) {
        contents.last[i] = static_cast<uint32_t>(sizes[i] - 1);
        contents.box[i] = static_cast<uint16_t>(box[i]);
        if (i > 0) contents.strides[i - 1] = strides[i - 1];
    }
    std::memset(map, 0, sizeof *map);
    std::memcpy(map, &contents, sizeof contents);
    return 0;
}

}  // namespace simt::detail

namespace simt::ptx {

TensorMap make_tensor_map(const void* base,
                          int element_bytes,
                          const int64_t (&sizes)[4],
                          const int64_t (&strides)[3],
                          const int (&box)[4]) {
    cuuint64_t dims[4], steps[3];
    cuuint32_t boxes[4];
    const cuuint32_t ones[4] = {1, 1, 1, 1};
    for (int i = 0; i < 4; ++i) {
        dims[i] = static_cast<cuuint64_t>(sizes[i]);
        boxes[i] = static_cast<cuuint32_t>(box[i]);
        if (i < 3) steps[i] = static_cast<cuuint64_t>(strides[i]);
    }
    TensorMap map;
    const int error = simt::detail::encode_tensor_map(
        &map,
        element_bytes == 1 ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                           : CU_TENSOR_MAP_DATA_TYPE_UINT16,
        4,
        const_cast<void*>(base),
        dims,
        steps,
        boxes,
        ones,
        CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (error == 0) return map;
    std::fprintf(stderr, "==SIMT== make_tensor_map: refused with CUresult %d\n", error);
    std::exit(86);
}

}  // namespace simt::ptx
