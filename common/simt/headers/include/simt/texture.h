#pragma once
// Reading textures, reading and writing surfaces in kernels.
//
// Filtering follows the CUDA programming guide ("Texture Fetching"): weights are
// fixed-point numbers with 8 fractional bits.

#include "simt/api/texture.h"
#include "simt/core.h"

namespace simt::detail {

/// One fetch: coordinates and number of dimensions; the layer of a layered texture; for
/// a cube, the direction from its centre.
struct Fetch {
    enum class From : unsigned char { whole, layer, cube };

    float x = 0;
    float y = 0;
    float z = 0;
    int dimensions = 1;
    From from = From::whole;
    int layer = 0;
};

/// Reads an element at whole coordinates and gives the bytes of its `count` components,
/// which have `size` bytes each; floats if `as_float`.
void fetch_texel(cudaTextureObject_t texture,
                 const Fetch& where,
                 void* out,
                 int count,
                 size_t size,
                 bool as_float);
/// The element `index` of a texture of linear memory; zero outside.
void fetch_linear(cudaTextureObject_t texture,
                  int index,
                  void* out,
                  int count,
                  size_t size,
                  bool as_float);

/// Where `bytes` bytes at x (in bytes), y, z of a surface are; null outside, where
/// reads give zero and writes do nothing, unless the mode says clamp or trap.
void* surface_address(cudaSurfaceObject_t surface,
                      int x,
                      int y,
                      int z,
                      size_t bytes,
                      cudaSurfaceBoundaryMode mode,
                      const char* file,
                      int line);

template <class T>
T fetch(cudaTextureObject_t texture, const Fetch& where) {
    using Component = typename Texel<T>::Component;
    T value{};
    fetch_texel(texture,
                where,
                &value,
                Texel<T>::kCount,
                sizeof(Component),
                std::is_floating_point_v<Component>);
    return value;
}

template <class T>
T load_surface(const void* address) {
    T value{};
    if (address) __builtin_memcpy(&value, address, sizeof value);
    return value;
}

template <class T>
void store_surface(void* address, const T& value) {
    if (address) __builtin_memcpy(address, &value, sizeof value);
}

}  // namespace simt::detail

// ---- Textures -----------------------------------------------------------------------

/// Element `index` of linear memory.
template <class T>
T tex1Dfetch(cudaTextureObject_t texture, int index) {
    using Component = typename simt::detail::Texel<T>::Component;
    T value{};
    simt::detail::fetch_linear(texture,
                               index,
                               &value,
                               simt::detail::Texel<T>::kCount,
                               sizeof(Component),
                               std::is_floating_point_v<Component>);
    return value;
}
template <class T>
T tex1D(cudaTextureObject_t texture, float x) {
    return simt::detail::fetch<T>(texture, {x, 0, 0, 1});
}
template <class T>
T tex2D(cudaTextureObject_t texture, float x, float y) {
    return simt::detail::fetch<T>(texture, {x, y, 0, 2});
}
template <class T>
T tex3D(cudaTextureObject_t texture, float x, float y, float z) {
    return simt::detail::fetch<T>(texture, {x, y, z, 3});
}

// The forms that give the value through a pointer.
template <class T>
void tex1Dfetch(T* value, cudaTextureObject_t texture, int index) {
    *value = tex1Dfetch<T>(texture, index);
}
template <class T>
void tex1D(T* value, cudaTextureObject_t texture, float x) {
    *value = tex1D<T>(texture, x);
}
template <class T>
void tex2D(T* value, cudaTextureObject_t texture, float x, float y) {
    *value = tex2D<T>(texture, x, y);
}
template <class T>
void tex3D(T* value, cudaTextureObject_t texture, float x, float y, float z) {
    *value = tex3D<T>(texture, x, y, z);
}

// ---- Surfaces: x is in bytes --------------------------------------------------------

#define SIMT_SURFACE_MODE cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, SIMT_SITE
#define SIMT_SURFACE_AT(x, y, z) \
    simt::detail::surface_address(surface, x, y, z, sizeof(T), mode, file, line)

template <class T>
T surf1Dread(cudaSurfaceObject_t surface, int x, SIMT_SURFACE_MODE) {
    return simt::detail::load_surface<T>(SIMT_SURFACE_AT(x, 0, 0));
}
template <class T>
T surf2Dread(cudaSurfaceObject_t surface, int x, int y, SIMT_SURFACE_MODE) {
    return simt::detail::load_surface<T>(SIMT_SURFACE_AT(x, y, 0));
}
template <class T>
T surf3Dread(cudaSurfaceObject_t surface, int x, int y, int z, SIMT_SURFACE_MODE) {
    return simt::detail::load_surface<T>(SIMT_SURFACE_AT(x, y, z));
}
template <class T>
void surf1Dread(T* value, cudaSurfaceObject_t surface, int x, SIMT_SURFACE_MODE) {
    *value = simt::detail::load_surface<T>(SIMT_SURFACE_AT(x, 0, 0));
}
template <class T>
void surf2Dread(
    T* value, cudaSurfaceObject_t surface, int x, int y, SIMT_SURFACE_MODE) {
    *value = simt::detail::load_surface<T>(SIMT_SURFACE_AT(x, y, 0));
}
template <class T>
void surf1Dwrite(T value, cudaSurfaceObject_t surface, int x, SIMT_SURFACE_MODE) {
    simt::detail::store_surface(SIMT_SURFACE_AT(x, 0, 0), value);
}
template <class T>
void surf2Dwrite(
    T value, cudaSurfaceObject_t surface, int x, int y, SIMT_SURFACE_MODE) {
    simt::detail::store_surface(SIMT_SURFACE_AT(x, y, 0), value);
}
template <class T>
void surf3Dwrite(
    T value, cudaSurfaceObject_t surface, int x, int y, int z, SIMT_SURFACE_MODE) {
    simt::detail::store_surface(SIMT_SURFACE_AT(x, y, z), value);
}

#include "simt/layered_texture.h"

#undef SIMT_SURFACE_AT
#undef SIMT_SURFACE_MODE
