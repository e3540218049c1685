// CUDA arrays: allocation and copies.

#include "array.h"

#include "call.h"
#include "copy.h"
#include "core/memory.h"
#include "handles.h"
#include "simt/api/texture.h"
#include "stream.h"

namespace simt::detail {
namespace {

HandleTable<cudaArray>& arrays() {
    static auto* const table = new HandleTable<cudaArray>;
    return *table;
}

bool is_format(const cudaChannelFormatDesc& format) {
    const int bits = format.x;
    const bool whole = bits == 8 || bits == 16 || bits == 32;
    const auto fits = [&](int other) { return other == bits || other == 0; };
    const bool three = format.z != 0 && format.w == 0;  // CUDA has no three channels
    return whole && fits(format.y) && fits(format.z) && fits(format.w) && !three;
}

/// Layers lie one after the other, and so do the six faces of a cube.
bool has_layers(cudaExtent extent, unsigned int flags) {
    const bool cube = flags & cudaArrayCubemap;
    if (cube && (extent.width != extent.height || extent.depth % 6 != 0)) return false;
    if (cube && !(flags & cudaArrayLayered)) return extent.depth == 6;
    return extent.depth > 0;
}

cudaError_t create(cudaArray_t* array, const cudaChannelFormatDesc* format,
                   cudaExtent extent, unsigned int flags) {
    if (!array || !format || extent.width == 0) return cudaErrorInvalidValue;
    if (flags & ~(cudaArraySurfaceLoadStore | cudaArrayTextureGather |
                  cudaArrayLayered | cudaArrayCubemap)) {
        hint("sparse and deferred arrays are not simulated");
        return cudaErrorNotSupported;
    }
    if ((flags & (cudaArrayLayered | cudaArrayCubemap)) && !has_layers(extent, flags))
        return cudaErrorInvalidValue;
    if (!is_format(*format)) return cudaErrorInvalidChannelDescriptor;
    auto created = std::make_unique<cudaArray>();
    created->format = *format;
    created->extent = extent;
    created->flags = flags;
    size_t bytes = 0;
    if (__builtin_mul_overflow(created->pitch(), created->rows(), &bytes) ||
        __builtin_mul_overflow(bytes, created->slices(), &bytes))
        return cudaErrorMemoryAllocation;
    created->data = static_cast<char*>(allocate(bytes, MemoryKind::device));
    if (!created->data) return cudaErrorMemoryAllocation;
    *array = arrays().insert(std::move(created));
    return cudaSuccess;
}

/// A copy of rows between an array and plain memory; x in bytes.
CopyOperation copy_rows(const char* call, cudaPitchedPtr dst, cudaPos dst_pos,
                        cudaPitchedPtr src, cudaPos src_pos, size_t width,
                        size_t height, cudaMemcpyKind kind) {
    cudaMemcpy3DParms params = {};
    params.dstPtr = dst;
    params.dstPos = dst_pos;
    params.srcPtr = src;
    params.srcPos = src_pos;
    params.extent = {width, height, 1};
    params.kind = kind;
    return CopyOperation(call, params);
}

bool fits(cudaArray_const_t array, size_t x, size_t y, size_t width, size_t height) {
    return x <= array->pitch() && width <= array->pitch() - x && y <= array->rows() &&
           height <= array->rows() - y;
}

cudaError_t copy_to(cudaArray_t dst, size_t x, size_t y, const void* src,
                    size_t src_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                    cudaStream_t stream) {
    return api_call([&] {
        if (!is_array(dst)) return cudaErrorInvalidResourceHandle;
        if (!fits(dst, x, y, width, height)) return cudaErrorInvalidValue;
        const cudaPitchedPtr from = {const_cast<void*>(src), src_pitch, width, height};
        return submit(stream,
                      copy_rows("cudaMemcpy2DToArray", dst->pitched(), {x, y, 0}, from,
                                {0, 0, 0}, width, height, kind));
    });
}

cudaError_t copy_from(void* dst, size_t dst_pitch, cudaArray_const_t src, size_t x,
                      size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                      cudaStream_t stream) {
    return api_call([&] {
        if (!is_array(src)) return cudaErrorInvalidResourceHandle;
        if (!fits(src, x, y, width, height)) return cudaErrorInvalidValue;
        return submit(
            stream,
            copy_rows("cudaMemcpy2DFromArray", {dst, dst_pitch, width, height},
                      {0, 0, 0}, src->pitched(), {x, y, 0}, width, height, kind));
    });
}

/// The rectangle that `bytes` bytes from x on cover: part of a row, or whole rows.
bool rectangle(cudaArray_const_t array, size_t x, size_t bytes, size_t* width,
               size_t* height) {
    const size_t pitch = array->pitch();
    const bool one_row = x + bytes <= pitch;
    *width = one_row ? bytes : pitch;
    *height = one_row ? 1 : bytes / pitch;
    return one_row || (x == 0 && bytes % pitch == 0);
}

}  // namespace

bool is_array(cudaArray_const_t array) {
    return array && arrays().contains(array);
}

void destroy_arrays() {
    arrays().clear();
}

bool resolve_arrays(cudaMemcpy3DParms& params) {
    if (params.srcArray && !is_array(params.srcArray)) return false;
    if (params.dstArray && !is_array(params.dstArray)) return false;
    const cudaArray* either = params.srcArray ? params.srcArray : params.dstArray;
    if (either) params.extent.width *= either->element_bytes();
    if (params.srcArray) {
        params.srcPos.x *= params.srcArray->element_bytes();
        params.srcPtr = params.srcArray->pitched();
        params.srcArray = nullptr;
    }
    if (params.dstArray) {
        params.dstPos.x *= params.dstArray->element_bytes();
        params.dstPtr = params.dstArray->pitched();
        params.dstArray = nullptr;
    }
    return true;
}

}  // namespace simt::detail

using namespace simt::detail;

cudaError_t cudaMallocArray(cudaArray_t* array,
                            const cudaChannelFormatDesc* description, size_t width,
                            size_t height, unsigned int flags) {
    return api_call([&] {
        return create(array, description, {width, height, 0}, flags);
    });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array,
                              const cudaChannelFormatDesc* description,
                              cudaExtent extent, unsigned int flags) {
    return api_call([&] { return create(array, description, extent, flags); });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    return api_call([&] {
        if (!array) return cudaSuccess;
        const std::unique_ptr<cudaArray> removed = arrays().remove(array);
        if (!removed) return cudaErrorInvalidResourceHandle;
        release(removed->data, MemoryKind::device);
        return cudaSuccess;
    });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* description, cudaExtent* extent,
                             unsigned int* flags, cudaArray_t array) {
    return api_call([&] {
        if (!is_array(array)) return cudaErrorInvalidResourceHandle;
        if (description) *description = array->format;
        if (extent) *extent = array->extent;
        if (flags) *flags = array->flags;
        return cudaSuccess;
    });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* description,
                               cudaArray_const_t array) {
    return api_call([&] {
        if (!description) return cudaErrorInvalidValue;
        if (!is_array(array)) return cudaErrorInvalidResourceHandle;
        *description = array->format;
        return cudaSuccess;
    });
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t dst_x, size_t dst_y,
                                const void* src, size_t src_pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
    return copy_to(dst, dst_x, dst_y, src, src_pitch, width, height, kind, nullptr);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t dst_x, size_t dst_y,
                                     const void* src, size_t src_pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
    return copy_to(dst, dst_x, dst_y, src, src_pitch, width, height, kind, stream);
}

cudaError_t cudaMemcpy2DFromArray(void* dst, size_t dst_pitch, cudaArray_const_t src,
                                  size_t src_x, size_t src_y, size_t width,
                                  size_t height, cudaMemcpyKind kind) {
    return copy_from(dst, dst_pitch, src, src_x, src_y, width, height, kind, nullptr);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* dst, size_t dst_pitch,
                                       cudaArray_const_t src, size_t src_x,
                                       size_t src_y, size_t width, size_t height,
                                       cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_from(dst, dst_pitch, src, src_x, src_y, width, height, kind, stream);
}

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t dst_x, size_t dst_y,
                              const void* src, size_t bytes, cudaMemcpyKind kind) {
    size_t width = 0;
    size_t height = 0;
    if (!is_array(dst) || !rectangle(dst, dst_x, bytes, &width, &height))
        return api_call([] { return cudaErrorInvalidValue; });
    return copy_to(dst, dst_x, dst_y, src, width, width, height, kind, nullptr);
}

cudaError_t cudaMemcpyFromArray(void* dst, cudaArray_const_t src, size_t src_x,
                                size_t src_y, size_t bytes, cudaMemcpyKind kind) {
    size_t width = 0;
    size_t height = 0;
    if (!is_array(src) || !rectangle(src, src_x, bytes, &width, &height))
        return api_call([] { return cudaErrorInvalidValue; });
    return copy_from(dst, width, src, src_x, src_y, width, height, kind, nullptr);
}
