// Texture and surface objects: creation, and what kernels fetch through them.

#include "simt/texture.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "api/array.h"
#include "api/call.h"
#include "api/handles.h"
#include "api/pointers.h"
#include "simt/fault.h"
#include "simt/half.h"

namespace simt::detail {
namespace {

/// A texture or surface: memory with a format, and the way to read it.
struct Texture {
    char* data = nullptr;
    cudaChannelFormatDesc format = {};
    size_t element_bytes = 0;
    size_t pitch = 0;
    long long size[3] = {1, 1, 1};  // in elements; layers are slices
    unsigned int flags = 0;         // of the array
    cudaTextureDesc how = {};

    const char* at(long long x, long long y, long long z) const {
        const auto row = static_cast<size_t>(z * size[1] + y);
        return data + row * pitch + static_cast<size_t>(x) * element_bytes;
    }
};

HandleTable<Texture>& textures() {
    static auto* const table = new HandleTable<Texture>;
    return *table;
}

Texture& texture_of(unsigned long long object) {
    return *reinterpret_cast<Texture*>(object);
}

bool describe(const cudaResourceDesc& resource, Texture& texture, cudaError_t* error) {
    *error = cudaErrorInvalidValue;
    switch (resource.resType) {
        case cudaResourceTypeArray: {
            const cudaArray* array = resource.res.array.array;
            if (!is_array(array)) return false;
            texture.data = array->data;
            texture.format = array->format;
            texture.pitch = array->pitch();
            texture.size[0] = static_cast<long long>(array->extent.width);
            texture.size[1] = static_cast<long long>(array->rows());
            texture.size[2] = static_cast<long long>(array->slices());
            texture.flags = array->flags;
            break;
        }
        case cudaResourceTypeLinear:
            texture.data = static_cast<char*>(resource.res.linear.devPtr);
            texture.format = resource.res.linear.desc;
            texture.pitch = resource.res.linear.sizeInBytes;
            break;
        case cudaResourceTypePitch2D:
            texture.data = static_cast<char*>(resource.res.pitch2D.devPtr);
            texture.format = resource.res.pitch2D.desc;
            texture.pitch = resource.res.pitch2D.pitchInBytes;
            texture.size[0] = static_cast<long long>(resource.res.pitch2D.width);
            texture.size[1] = static_cast<long long>(resource.res.pitch2D.height);
            break;
        default:
            hint("textures of mipmapped arrays are not simulated");
            *error = cudaErrorNotSupported;
            return false;
    }
    const cudaChannelFormatDesc& f = texture.format;
    texture.element_bytes = static_cast<size_t>(f.x + f.y + f.z + f.w) / 8;
    if (texture.element_bytes == 0) return false;
    if (resource.resType == cudaResourceTypeLinear)
        texture.size[0] = static_cast<long long>(resource.res.linear.sizeInBytes /
                                                 texture.element_bytes);
    const size_t bytes = texture.pitch * static_cast<size_t>(texture.size[1]) *
                         static_cast<size_t>(texture.size[2]);
    return check_range(texture.data, bytes, Side::device, "cudaCreateTextureObject",
                       "the resource");
}

/// One channel as a number: floats as they are, integers scaled to [0, 1] or [-1, 1]
/// where the texture is read as normalised.
float channel_value(const Texture& texture, const char* bytes, int bits) {
    const bool is_signed = texture.format.f == cudaChannelFormatKindSigned;
    if (texture.format.f == cudaChannelFormatKindFloat) {
        if (bits == 16) {
            __half value;
            std::memcpy(&value, bytes, sizeof value);
            return static_cast<float>(value);
        }
        float value;
        std::memcpy(&value, bytes, sizeof value);
        return value;
    }
    if (bits == 8) {
        const auto raw = static_cast<unsigned char>(*bytes);
        if (!is_signed) return static_cast<float>(raw) / 255.0f;
        return std::fmax(static_cast<float>(static_cast<signed char>(raw)) / 127.0f,
                         -1.f);
    }
    uint16_t raw;
    std::memcpy(&raw, bytes, sizeof raw);
    if (!is_signed) return static_cast<float>(raw) / 65535.0f;
    return std::fmax(static_cast<float>(static_cast<int16_t>(raw)) / 32767.0f, -1.f);
}

/// The place of index `i` in a dimension of `size` elements; -1 for the border.
long long place(long long i, long long size, cudaTextureAddressMode mode) {
    if (i >= 0 && i < size) return i;
    switch (mode) {
        case cudaAddressModeWrap:
            return (i % size + size) % size;
        case cudaAddressModeMirror: {
            const long long period = (i % (2 * size) + 2 * size) % (2 * size);
            return period < size ? period : 2 * size - 1 - period;
        }
        case cudaAddressModeBorder:
            return -1;
        default:
            return i < 0 ? 0 : size - 1;
    }
}

/// Address modes that repeat the texture need normalised coordinates; otherwise CUDA
/// clamps.
cudaTextureAddressMode mode_of(const Texture& texture, int dimension) {
    const cudaTextureAddressMode mode = texture.how.addressMode[dimension];
    const bool repeats = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
    return repeats && !texture.how.normalizedCoords ? cudaAddressModeClamp : mode;
}

struct Position {
    long long index[3];
};

/// The element at a position, or null for the border.
const char* element(const Texture& texture, const Position& position, int dimensions) {
    long long at[3] = {0, 0, 0};
    for (int d = 0; d < dimensions; ++d) {
        at[d] = place(position.index[d], texture.size[d], mode_of(texture, d));
        if (at[d] < 0) return nullptr;
    }
    return texture.at(at[0], at[1], at[2]);
}

void read_floats(const Texture& texture, const char* bytes, float out[4]) {
    const int bits[4] = {texture.format.x, texture.format.y, texture.format.z,
                         texture.format.w};
    for (int c = 0; c < 4; ++c) {
        out[c] = 0;
        if (!bytes)
            out[c] = texture.how.borderColor[c];
        else if (bits[c] != 0)
            out[c] = channel_value(texture, bytes + c * bits[c] / 8, bits[c]);
    }
}

/// Copies an element's bytes to a value of the program's type.
void read_raw(const Texture& texture, const char* bytes, void* out, int count,
              size_t size) {
    const size_t wanted = static_cast<size_t>(count) * size;
    const size_t given =
        texture.element_bytes < wanted ? texture.element_bytes : wanted;
    if (bytes) std::memcpy(out, bytes, given);
}

/// Linear filtering over the 2, 4 or 8 nearest elements. Weights have 8 fractional
/// bits.
void filter(const Texture& texture, const float at[3], int dimensions, float out[4]) {
    Position base;
    float weight[3] = {0, 0, 0};
    for (int d = 0; d < dimensions; ++d) {
        const float shifted = at[d] - 0.5f;
        const float whole = std::floor(shifted);
        base.index[d] = static_cast<long long>(whole);
        weight[d] = std::floor((shifted - whole) * 256.0f + 0.5f) / 256.0f;
    }
    for (int c = 0; c < 4; ++c)
        out[c] = 0;
    for (int corner = 0; corner < 1 << dimensions; ++corner) {
        Position position = base;
        float share = 1;
        for (int d = 0; d < dimensions; ++d) {
            const bool upper = corner >> d & 1;
            if (upper) ++position.index[d];
            share *= upper ? weight[d] : 1 - weight[d];
        }
        if (share == 0) continue;
        float value[4];
        read_floats(texture, element(texture, position, dimensions), value);
        for (int c = 0; c < 4; ++c)
            out[c] += share * value[c];
    }
}

/// The face of a cube that a direction meets, and where on it, in [0, 1]: the table of
/// CUDA's guide ("Cubemap Textures").
int face_of(Fetch& at) {
    const float x = at.x, y = at.y, z = at.z;
    const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    int face = z >= 0 ? 4 : 5;
    float major = az, s = z >= 0 ? x : -x, t = -y;
    if (ax > ay && ax > az) {
        face = x >= 0 ? 0 : 1;
        major = ax, s = x >= 0 ? -z : z, t = -y;
    } else if (ay > az) {
        face = y >= 0 ? 2 : 3;
        major = ay, s = x, t = y >= 0 ? z : -z;
    }
    at.x = (s / major + 1) / 2;
    at.y = (t / major + 1) / 2;
    return face;
}

/// One layer of a texture, or one face of a cube, as a texture of its own.
Texture slice_of(const Texture& texture, Fetch& at) {
    const bool cube = at.from == Fetch::From::cube;
    const bool made_for_it = cube ? (texture.flags & cudaArrayCubemap) != 0
                                  : (texture.flags & cudaArrayLayered) != 0;
    if (!made_for_it)
        fault(cudaErrorLaunchFailure, nullptr, 0,
              "%s of a texture whose array is not %s",
              cube ? "texCubemap" : "tex1DLayered or tex2DLayered",
              cube ? "a cube (cudaArrayCubemap)" : "layered (cudaArrayLayered)");
    const long long layers = texture.size[2] / (cube ? 6 : 1);
    if (at.layer < 0 || at.layer >= layers)
        fault(cudaErrorIllegalAddress, nullptr, 0,
              "layer %d of a texture with %lld layers", at.layer, layers);
    const long long slice = cube ? 6 * at.layer + face_of(at) : at.layer;
    Texture result = texture;
    result.data = const_cast<char*>(texture.at(0, 0, slice));
    result.size[2] = 1;
    return result;
}

/// True if elements are read as floats: they are floats, or are to be normalised.
bool gives_floats(const Texture& texture) {
    return texture.format.f == cudaChannelFormatKindFloat ||
           texture.how.readMode == cudaReadModeNormalizedFloat;
}

/// Reads an element, or filters between several.
void fetch_from(const Texture& texture, const Fetch& where, void* out, int count,
                size_t size, bool as_float) {
    float at[3] = {where.x, where.y, where.z};
    for (int d = 0; d < where.dimensions && texture.how.normalizedCoords; ++d)
        at[d] *= static_cast<float>(texture.size[d]);
    const bool floats = as_float && size == sizeof(float) && gives_floats(texture);
    if (floats && texture.how.filterMode == cudaFilterModeLinear) {
        float value[4];
        filter(texture, at, where.dimensions, value);
        std::memcpy(out, value, static_cast<size_t>(count) * sizeof(float));
        return;
    }
    Position position = {};
    for (int d = 0; d < where.dimensions; ++d)
        position.index[d] = static_cast<long long>(std::floor(at[d]));
    const char* bytes = element(texture, position, where.dimensions);
    if (!floats) return read_raw(texture, bytes, out, count, size);
    float value[4];
    read_floats(texture, bytes, value);
    std::memcpy(out, value, static_cast<size_t>(count) * sizeof(float));
}

}  // namespace

void fetch_texel(cudaTextureObject_t object, const Fetch& where, void* out, int count,
                 size_t size, bool as_float) {
    const Texture& whole = texture_of(object);
    if (where.from != Fetch::From::whole) {
        Fetch inside = where;
        const Texture slice = slice_of(whole, inside);
        return fetch_from(slice, inside, out, count, size, as_float);
    }
    fetch_from(whole, where, out, count, size, as_float);
}

void fetch_linear(cudaTextureObject_t object, int index, void* out, int count,
                  size_t size, bool as_float) {
    const Texture& texture = texture_of(object);
    if (index < 0 || index >= texture.size[0]) return;  // the value stays zero
    const char* bytes = texture.at(index, 0, 0);
    if (!as_float || size != sizeof(float) || !gives_floats(texture))
        return read_raw(texture, bytes, out, count, size);
    float value[4];
    read_floats(texture, bytes, value);
    std::memcpy(out, value, static_cast<size_t>(count) * sizeof(float));
}

void* surface_address(cudaSurfaceObject_t object, int x, int y, int z, size_t bytes,
                      cudaSurfaceBoundaryMode mode, const char* file, int line) {
    const Texture& surface = texture_of(object);
    const auto width = static_cast<long long>(surface.pitch);
    const auto size = static_cast<long long>(bytes);
    const bool inside = x >= 0 && x + size <= width && y >= 0 && y < surface.size[1] &&
                        z >= 0 && z < surface.size[2];
    if (!inside && mode == cudaBoundaryModeTrap)
        fault(
            cudaErrorIllegalAddress, file, line,
            "surface access at byte %d, row %d, slice %d, but the surface has rows of "
            "%lld bytes, %lld rows, %lld slices (x counts bytes, not elements)",
            x, y, z, width, surface.size[1], surface.size[2]);
    if (!inside && mode == cudaBoundaryModeZero) return nullptr;
    const long long column = place(x / size, width / size, cudaAddressModeClamp) * size;
    const long long row = place(y, surface.size[1], cudaAddressModeClamp);
    const long long slice = place(z, surface.size[2], cudaAddressModeClamp);
    return const_cast<char*>(surface.at(0, row, slice)) + (inside ? x : column);
}

}  // namespace simt::detail

using namespace simt::detail;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture,
                                    const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc* view) {
    return api_call([&] {
        if (!texture || !resource || !description) return cudaErrorInvalidValue;
        if (view || description->sRGB) {
            hint("resource views and sRGB textures are not simulated");
            return cudaErrorNotSupported;
        }
        auto created = std::make_unique<Texture>();
        cudaError_t error = cudaSuccess;
        if (!describe(*resource, *created, &error)) return error;
        created->how = *description;
        if (created->flags & cudaArrayCubemap) {
            const bool linear = description->filterMode == cudaFilterModeLinear;
            if (!description->normalizedCoords ||
                (description->seamlessCubemap && linear)) {
                hint(
                    "cubes without normalized coordinates, and filtering across their "
                    "edges (seamlessCubemap), are not simulated");
                return cudaErrorNotSupported;
            }
            if (description->seamlessCubemap)
                for (auto& mode : created->how.addressMode)
                    mode = cudaAddressModeClamp;
        }
        const bool integers = created->format.f != cudaChannelFormatKindFloat;
        const bool element_type = description->readMode == cudaReadModeElementType;
        // Integers can be filtered only when they are read as normalised floats.
        if (integers && element_type && description->filterMode == cudaFilterModeLinear)
            return cudaErrorInvalidFilterSetting;
        if (integers && !element_type && created->format.x == 32)
            return cudaErrorInvalidNormSetting;
        *texture = reinterpret_cast<cudaTextureObject_t>(
            textures().insert(std::move(created)));
        return cudaSuccess;
    });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
    return api_call([&] {
        if (texture == 0) return cudaSuccess;
        const auto removed = textures().remove(reinterpret_cast<Texture*>(texture));
        return removed ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                    const cudaResourceDesc* resource) {
    return api_call([&] {
        if (!surface || !resource || resource->resType != cudaResourceTypeArray)
            return cudaErrorInvalidValue;
        auto created = std::make_unique<Texture>();
        cudaError_t error = cudaSuccess;
        if (!describe(*resource, *created, &error)) return error;
        *surface = reinterpret_cast<cudaSurfaceObject_t>(
            textures().insert(std::move(created)));
        return cudaSuccess;
    });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
    return cudaDestroyTextureObject(surface);
}
