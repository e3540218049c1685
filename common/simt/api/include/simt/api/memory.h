#pragma once
// Allocation: device, pinned, managed, pitched and stream-ordered memory.
//
// As in CUDA, a size of zero succeeds and gives a null pointer. Fresh memory is filled
// with 0xFF bytes (NaN for floats): a program that forgets to initialise it is noticed.

#include "types.h"

// ---- Device memory ----------------------------------------------------------------

/// Allocates `bytes` bytes of device memory, aligned to 256.
/// @returns cudaErrorMemoryAllocation if there is not enough, cudaErrorInvalidValue for
///          a null `pointer`.
cudaError_t cudaMalloc(void** pointer, size_t bytes);
/// Frees memory of cudaMalloc*, cudaMallocAsync or cudaMallocManaged; null is legal.
/// @returns cudaErrorInvalidValue for any other pointer and for a second free.
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent);
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                     const void* pointer);

// ---- Pinned host memory -----------------------------------------------------------

cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned int flags = 0);
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int flags);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags);
cudaError_t cudaHostGetFlags(unsigned int* flags, void* host);

// ---- Managed memory ---------------------------------------------------------------

cudaError_t cudaMallocManaged(void** pointer, size_t bytes,
                              unsigned int flags = cudaMemAttachGlobal);
/// Checks its arguments; the simulator has nothing to move.
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes,
                                 cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream = nullptr);
/// The form of CUDA 12 and older.
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location);
/// The form of CUDA 12 and older.
cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                          int device);
cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_size,
                                     cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t bytes);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer,
                                     size_t length = 0,
                                     unsigned int flags = cudaMemAttachSingle);

// ---- Stream-ordered allocation and pools ------------------------------------------

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                    void* value);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                    void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access,
                                 size_t count);
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location);

// ---- Memory shared between processes ------------------------------------------------
// Not simulated: cudaErrorNotSupported, as on systems where cudaDeviceProp says that it
// is not there.

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer);
cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle,
                                 unsigned int flags);
cudaError_t cudaIpcCloseMemHandle(void* pointer);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle);

// ---- The same for typed pointers --------------------------------------------------

namespace simt::detail {
template <class T>
void** untyped(T** pointer) {
    return static_cast<void**>(static_cast<void*>(pointer));
}
}  // namespace simt::detail

template <class T>
cudaError_t cudaMalloc(T** pointer, size_t bytes) {
    return cudaMalloc(simt::detail::untyped(pointer), bytes);
}
template <class T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
    return cudaMallocPitch(simt::detail::untyped(pointer), pitch, width, height);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned int flags = 0) {
    return cudaMallocHost(simt::detail::untyped(pointer), bytes, flags);
}
template <class T>
cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned int flags) {
    return cudaHostAlloc(simt::detail::untyped(pointer), bytes, flags);
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
    return cudaHostGetDevicePointer(simt::detail::untyped(device), host, flags);
}
template <class T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes,
                              unsigned int flags = cudaMemAttachGlobal) {
    return cudaMallocManaged(simt::detail::untyped(pointer), bytes, flags);
}
template <class T>
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* pointer, size_t length = 0,
                                     unsigned int flags = cudaMemAttachSingle) {
    return cudaStreamAttachMemAsync(stream, static_cast<void*>(pointer), length, flags);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream) {
    return cudaMallocAsync(simt::detail::untyped(pointer), bytes, stream);
}
template <class T>
cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
    return cudaMallocFromPoolAsync(simt::detail::untyped(pointer), bytes, pool, stream);
}
/// CUDA's C++ overload that names the pool.
template <class T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaMemPool_t pool,
                            cudaStream_t stream) {
    return cudaMallocFromPoolAsync(simt::detail::untyped(pointer), bytes, pool, stream);
}
