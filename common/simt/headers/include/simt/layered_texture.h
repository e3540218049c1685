/// simt/layered_texture.h: textures and surfaces of several layers, and cubes. A part
/// of simt/texture.h, which includes it.
///
/// A layer that does not exist is a fault: what a GPU reads then is not documented.
#pragma once

template <class T>
T tex1DLayered(cudaTextureObject_t texture, float x, int layer) {
    return simt::detail::fetch<T>(
        texture, {x, 0, 0, 1, simt::detail::Fetch::From::layer, layer});
}
template <class T>
T tex2DLayered(cudaTextureObject_t texture, float x, float y, int layer) {
    return simt::detail::fetch<T>(
        texture, {x, y, 0, 2, simt::detail::Fetch::From::layer, layer});
}
/// Where the direction (x, y, z) meets the cube.
template <class T>
T texCubemap(cudaTextureObject_t texture, float x, float y, float z) {
    return simt::detail::fetch<T>(texture,
                                  {x, y, z, 2, simt::detail::Fetch::From::cube, 0});
}
template <class T>
T texCubemapLayered(cudaTextureObject_t texture, float x, float y, float z, int layer) {
    return simt::detail::fetch<T>(texture,
                                  {x, y, z, 2, simt::detail::Fetch::From::cube, layer});
}

template <class T>
void tex1DLayered(T* value, cudaTextureObject_t texture, float x, int layer) {
    *value = tex1DLayered<T>(texture, x, layer);
}
template <class T>
void tex2DLayered(T* value, cudaTextureObject_t texture, float x, float y, int layer) {
    *value = tex2DLayered<T>(texture, x, y, layer);
}
template <class T>
void texCubemap(T* value, cudaTextureObject_t texture, float x, float y, float z) {
    *value = texCubemap<T>(texture, x, y, z);
}
template <class T>
void texCubemapLayered(
    T* value, cudaTextureObject_t texture, float x, float y, float z, int layer) {
    *value = texCubemapLayered<T>(texture, x, y, z, layer);
}

// Surfaces: of a cube, `face` is 0 to 5; of layered cubes, 6 * layer + face.
template <class T>
T surf1DLayeredread(cudaSurfaceObject_t surface, int x, int layer, SIMT_SURFACE_MODE) {
    return simt::detail::load_surface<T>(SIMT_SURFACE_AT(x, 0, layer));
}
template <class T>
T surf2DLayeredread(
    cudaSurfaceObject_t surface, int x, int y, int layer, SIMT_SURFACE_MODE) {
    return simt::detail::load_surface<T>(SIMT_SURFACE_AT(x, y, layer));
}
template <class T>
T surfCubemapread(
    cudaSurfaceObject_t surface, int x, int y, int face, SIMT_SURFACE_MODE) {
    return simt::detail::load_surface<T>(SIMT_SURFACE_AT(x, y, face));
}
template <class T>
T surfCubemapLayeredread(
    cudaSurfaceObject_t surface, int x, int y, int face, SIMT_SURFACE_MODE) {
    return simt::detail::load_surface<T>(SIMT_SURFACE_AT(x, y, face));
}
template <class T>
void surf1DLayeredread(
    T* value, cudaSurfaceObject_t surface, int x, int layer, SIMT_SURFACE_MODE) {
    *value = simt::detail::load_surface<T>(SIMT_SURFACE_AT(x, 0, layer));
}
template <class T>
void surf2DLayeredread(
    T* value, cudaSurfaceObject_t surface, int x, int y, int layer, SIMT_SURFACE_MODE) {
    *value = simt::detail::load_surface<T>(SIMT_SURFACE_AT(x, y, layer));
}
template <class T>
void surfCubemapread(
    T* value, cudaSurfaceObject_t surface, int x, int y, int face, SIMT_SURFACE_MODE) {
    *value = simt::detail::load_surface<T>(SIMT_SURFACE_AT(x, y, face));
}
template <class T>
void surfCubemapLayeredread(
    T* value, cudaSurfaceObject_t surface, int x, int y, int face, SIMT_SURFACE_MODE) {
    *value = simt::detail::load_surface<T>(SIMT_SURFACE_AT(x, y, face));
}
template <class T>
void surf1DLayeredwrite(
    T value, cudaSurfaceObject_t surface, int x, int layer, SIMT_SURFACE_MODE) {
    simt::detail::store_surface(SIMT_SURFACE_AT(x, 0, layer), value);
}
template <class T>
void surf2DLayeredwrite(
    T value, cudaSurfaceObject_t surface, int x, int y, int layer, SIMT_SURFACE_MODE) {
    simt::detail::store_surface(SIMT_SURFACE_AT(x, y, layer), value);
}
template <class T>
void surfCubemapwrite(
    T value, cudaSurfaceObject_t surface, int x, int y, int face, SIMT_SURFACE_MODE) {
    simt::detail::store_surface(SIMT_SURFACE_AT(x, y, face), value);
}
template <class T>
void surfCubemapLayeredwrite(
    T value, cudaSurfaceObject_t surface, int x, int y, int face, SIMT_SURFACE_MODE) {
    simt::detail::store_surface(SIMT_SURFACE_AT(x, y, face), value);
}
