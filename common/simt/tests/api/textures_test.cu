#define TEST_GROUP "textures"
#include <cmath>
#include <numeric>
#include <vector>

#include "check.h"

namespace {

template <class T>
__global__ void fetch_linear_memory(cudaTextureObject_t texture, T* out, int first) {
    out[threadIdx.x] = tex1Dfetch<T>(texture, static_cast<int>(threadIdx.x) + first);
}

template <class T>
__global__ void fetch_2d(cudaTextureObject_t texture, const float2* at, T* out) {
    const float2 p = at[threadIdx.x];
    out[threadIdx.x] = tex2D<T>(texture, p.x, p.y);
}

__global__ void fetch_1d(cudaTextureObject_t texture, const float* at, float* out) {
    out[threadIdx.x] = tex1D<float>(texture, at[threadIdx.x]);
}

__global__ void fetch_3d(cudaTextureObject_t texture, float* out) {
    const float x = static_cast<float>(threadIdx.x) + 0.5f;
    out[threadIdx.x] = tex3D<float>(texture, x, 1.5f, 2.5f);
}

__global__ void double_surface(cudaSurfaceObject_t surface, int width, int height) {
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    if (x >= width || y >= height) return;
    float value;
    surf2Dread(&value, surface, x * static_cast<int>(sizeof(float)), y);
    surf2Dwrite(2 * value, surface, x * static_cast<int>(sizeof(float)), y);
}

/// Values in device memory.
template <class T>
struct Device {
    T* p = nullptr;
    size_t size;
    explicit Device(const std::vector<T>& values) : size(values.size()) {
        cudaMalloc(&p, size * sizeof(T));
        cudaMemcpy(p, values.data(), size * sizeof(T), cudaMemcpyHostToDevice);
    }
    Device(const Device&) = delete;
    ~Device() { cudaFree(p); }
    std::vector<T> get() const {
        std::vector<T> values(size);
        cudaMemcpy(values.data(), p, size * sizeof(T), cudaMemcpyDeviceToHost);
        return values;
    }
};

/// A 4 x 3 array of the floats 0 to 11.
struct Image {
    static constexpr int kWidth = 4;
    static constexpr int kHeight = 3;
    cudaArray_t array = nullptr;
    explicit Image(unsigned flags = cudaArrayDefault) {
        std::vector<float> values(kWidth * kHeight);
        std::iota(values.begin(), values.end(), 0.f);
        const auto format = cudaCreateChannelDesc<float>();
        cudaMallocArray(&array, &format, kWidth, kHeight, flags);
        const size_t row = kWidth * sizeof(float);
        cudaMemcpy2DToArray(
            array, 0, 0, values.data(), row, row, kHeight, cudaMemcpyHostToDevice);
    }
    ~Image() { cudaFreeArray(array); }
};

cudaResourceDesc of_array(cudaArray_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

cudaTextureDesc how(cudaTextureAddressMode mode,
                    cudaTextureFilterMode filter,
                    bool normalized) {
    cudaTextureDesc description = {};
    for (auto& each : description.addressMode)
        each = mode;
    description.filterMode = filter;
    description.readMode = cudaReadModeElementType;
    description.normalizedCoords = normalized ? 1 : 0;
    return description;
}

std::vector<float> fetch_image(const cudaTextureDesc& description,
                               const std::vector<float2>& places) {
    const Image image;
    const cudaResourceDesc resource = of_array(image.array);
    cudaTextureObject_t texture = 0;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    const Device<float2> at(places);
    const Device<float> out(std::vector<float>(places.size(), -1.f));
    fetch_2d<<<1, static_cast<unsigned>(places.size())>>>(texture, at.p, out.p);
    OK(cudaDeviceSynchronize());
    OK(cudaDestroyTextureObject(texture));
    return out.get();
}

bool near(const std::vector<float>& got, const std::vector<float>& expected) {
    bool right = got.size() == expected.size();
    for (size_t i = 0; right && i < got.size(); ++i)
        right = std::fabs(got[i] - expected[i]) < 1e-5f;
    if (!right)
        for (const float value : got)
            std::printf("    got %.9g\n", value);
    return right;
}

}  // namespace

TEST(linear_memory) {
    std::vector<float> values(64);
    std::iota(values.begin(), values.end(), 100.f);
    const Device<float> data(values);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = data.p;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = 64 * sizeof(float);
    const cudaTextureDesc description = {};
    cudaTextureObject_t texture = 0;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    const Device<float> out(std::vector<float>(32, -1.f));
    fetch_linear_memory<<<1, 32>>>(texture, out.p, 40);
    OK(cudaDeviceSynchronize());
    EXPECT(out.get()[0] == 140 && out.get()[23] == 163);
    EXPECT(out.get()[24] == 0);  // past the end
    OK(cudaDestroyTextureObject(texture));
}

TEST(vectors_and_integers) {
    const Device<uchar4> data({{1, 2, 3, 4}, {250, 251, 252, 253}});
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = data.p;
    resource.res.linear.desc = cudaCreateChannelDesc<uchar4>();
    resource.res.linear.sizeInBytes = 2 * sizeof(uchar4);
    cudaTextureDesc description = {};
    cudaTextureObject_t texture = 0;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    const Device<uchar4> raw(std::vector<uchar4>(2));
    fetch_linear_memory<<<1, 2>>>(texture, raw.p, 0);
    OK(cudaDeviceSynchronize());
    EXPECT(raw.get()[0].w == 4 && raw.get()[1].x == 250);
    OK(cudaDestroyTextureObject(texture));
    description.readMode = cudaReadModeNormalizedFloat;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    const Device<float4> scaled(std::vector<float4>(2));
    fetch_linear_memory<<<1, 2>>>(texture, scaled.p, 0);
    OK(cudaDeviceSynchronize());
    EXPECT(std::fabs(scaled.get()[0].y - 2.f / 255) < 1e-6f);
    EXPECT(std::fabs(scaled.get()[1].w - 253.f / 255) < 1e-6f);
    OK(cudaDestroyTextureObject(texture));
}

TEST(points_of_an_image) {
    const auto point = how(cudaAddressModeClamp, cudaFilterModePoint, false);
    EXPECT(
        near(fetch_image(point, {{0, 0}, {1.9f, 1.1f}, {3.5f, 2.5f}, {-5, 1}, {9, 9}}),
             {0, 5, 11, 4, 11}));
}

TEST(linear_filtering) {
    const auto linear = how(cudaAddressModeClamp, cudaFilterModeLinear, false);
    EXPECT(near(
        fetch_image(linear, {{0.5f, 0.5f}, {1.0f, 0.5f}, {2.0f, 1.0f}, {1.75f, 2.25f}}),
        {0, 0.5f, 3.5f, 8.25f}));
    // The weight 0.1 is rounded to 26 / 256.
    EXPECT(near(fetch_image(linear, {{0.6f, 0.5f}, {0, 0}}), {26.f / 256, 0}));
}

TEST(address_modes) {
    const auto border = how(cudaAddressModeBorder, cudaFilterModePoint, false);
    EXPECT(near(fetch_image(border, {{-0.5f, 0.5f}, {4.5f, 0.5f}, {3.5f, 0.5f}}),
                {0, 0, 3}));
    const auto wrap = how(cudaAddressModeWrap, cudaFilterModePoint, true);
    EXPECT(near(fetch_image(wrap, {{1.125f, 0.1f}, {-0.125f, 0.1f}, {0.3f, 1.5f}}),
                {0, 3, 5}));
    const auto mirror = how(cudaAddressModeMirror, cudaFilterModePoint, true);
    EXPECT(near(fetch_image(mirror, {{1.1f, 0.1f}, {-0.1f, 0.1f}, {1.9f, 0.1f}}),
                {3, 0, 0}));
}

TEST(pitched_memory_as_a_texture) {
    float* memory = nullptr;
    size_t pitch = 0;
    OK(cudaMallocPitch(&memory, &pitch, 4 * sizeof(float), 3));
    std::vector<float> values(12);
    std::iota(values.begin(), values.end(), 0.f);
    OK(cudaMemcpy2D(memory, pitch, values.data(), 16, 16, 3, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = memory;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = 4;
    resource.res.pitch2D.height = 3;
    resource.res.pitch2D.pitchInBytes = pitch;
    const auto description = how(cudaAddressModeClamp, cudaFilterModePoint, false);
    cudaTextureObject_t texture = 0;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    const Device<float2> at({{2.5f, 1.5f}, {0.5f, 2.5f}});
    const Device<float> out(std::vector<float>(2, -1.f));
    fetch_2d<<<1, 2>>>(texture, at.p, out.p);
    OK(cudaDeviceSynchronize());
    EXPECT(near(out.get(), {6, 8}));
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFree(memory));
}

TEST(one_and_three_dimensions) {
    const auto format = cudaCreateChannelDesc<float>();
    std::vector<float> values(4 * 3 * 3);
    std::iota(values.begin(), values.end(), 0.f);
    cudaArray_t line = nullptr;
    OK(cudaMallocArray(&line, &format, 4));
    OK(cudaMemcpy2DToArray(
        line, 0, 0, values.data(), 16, 16, 1, cudaMemcpyHostToDevice));
    const auto description = how(cudaAddressModeClamp, cudaFilterModeLinear, false);
    cudaResourceDesc resource = of_array(line);
    cudaTextureObject_t texture = 0;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    const Device<float> at({0.5f, 2.0f, 3.75f});
    const Device<float> out(std::vector<float>(4, -1.f));
    fetch_1d<<<1, 3>>>(texture, at.p, out.p);
    OK(cudaDeviceSynchronize());
    EXPECT(near(out.get(), {0, 1.5f, 3, -1}));
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(line));

    cudaArray_t box = nullptr;
    OK(cudaMalloc3DArray(&box, &format, make_cudaExtent(4, 3, 3)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(values.data(), 16, 4, 3);
    copy.dstArray = box;
    copy.extent = make_cudaExtent(4, 3, 3);  // in elements, as an array takes part
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    resource = of_array(box);
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    fetch_3d<<<1, 4>>>(texture, out.p);
    OK(cudaDeviceSynchronize());
    EXPECT(near(out.get(), {28, 29, 30, 31}));
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(box));
}

TEST(surfaces) {
    const Image image(cudaArraySurfaceLoadStore);
    const cudaResourceDesc resource = of_array(image.array);
    cudaSurfaceObject_t surface = 0;
    OK(cudaCreateSurfaceObject(&surface, &resource));
    double_surface<<<1, dim3(8, 8)>>>(surface, Image::kWidth, Image::kHeight);
    OK(cudaDeviceSynchronize());
    std::vector<float> got(Image::kWidth * Image::kHeight);
    const size_t row = Image::kWidth * sizeof(float);
    OK(cudaMemcpy2DFromArray(got.data(),
                             row,
                             image.array,
                             0,
                             0,
                             row,
                             Image::kHeight,
                             cudaMemcpyDeviceToHost));
    EXPECT(got[1] == 2 && got[11] == 22);
    OK(cudaDestroySurfaceObject(surface));
}

TEST(array_descriptions) {
    const Image image;
    cudaChannelFormatDesc format;
    cudaExtent extent;
    unsigned flags = 99;
    OK(cudaArrayGetInfo(&format, &extent, &flags, image.array));
    EXPECT(format.x == 32 && format.y == 0 && format.f == cudaChannelFormatKindFloat);
    EXPECT(extent.width == 4 && extent.height == 3 && extent.depth == 0);
    EXPECT(flags == 0);
    const auto pixel = cudaCreateChannelDesc<uchar4>();
    EXPECT(pixel.x == 8 && pixel.w == 8 && pixel.f == cudaChannelFormatKindUnsigned);
    const auto pair = cudaCreateChannelDesc<int2>();
    EXPECT(pair.y == 32 && pair.z == 0 && pair.f == cudaChannelFormatKindSigned);
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaCreateTextureObject(nullptr, nullptr, nullptr, nullptr));
    OK(cudaFreeArray(nullptr));
}
