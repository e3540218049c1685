#pragma once
// CUDA arrays, texture objects and surface objects. Arrays of one to three dimensions
// are simulated, also layered ones and cubes, as are textures of linear and pitched
// memory; mipmaps and views are refused with cudaErrorNotSupported.

#include <type_traits>

#include "texture_types.h"

// ---- Channel formats ----------------------------------------------------------------

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind f) {
    return {x, y, z, w, f};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
    return {16, 0, 0, 0, cudaChannelFormatKindFloat};
}

namespace simt::detail {

/// Type and number of the components of a scalar or a vector type.
template <class T>
struct Texel {
    using Component = T;
    static constexpr int kCount = 1;
};
template <class T>
requires requires(T v) {
    v.x;
}
struct Texel<T> {
    using Component = decltype(T::x);
    static constexpr int kCount = static_cast<int>(sizeof(T) / sizeof(Component));
};

}  // namespace simt::detail

/// The format of an element type: float, uchar4, int2 and so on.
template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
    using Component = typename simt::detail::Texel<T>::Component;
    constexpr int n = simt::detail::Texel<T>::kCount;
    constexpr int bits = static_cast<int>(8 * sizeof(Component));
    constexpr bool integral = std::is_integral_v<Component>;
    constexpr cudaChannelFormatKind kind = !integral ? cudaChannelFormatKindFloat
                                           : std::is_signed_v<Component>
                                               ? cudaChannelFormatKindSigned
                                               : cudaChannelFormatKindUnsigned;
    return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0, kind};
}

// ---- Arrays -------------------------------------------------------------------------

/// An array of width x height elements (height 0: one dimension).
cudaError_t cudaMallocArray(cudaArray_t* array,
                            const cudaChannelFormatDesc* description, size_t width,
                            size_t height = 0, unsigned int flags = 0);
cudaError_t cudaMalloc3DArray(cudaArray_t* array,
                              const cudaChannelFormatDesc* description,
                              cudaExtent extent, unsigned int flags = 0);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* description, cudaExtent* extent,
                             unsigned int* flags, cudaArray_t array);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* description,
                               cudaArray_const_t array);

// Offsets and widths are in bytes, heights in rows.
cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t dst_x, size_t dst_y,
                                const void* src, size_t src_pitch, size_t width,
                                size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t dst_x, size_t dst_y,
                                     const void* src, size_t src_pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2DFromArray(void* dst, size_t dst_pitch, cudaArray_const_t src,
                                  size_t src_x, size_t src_y, size_t width,
                                  size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArrayAsync(void* dst, size_t dst_pitch,
                                       cudaArray_const_t src, size_t src_x,
                                       size_t src_y, size_t width, size_t height,
                                       cudaMemcpyKind kind,
                                       cudaStream_t stream = nullptr);
/// Fills whole rows from (dst_x, dst_y) on; the bytes must end with a row, or in the
/// first.
cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t dst_x, size_t dst_y,
                              const void* src, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArray(void* dst, cudaArray_const_t src, size_t src_x,
                                size_t src_y, size_t bytes, cudaMemcpyKind kind);

// ---- Texture and surface objects ----------------------------------------------------

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture,
                                    const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc* view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                    const cudaResourceDesc* resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface);
