#include "copy.h"

#include <cstdint>
#include <cstring>
#include <limits>

#include "array.h"
#include "call.h"
#include "core/observer.h"
#include "pointers.h"

namespace simt::detail {
namespace {

/// One end of a copy: where its first byte is and how far its rows and slices are
/// apart.
struct Layout {
    char* first;
    size_t pitch;
    size_t slice;  // bytes from one slice to the next
};

Layout layout(const cudaPitchedPtr& memory, const cudaPos& position) {
    const size_t slice = memory.pitch * memory.ysize;
    return {static_cast<char*>(memory.ptr) + position.z * slice +
                position.y * memory.pitch + position.x,
            memory.pitch, slice};
}

bool is_empty(const cudaExtent& extent) {
    return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

/// Bytes from the first to the last byte that is touched; false if that overflows.
bool span(const cudaExtent& extent, const Layout& end, size_t* bytes) {
    size_t rows = 0;
    size_t slices = 0;
    return !__builtin_mul_overflow(extent.height - 1, end.pitch, &rows) &&
           !__builtin_mul_overflow(extent.depth - 1, end.slice, &slices) &&
           !__builtin_add_overflow(rows, slices, bytes) &&
           !__builtin_add_overflow(*bytes, extent.width, bytes);
}

cudaError_t check_end(const cudaExtent& extent, const Layout& end, Side side,
                      const char* call, const char* name) {
    if (extent.height > 1 && end.pitch < extent.width) {
        hint("%s: the pitch of %s (%zu bytes) is less than a row (%zu bytes)", call,
             name, end.pitch, extent.width);
        return cudaErrorInvalidPitchValue;
    }
    size_t bytes = 0;
    if (!span(extent, end, &bytes)) return cudaErrorInvalidValue;
    return check_range(end.first, bytes, side, call, name) ? cudaSuccess
                                                           : cudaErrorInvalidValue;
}

// As seen on an H100: the end that the direction calls "device" must be memory that
// kernels may use; the end that it calls "host" may be anything.
Side destination_side(cudaMemcpyKind kind) {
    const bool device =
        kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    return device ? Side::device : Side::any;
}

Side source_side(cudaMemcpyKind kind) {
    const bool device =
        kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    return device ? Side::device : Side::any;
}

}  // namespace

CopyOperation::CopyOperation(const char* call, const cudaMemcpy3DParms& params)
    : call_(call), params_(params), valid_arrays_(resolve_arrays(params_)) {}

CopyOperation CopyOperation::linear(const char* call, void* dst, const void* src,
                                    size_t bytes, cudaMemcpyKind kind) {
    return rows(call, dst, bytes, src, bytes, bytes, 1, kind);
}

CopyOperation CopyOperation::rows(const char* call, void* dst, size_t dst_pitch,
                                  const void* src, size_t src_pitch, size_t width,
                                  size_t height, cudaMemcpyKind kind) {
    cudaMemcpy3DParms params = {};
    params.dstPtr = {dst, dst_pitch, width, height};
    params.srcPtr = {const_cast<void*>(src), src_pitch, width, height};
    params.extent = {width, height, 1};
    params.kind = kind;
    return CopyOperation(call, params);
}

cudaError_t CopyOperation::check() const {
    if (params_.kind < cudaMemcpyHostToHost || params_.kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (!valid_arrays_) return cudaErrorInvalidResourceHandle;
    if (is_empty(params_.extent)) return cudaSuccess;
    const Layout dst = layout(params_.dstPtr, params_.dstPos);
    const Layout src = layout(params_.srcPtr, params_.srcPos);
    const Side dst_side = destination_side(params_.kind);
    const Side src_side = source_side(params_.kind);
    if (const auto error = check_end(params_.extent, dst, dst_side, call_, "dst"))
        return error;
    return check_end(params_.extent, src, src_side, call_, "src");
}

bool CopyOperation::host_waits() const {
    return look_up(params_.dstPtr.ptr).space == Space::host ||
           look_up(params_.srcPtr.ptr).space == Space::host;
}

bool CopyOperation::stays_on_devices() const {
    return look_up(params_.dstPtr.ptr).space == Space::device &&
           look_up(params_.srcPtr.ptr).space == Space::device;
}

cudaError_t CopyOperation::run(cudaStream_t) const {
    const cudaExtent& extent = params_.extent;
    if (is_empty(extent)) return cudaSuccess;
    const Layout dst = layout(params_.dstPtr, params_.dstPos);
    const Layout src = layout(params_.srcPtr, params_.srcPos);
    for (size_t z = 0; z < extent.depth; ++z)
        for (size_t y = 0; y < extent.height; ++y) {
            char* to = dst.first + z * dst.slice + y * dst.pitch;
            const char* from = src.first + z * src.slice + y * src.pitch;
            std::memmove(to, from, extent.width);
            if (observer) observer->host_copied(to, from, extent.width);
        }
    return cudaSuccess;
}

bool StagedCopy::serves(const CopyOperation& copy) {
    const cudaMemcpy3DParms& params = copy.params();
    const cudaExtent& extent = params.extent;
    const Space to = look_up(params.dstPtr.ptr).space;
    return !is_empty(extent) && extent.height == 1 && extent.depth == 1 &&
           look_up(params.srcPtr.ptr).space == Space::host && to == Space::device;
}

StagedCopy::StagedCopy(const CopyOperation& copy)
    : StagedCopy(copy, [&] {
          const cudaMemcpy3DParms& params = copy.params();
          const char* from = layout(params.srcPtr, params.srcPos).first;
          return std::make_shared<const std::vector<char>>(from,
                                                           from + params.extent.width);
      }()) {}

StagedCopy::StagedCopy(const CopyOperation& copy, Bytes bytes)
    : CopyOperation(linear(copy.call(),
                           layout(copy.params().dstPtr, copy.params().dstPos).first,
                           bytes->data(), bytes->size(), copy.params().kind)),
      bytes_(std::move(bytes)) {}

cudaError_t FillOperation::check() const {
    const unsigned size = params_.elementSize;
    if (size != 1 && size != 2 && size != 4) return cudaErrorInvalidValue;
    if (params_.width == 0 || params_.height == 0) return cudaSuccess;
    size_t row = 0;
    if (__builtin_mul_overflow(params_.width, size_t{size}, &row))
        return cudaErrorInvalidValue;
    const Layout end = {static_cast<char*>(params_.dst), params_.pitch, 0};
    const cudaError_t error =
        check_end({row, params_.height, 1}, end, Side::device, call_, "the pointer");
    // CUDA's code for a bad pitch is that of copies only.
    return error == cudaErrorInvalidPitchValue ? cudaErrorInvalidValue : error;
}

cudaError_t FillOperation::run(cudaStream_t) const {
    if (params_.width == 0) return cudaSuccess;
    for (size_t y = 0; y < params_.height; ++y) {
        char* row = static_cast<char*>(params_.dst) + y * params_.pitch;
        if (observer) observer->host_wrote(row, params_.width * params_.elementSize);
        switch (params_.elementSize) {
            case 1:
                std::memset(row, static_cast<int>(params_.value), params_.width);
                break;
            case 2: {
                const auto value = static_cast<uint16_t>(params_.value);
                for (size_t x = 0; x < params_.width; ++x)
                    std::memcpy(row + x * sizeof value, &value, sizeof value);
                break;
            }
            default:
                for (size_t x = 0; x < params_.width; ++x)
                    std::memcpy(row + x * sizeof params_.value, &params_.value,
                                sizeof params_.value);
        }
    }
    return cudaSuccess;
}

}  // namespace simt::detail
