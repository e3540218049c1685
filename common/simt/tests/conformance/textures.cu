// Textures: points and filters, layers, cubes, and the surfaces that write them.
#include "conformance.h"

using namespace conformance;

namespace {

/// An array of floats 0, 1, 2, ..., x fastest, and a texture that reads it.
struct FloatTexture {
    cudaArray_t array = nullptr;
    cudaTextureObject_t texture = 0;
    cudaSurfaceObject_t surface = 0;

    FloatTexture(cudaExtent extent,
                 unsigned flags,
                 cudaTextureFilterMode filter = cudaFilterModePoint,
                 cudaTextureAddressMode mode = cudaAddressModeClamp,
                 bool normalized = false) {
        const auto format = cudaCreateChannelDesc<float>();
        flags |= cudaArraySurfaceLoadStore;
        ok(cudaMalloc3DArray(&array, &format, extent, flags));
        const cudaExtent whole = {extent.width,
                                  extent.height == 0 ? 1 : extent.height,
                                  extent.depth == 0 ? 1 : extent.depth};
        std::vector<float> values(whole.width * whole.height * whole.depth);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>(i);
        cudaMemcpy3DParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(
            values.data(), whole.width * sizeof(float), whole.width, whole.height);
        copy.dstArray = array;
        copy.extent = whole;
        copy.kind = cudaMemcpyHostToDevice;
        ok(cudaMemcpy3D(&copy));
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        cudaTextureDesc how = {};
        for (auto& each : how.addressMode)
            each = mode;
        how.filterMode = filter;
        how.readMode = cudaReadModeElementType;
        how.normalizedCoords = normalized;
        ok(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
        ok(cudaCreateSurfaceObject(&surface, &resource));
    }
    ~FloatTexture() {
        cudaDestroyTextureObject(texture);
        cudaDestroySurfaceObject(surface);
        cudaFreeArray(array);
    }
    FloatTexture(const FloatTexture&) = delete;
};

}  // namespace

CONFORMANCE(a_texture_point_is_the_element_around_it) {
    const FloatTexture image({4, 3, 0}, 0);
    const auto got = run<float>(1, 12, 12, [t = image.texture] __device__(float* out) {
        const int i = static_cast<int>(threadIdx.x);
        out[i] = tex2D<float>(t, static_cast<float>(i % 4) + 0.25f, i / 4 + 0.75f);
    });
    expect_each(got, [](int i) { return i; });
}

CONFORMANCE(a_linear_filter_weighs_four_elements) {
    const FloatTexture image({4, 3, 0}, 0, cudaFilterModeLinear);
    const auto got = run<float>(1, 1, 2, [t = image.texture] __device__(float* out) {
        out[0] = tex2D<float>(t, 1.0f, 0.5f);  // half of 0 and half of 1
        out[1] = tex2D<float>(t, 2.0f, 1.0f);  // a quarter of 1, 2, 5 and 6
    });
    expect_equal(got, std::vector<float>{0.5f, 3.5f});
}

CONFORMANCE(a_texture_repeats_with_normalized_coordinates) {
    const FloatTexture image(
        {4, 3, 0}, 0, cudaFilterModePoint, cudaAddressModeWrap, true);
    const auto got = run<float>(1, 1, 2, [t = image.texture] __device__(float* out) {
        out[0] = tex2D<float>(t, 1.125f, 0.5f);
        out[1] = tex2D<float>(t, -0.125f, 0.5f);
    });
    expect_equal(got, std::vector<float>{4, 7});
}

CONFORMANCE(layers_of_one_dimension) {
    const FloatTexture image({5, 0, 3}, cudaArrayLayered);
    const auto got = run<float>(1, 15, 15, [t = image.texture] __device__(float* out) {
        const int i = static_cast<int>(threadIdx.x);
        out[i] = tex1DLayered<float>(t, static_cast<float>(i % 5) + 0.5f, i / 5);
    });
    expect_each(got, [](int i) { return i; });
}

CONFORMANCE(layers_of_two_dimensions) {
    const FloatTexture image(
        {4, 2, 3}, cudaArrayLayered, cudaFilterModeLinear, cudaAddressModeWrap, true);
    const auto got = run<float>(1, 24, 24, [t = image.texture] __device__(float* out) {
        const int i = static_cast<int>(threadIdx.x);
        const float u = (static_cast<float>(i % 4) + 0.5f) / 4.0f;
        const float v = (static_cast<float>(i / 4 % 2) + 0.5f) / 2.0f;
        out[i] = tex2DLayered<float>(t, u, v, i / 8);
    });
    expect_each(got, [](int i) { return i; });
}

CONFORMANCE(layers_are_not_filtered_together) {
    const FloatTexture image({4, 4, 2}, cudaArrayLayered, cudaFilterModeLinear);
    expect_equal(run_one<float>([t = image.texture] __device__(float* out) {
                     *out = tex2DLayered<float>(t, 2.0f, 3.75f, 0);
                 }),
                 13.5f);
}

CONFORMANCE(a_cube_is_read_in_a_direction) {
    const FloatTexture cube(
        {4, 4, 6}, cudaArrayCubemap, cudaFilterModeLinear, cudaAddressModeWrap, true);
    const auto got = run<float>(1, 96, 96, [t = cube.texture] __device__(float* out) {
        const int i = static_cast<int>(threadIdx.x);
        const float u = (static_cast<float>(i % 4) + 0.5f) / 2.0f - 1.0f;
        const float v = (static_cast<float>(i / 4 % 4) + 0.5f) / 2.0f - 1.0f;
        const float3 to[6] = {
            {1, -v, -u}, {-1, -v, u}, {u, 1, v}, {u, -1, -v}, {u, -v, 1}, {-u, -v, -1}};
        const float3 at = to[i / 16];
        out[i] = texCubemap<float>(t, at.x, at.y, at.z);
    });
    expect_each(got, [](int i) { return i; });
}

CONFORMANCE(a_direction_may_have_any_length) {
    const FloatTexture cube(
        {4, 4, 6}, cudaArrayCubemap, cudaFilterModePoint, cudaAddressModeClamp, true);
    const auto got = run<float>(1, 1, 2, [t = cube.texture] __device__(float* out) {
        out[0] = texCubemap<float>(t, 10.0f, -2.5f, -2.5f);
        out[1] = texCubemap<float>(t, 1.0f, -0.25f, -0.25f);
    });
    expect_equal(got[0], got[1]);
    expect_equal(got[0], 10.0f);
}

CONFORMANCE(layers_of_cubes) {
    const FloatTexture cubes({2, 2, 12},
                             cudaArrayCubemap | cudaArrayLayered,
                             cudaFilterModePoint,
                             cudaAddressModeClamp,
                             true);
    const auto got = run<float>(1, 1, 2, [t = cubes.texture] __device__(float* out) {
        out[0] = texCubemapLayered<float>(t, 0.5f, 1.0f, 0.5f, 0);
        out[1] = texCubemapLayered<float>(t, 0.5f, 1.0f, 0.5f, 1);
    });
    expect_equal(got, std::vector<float>{11, 35});
}

CONFORMANCE(surfaces_write_layers) {
    const FloatTexture image({4, 2, 3}, cudaArrayLayered);
    const auto got = run<float>(
        1, 1, 3, [t = image.texture, s = image.surface] __device__(float* out) {
            surf2DLayeredwrite(100.0f, s, 3 * static_cast<int>(sizeof(float)), 1, 2);
            out[0] =
                surf2DLayeredread<float>(s, 3 * static_cast<int>(sizeof(float)), 1, 2);
            out[1] =
                surf2DLayeredread<float>(s, 3 * static_cast<int>(sizeof(float)), 1, 1);
            out[2] = tex2DLayered<float>(t, 0.5f, 0.5f, 2);
        });
    expect_equal(got, std::vector<float>{100, 15, 16});
}

CONFORMANCE(arrays_of_layers_have_rules) {
    const auto format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    expect_error(cudaMalloc3DArray(&array, &format, {4, 5, 6}, cudaArrayCubemap),
                 cudaErrorInvalidValue);
    expect_error(cudaMalloc3DArray(&array, &format, {4, 4, 5}, cudaArrayCubemap),
                 cudaErrorInvalidValue);
    expect_error(cudaMalloc3DArray(&array, &format, {4, 4, 0}, cudaArrayLayered),
                 cudaErrorInvalidValue);
}
