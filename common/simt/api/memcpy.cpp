// The copying functions of the API.

#include "simt/api/memcpy.h"

#include "call.h"
#include "copy.h"
#include "core/devices.h"
#include "pointers.h"
#include "stream.h"

using namespace simt::detail;

namespace {

cudaError_t copy_now(const CopyOperation& copy) {
    return api_call([&] {
        if (const cudaError_t error = check_stream(nullptr)) return error;
        if (const cudaError_t error = refuse_during_capture()) return error;
        if (deferring() && StagedCopy::serves(copy)) {
            // What waits neither for the host nor for the default stream may run before
            // the bytes land.
            if (const cudaError_t error = copy.check()) return error;
            tell_issue(simt::Issue::wait, nullptr);
            if (const cudaError_t error = finish_stream(*find_stream(nullptr)))
                return error;
            return submit(nullptr, StagedCopy(copy));
        }
        if (const cudaError_t error = submit(nullptr, copy)) return error;
        if (deferring() && copy.stays_on_devices()) return cudaSuccess;
        return finish_stream(*find_stream(nullptr));
    });
}

cudaError_t copy_in(cudaStream_t stream, const CopyOperation& copy) {
    return api_call([&] { return submit(stream, copy); });
}

cudaError_t fill_now(const FillOperation& fill) {
    return api_call([&] {
        if (const cudaError_t error = check_stream(nullptr)) return error;
        if (const cudaError_t error = refuse_during_capture()) return error;
        return submit(nullptr, fill);
    });
}

cudaError_t fill_in(cudaStream_t stream, const FillOperation& fill) {
    return api_call([&] { return submit(stream, fill); });
}

cudaMemsetParams fill_rows(void* pointer, size_t pitch, int value, size_t width,
                           size_t height) {
    return {pointer, pitch, static_cast<unsigned>(value) & 0xFFu, 1, width, height};
}

// A box is filled slice by slice.
cudaError_t fill_box(cudaPitchedPtr pitched, int value, cudaExtent extent,
                     cudaStream_t stream, const char* call) {
    return api_call([&] {
        for (size_t z = 0; z < extent.depth; ++z) {
            char* slice =
                static_cast<char*>(pitched.ptr) + z * pitched.pitch * pitched.ysize;
            const FillOperation fill(call, fill_rows(slice, pitched.pitch, value,
                                                     extent.width, extent.height));
            if (const cudaError_t error = submit(stream, fill)) return error;
        }
        return cudaSuccess;
    });
}

cudaMemcpy3DParms without_devices(const cudaMemcpy3DPeerParms& copy) {
    return {copy.srcArray, copy.srcPos, copy.srcPtr, copy.dstArray,
            copy.dstPos,   copy.dstPtr, copy.extent, cudaMemcpyDeviceToDevice};
}

}  // namespace

cudaError_t cudaMemcpy(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind) {
    return copy_now(CopyOperation::linear("cudaMemcpy", dst, src, bytes, kind));
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_in(stream,
                   CopyOperation::linear("cudaMemcpyAsync", dst, src, bytes, kind));
}

cudaError_t cudaMemcpy2D(void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
    if (width > 0 && height > 0 && (dst_pitch < width || src_pitch < width))
        return api_call([] { return cudaErrorInvalidPitchValue; });
    return copy_now(CopyOperation::rows("cudaMemcpy2D", dst, dst_pitch, src, src_pitch,
                                        width, height, kind));
}

cudaError_t cudaMemcpy2DAsync(void* dst, size_t dst_pitch, const void* src,
                              size_t src_pitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
    if (width > 0 && height > 0 && (dst_pitch < width || src_pitch < width))
        return api_call([] { return cudaErrorInvalidPitchValue; });
    return copy_in(stream, CopyOperation::rows("cudaMemcpy2DAsync", dst, dst_pitch, src,
                                               src_pitch, width, height, kind));
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
    if (!copy) return api_call([] { return cudaErrorInvalidValue; });
    return copy_now(CopyOperation("cudaMemcpy3D", *copy));
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream) {
    if (!copy) return api_call([] { return cudaErrorInvalidValue; });
    return copy_in(stream, CopyOperation("cudaMemcpy3DAsync", *copy));
}

cudaError_t cudaMemcpyPeer(void* dst, int dst_device, const void* src, int src_device,
                           size_t bytes) {
    if (!is_device(dst_device) || !is_device(src_device))
        return api_call([] { return cudaErrorInvalidDevice; });
    return copy_now(CopyOperation::linear("cudaMemcpyPeer", dst, src, bytes,
                                          cudaMemcpyDeviceToDevice));
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src,
                                int src_device, size_t bytes, cudaStream_t stream) {
    if (!is_device(dst_device) || !is_device(src_device))
        return api_call([] { return cudaErrorInvalidDevice; });
    return copy_in(stream, CopyOperation::linear("cudaMemcpyPeerAsync", dst, src, bytes,
                                                 cudaMemcpyDeviceToDevice));
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* copy) {
    if (!copy) return api_call([] { return cudaErrorInvalidValue; });
    if (!is_device(copy->dstDevice) || !is_device(copy->srcDevice))
        return api_call([] { return cudaErrorInvalidDevice; });
    return copy_now(CopyOperation("cudaMemcpy3DPeer", without_devices(*copy)));
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* copy,
                                  cudaStream_t stream) {
    if (!copy) return api_call([] { return cudaErrorInvalidValue; });
    if (!is_device(copy->dstDevice) || !is_device(copy->srcDevice))
        return api_call([] { return cudaErrorInvalidDevice; });
    return copy_in(stream,
                   CopyOperation("cudaMemcpy3DPeerAsync", without_devices(*copy)));
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
    return fill_now(
        FillOperation("cudaMemset", fill_rows(pointer, bytes, value, bytes, 1)));
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes,
                            cudaStream_t stream) {
    return fill_in(stream, FillOperation("cudaMemsetAsync",
                                         fill_rows(pointer, bytes, value, bytes, 1)));
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width,
                         size_t height) {
    return fill_now(
        FillOperation("cudaMemset2D", fill_rows(pointer, pitch, value, width, height)));
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width,
                              size_t height, cudaStream_t stream) {
    return fill_in(stream,
                   FillOperation("cudaMemset2DAsync",
                                 fill_rows(pointer, pitch, value, width, height)));
}

cudaError_t cudaMemset3D(cudaPitchedPtr pitched, int value, cudaExtent extent) {
    return fill_box(pitched, value, extent, nullptr, "cudaMemset3D");
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitched, int value, cudaExtent extent,
                              cudaStream_t stream) {
    return fill_box(pitched, value, extent, stream, "cudaMemset3DAsync");
}
