#pragma once
// Copying and filling memory, and reaching __device__ and __constant__ variables.
//
// Every copy checks its pointers against the table of allocations: a host pointer where
// the direction says device, or a range that leaves its allocation, is refused with
// cudaErrorInvalidValue (and a line on stderr that says why) before anything is
// written. The Async forms take a stream last.

#include <type_traits>

#include "types.h"

cudaError_t cudaMemcpy(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream = nullptr);

/// Copies `height` rows of `width` bytes; the pitches are the distances between rows.
/// @returns cudaErrorInvalidPitchValue if a pitch is less than the width.
cudaError_t cudaMemcpy2D(void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* dst, size_t dst_pitch, const void* src,
                              size_t src_pitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy,
                              cudaStream_t stream = nullptr);

cudaError_t cudaMemcpyPeer(void* dst, int dst_device, const void* src, int src_device,
                           size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src,
                                int src_device, size_t bytes,
                                cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* copy);
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* copy,
                                  cudaStream_t stream = nullptr);

/// Fills `bytes` bytes of device memory with the low byte of `value`.
cudaError_t cudaMemset(void* pointer, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width,
                         size_t height);
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width,
                              size_t height, cudaStream_t stream = nullptr);
cudaError_t cudaMemset3D(cudaPitchedPtr pitched, int value, cudaExtent extent);
cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitched, int value, cudaExtent extent,
                              cudaStream_t stream = nullptr);

// ---- __device__ and __constant__ variables ----------------------------------------

namespace simt::detail {

/// A variable in device memory; size 0 if its type does not tell (extern arrays).
struct Symbol {
    void* address;
    size_t size;
};

cudaError_t copy_to_symbol(Symbol, const void* src, size_t bytes, size_t offset,
                           cudaMemcpyKind, cudaStream_t, bool synchronous);
cudaError_t copy_from_symbol(void* dst, Symbol, size_t bytes, size_t offset,
                             cudaMemcpyKind, cudaStream_t, bool synchronous);
cudaError_t symbol_address(void** pointer, Symbol);
cudaError_t symbol_size(size_t* bytes, Symbol);

template <class T>
Symbol symbol_of(const T& variable) {
    void* address =
        const_cast<char*>(&reinterpret_cast<const volatile char&>(variable));
    if constexpr (std::is_unbounded_array_v<T>)
        return {address, 0};
    else
        return {address, sizeof(T)};
}

}  // namespace simt::detail

/// Copies into the `__device__` or `__constant__` variable `symbol` (the variable
/// itself, not its address), `offset` bytes after its start.
/// @returns cudaErrorInvalidValue past the variable's end, cudaErrorInvalidSymbol for
///          something that is no variable in static storage.
template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* src, size_t bytes,
                               size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return simt::detail::copy_to_symbol(simt::detail::symbol_of(symbol), src, bytes,
                                        offset, kind, nullptr, true);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* src, size_t bytes,
                                    size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr) {
    return simt::detail::copy_to_symbol(simt::detail::symbol_of(symbol), src, bytes,
                                        offset, kind, stream, false);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* dst, const T& symbol, size_t bytes,
                                 size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return simt::detail::copy_from_symbol(dst, simt::detail::symbol_of(symbol), bytes,
                                          offset, kind, nullptr, true);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const T& symbol, size_t bytes,
                                      size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr) {
    return simt::detail::copy_from_symbol(dst, simt::detail::symbol_of(symbol), bytes,
                                          offset, kind, stream, false);
}

/// Device address of a `__device__` or `__constant__` variable.
template <class T>
cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
    return simt::detail::symbol_address(pointer, simt::detail::symbol_of(symbol));
}
template <class P, class T>
cudaError_t cudaGetSymbolAddress(P** pointer, const T& symbol) {
    return simt::detail::symbol_address(
        static_cast<void**>(static_cast<void*>(pointer)),
        simt::detail::symbol_of(symbol));
}
/// Size in bytes of a `__device__` or `__constant__` variable.
template <class T>
cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
    return simt::detail::symbol_size(bytes, simt::detail::symbol_of(symbol));
}
