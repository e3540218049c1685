#include <cuda_fp16.h>
#include <wb/check.h>
#include <wb/errors.h>
#include <wb/loaded_values.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support.h"

using wb::LoadedScales;
using wb::ScaleType;
using wb::testing::contains;

namespace {

/// Numbers in device memory.
template <class T>
struct Loaded {
    T* data = nullptr;
    int64_t count;

    explicit Loaded(const std::vector<T>& values)
        : count(static_cast<int64_t>(values.size())) {
        CUDA_CHECK(
            cudaMalloc(reinterpret_cast<void**>(&data), values.size() * sizeof(T)));
        CUDA_CHECK(cudaMemcpy(
            data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~Loaded() { (void)cudaFree(data); }
    Loaded(const Loaded&) = delete;
    Loaded& operator=(const Loaded&) = delete;
};

/// What is said of these scales; "" if nothing is.
std::string said_of(const LoadedScales& scales) {
    try {
        wb::check_scales("load", scales, nullptr);
    } catch (const wb::InvalidArgument& refusal) {
        return refusal.what();
    }
    return "";
}

template <class T>
std::string said_of(const std::vector<T>& values, ScaleType type) {
    const Loaded<T> on(values);
    return said_of(LoadedScales{"w.scales", on.data, type, on.count});
}

std::string said_of_indices(const std::vector<int32_t>& values, int64_t limit) {
    const Loaded<int32_t> on(values);
    try {
        wb::check_indices("load", "g_idx", on.data, on.count, limit, nullptr);
    } catch (const wb::InvalidArgument& refusal) {
        return refusal.what();
    }
    return "";
}

constexpr float kInfinityOfScale = std::numeric_limits<float>::infinity();
constexpr float kNanOfScale = std::numeric_limits<float>::quiet_NaN();
/// A scale on each side of where a piece of 2^20 bytes ends, and in the last piece.
constexpr int64_t kPiece = int64_t{1} << 20;

}  // namespace

TEST_CASE("loaded scales: floats that are 0, infinite or NaN are named") {
    const auto of = [](float wrong) {
        return said_of(std::vector<float>{1.0f, -2.0f, wrong, 3.0f}, ScaleType::fp32);
    };
    CHECK(of(1e-45f).empty());
    CHECK(of(-1e-45f).empty());
    CHECK(of(std::numeric_limits<float>::max()).empty());
    CHECK(of(0.0f) == "load: w.scales[2] is 0, but must not be");
    CHECK(of(-0.0f) == "load: w.scales[2] is 0, but must not be");
    CHECK(of(kInfinityOfScale) == "load: w.scales[2] is infinity, but must be finite");
    CHECK(of(-kInfinityOfScale) ==
          "load: w.scales[2] is -infinity, but must be finite");
    CHECK(of(kNanOfScale) == "load: w.scales[2] is NaN, but must be a number");
    CHECK(of(-kNanOfScale) == "load: w.scales[2] is NaN, but must be a number");
}

TEST_CASE("loaded scales: halves that are 0, infinite or NaN are named") {
    const auto of = [](float wrong) {
        return said_of(
            std::vector<__half>{static_cast<__half>(1.0f), static_cast<__half>(wrong)},
            ScaleType::fp16);
    };
    CHECK(of(6e-8f).empty());
    CHECK(of(65504.0f).empty());
    CHECK(of(1e-8f) == "load: w.scales[1] is 0, but must not be");  // too small
    CHECK(of(-0.0f) == "load: w.scales[1] is 0, but must not be");
    CHECK(of(1e5f) == "load: w.scales[1] is infinity, but must be finite");
    CHECK(of(-1e5f) == "load: w.scales[1] is -infinity, but must be finite");
    CHECK(of(kNanOfScale) == "load: w.scales[1] is NaN, but must be a number");
}

TEST_CASE("loaded scales: of all bytes, only those of 0 and NaN are refused") {
    for (int byte = 0; byte < 256; ++byte) {
        INFO("byte " << byte);
        const std::vector<uint8_t> bytes = {1, static_cast<uint8_t>(byte)};
        const auto e4m3 = said_of(bytes, ScaleType::e4m3);
        const auto e8m0 = said_of(bytes, ScaleType::e8m0);
        if (byte % 128 == 0)
            CHECK(e4m3 == "load: w.scales[1] is 0, but must not be");
        else if (byte % 128 == 127)
            CHECK(e4m3 == "load: w.scales[1] is NaN, but must be a number");
        else
            CHECK(e4m3.empty());
        if (byte == 255)
            CHECK(e8m0 == "load: w.scales[1] is NaN, but must be a number");
        else
            CHECK(e8m0.empty());
    }
}

TEST_CASE("loaded scales: the first wrong one is named, wherever it is") {
    const int64_t count = 2 * kPiece / 4 + 3;
    const int64_t place = GENERATE(as<int64_t>(),
                                   0,
                                   kPiece / 4 - 1,
                                   kPiece / 4,
                                   2 * kPiece / 4,
                                   2 * kPiece / 4 + 2);
    std::vector<float> scales(static_cast<std::size_t>(count), 0.5f);
    CHECK(said_of(scales, ScaleType::fp32).empty());
    for (int64_t i = place; i < count; ++i)
        scales[static_cast<std::size_t>(i)] = i == place ? kNanOfScale : 0.0f;
    CHECK(said_of(scales, ScaleType::fp32) ==
          "load: w.scales[" + std::to_string(place) + "] is NaN, but must be a number");
}

TEST_CASE("loaded scales: 0 is right for a group of zeros, and for no other") {
    // Groups of three bytes; 0x88 are two numbers of 4 bits that are -0.
    const Loaded<float> scales({1.0f, 0.0f, -0.0f, 2.0f, 0.0f});
    std::vector<uint8_t> bytes = {7, 1, 2, 0, 0x88, 0x80, 0x08, 0, 0, 1, 1, 1, 0, 0, 0};
    const auto said = [&](uint8_t digits) {
        const Loaded<uint8_t> numbers(bytes);
        return said_of(LoadedScales{"w.scales",
                                    scales.data,
                                    ScaleType::fp32,
                                    scales.count,
                                    numbers.data,
                                    3,
                                    digits});
    };
    const auto refused = [](int place) {
        return "load: w.scales[" + std::to_string(place) +
               "] is 0, but must not be: not all of its numbers are 0";
    };
    CHECK(said(0x77).empty());
    CHECK(said(0xFF) == refused(1));
    for (const int place : {3, 5, 6, 8, 12, 14}) {
        INFO("byte " << place);
        const uint8_t before = bytes[static_cast<std::size_t>(place)];
        bytes[static_cast<std::size_t>(place)] = 0x10;
        CHECK(said(0x77) == refused(place / 3));
        bytes[static_cast<std::size_t>(place)] = before;
    }
}

TEST_CASE("loaded scales: a group of more than one piece is looked at to its end") {
    const Loaded<float> scales({1.0f, 0.0f});
    const int64_t of_group = kPiece + 5;
    std::vector<uint8_t> bytes(static_cast<std::size_t>(2 * of_group));
    for (const bool has_number : {false, true}) {
        if (has_number) bytes.back() = 1;
        const Loaded<uint8_t> numbers(bytes);
        const auto said = said_of(LoadedScales{
            "s", scales.data, ScaleType::fp32, 2, numbers.data, of_group, 0xFF});
        CHECK(said.empty() != has_number);
        if (has_number) CHECK_THAT(said, contains("load: s[1] is 0"));
    }
}

TEST_CASE("loaded scales: what the stream does before is waited for") {
    cudaStream_t stream = nullptr;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const Loaded<float> scales(std::vector<float>(1024, 1.0f));
    CUDA_CHECK(cudaMemsetAsync(scales.data, 0xFF, 1024 * sizeof(float), stream));
    CHECK_THROWS_AS(
        wb::check_scales(
            "load", LoadedScales{"s", scales.data, ScaleType::fp32, 1024}, stream),
        wb::InvalidArgument);
    CUDA_CHECK(cudaStreamDestroy(stream));
}

TEST_CASE("loaded scales: none are right") {
    CHECK(said_of(LoadedScales{"s", nullptr, ScaleType::fp32, 0}).empty());
}

TEST_CASE("loaded indices: the first that does not exist is named") {
    CHECK(said_of_indices({0, 3, 2, 3}, 4).empty());
    CHECK(said_of_indices({0, 3, 4, -1}, 4) ==
          "load: g_idx[2] is 4, but must be from 0 to 3");
    CHECK(said_of_indices({0, 3, -1}, 4) ==
          "load: g_idx[2] is -1, but must be from 0 to 3");
    CHECK(said_of_indices({INT32_MIN}, 4) ==
          "load: g_idx[0] is -2147483648, but must be from 0 to 3");
    std::vector<int32_t> many(static_cast<std::size_t>(kPiece / 4 + 2), 1);
    CHECK(said_of_indices(many, 2).empty());
    many.back() = 2;
    CHECK(said_of_indices(many, 2) == "load: g_idx[" + std::to_string(kPiece / 4 + 1) +
                                          "] is 2, but must be from 0 to 1");
}
