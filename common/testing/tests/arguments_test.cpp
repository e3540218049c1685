#include <wb/arguments.h>
#include <wb/errors.h>
#include <wb/scratch.h>
#include <wb/testing/guarded_buffer.h>

#include <cstdint>

#include "support.h"

namespace {

using wb::Arguments;
using wb::testing::contains;

/// The message of the refusal; "" if nothing is refused.
template <class Call>
std::string refusal(Call call) {
    try {
        call(Arguments("saxpy"));
    } catch (const wb::InvalidArgument& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("arguments: sizes may be zero, but not negative") {
    CHECK(refusal([](const Arguments& a) { a.size("n", 0).size("m", INT64_MAX); }) ==
          "");
    CHECK(refusal([](const Arguments& a) { a.size("n", -1); }) ==
          "saxpy: n is -1, but must be >= 0");
}

TEST_CASE("arguments: a positive number is at least one") {
    CHECK(refusal([](const Arguments& a) { a.positive("cols", 1); }) == "");
    CHECK(refusal([](const Arguments& a) { a.positive("cols", 0); }) ==
          "saxpy: cols is 0, but must be >= 1");
}

TEST_CASE("arguments: a condition is told with its value and its requirement") {
    CHECK(refusal([](const Arguments& a) {
              a.require(true, "stride", 3, "must be odd");
          }) == "");
    CHECK(refusal([](const Arguments& a) {
              a.require(false, "stride", 4, "must be odd");
          }) == "saxpy: stride is 4, but must be odd");
}

TEST_CASE("arguments: products are exact up to 2^63 - 1 and refused beyond") {
    const Arguments arguments("gemm");
    CHECK(arguments.product("M * N", {3, 5}) == 15);
    CHECK(arguments.product("M * N", {}) == 1);
    CHECK(arguments.product("M * N", {INT64_MAX, 1}) == INT64_MAX);
    CHECK(arguments.product("M * N * K", {INT64_MAX, INT64_MAX, 0}) == 0);
    CHECK_THROWS_WITH(arguments.product("M * N", {int64_t{1} << 32, int64_t{1} << 31}),
                      contains("M * N = 4294967296 * 2147483648 does not fit"));
    CHECK_THROWS_WITH(arguments.product("M * N", {0, -3}),
                      contains("M * N has a negative factor: 0 * -3"));
}

TEST_CASE("arguments: device memory is accepted, also a part of it") {
    const wb::testing::GuardedBuffer buffer(64);
    const auto* x = static_cast<const float*>(buffer.data());
    CHECK(refusal([&](const Arguments& a) {
              a.device("x", x, 16).device("y", x + 3, 13);
          }) == "");
}

TEST_CASE("arguments: arrays that overlap are refused, neighbours are not") {
    const float x[16] = {};  // the addresses alone matter
    const auto apart = [&](const float* from, int64_t n, const float* to, int64_t m) {
        return refusal(
            [&](const Arguments& a) { a.apart("y - x", from, 4 * n, to, 4 * m); });
    };
    CHECK(apart(x, 8, x + 8, 3) == "");
    CHECK(apart(x + 3, 8, x, 3) == "");
    CHECK(apart(x, 0, x, 3) == "");
    CHECK(apart(x, 3, x, 0) == "");
    CHECK(apart(x, 8, x + 7, 3) ==
          "saxpy: y - x in bytes is 28, but the two arrays must not overlap");
    CHECK(apart(x + 2, 8, x, 3) ==
          "saxpy: y - x in bytes is -8, but the two arrays must not overlap");
    CHECK(apart(x, 8, x, 8) ==
          "saxpy: y - x in bytes is 0, but the two arrays must not overlap");
}

TEST_CASE("arguments: managed memory is accepted") {
    void* managed = nullptr;
    CUDA_CHECK(cudaMallocManaged(&managed, 64));
    const auto text = refusal([&](const Arguments& a) {
        a.device("x", static_cast<const float*>(managed), 16);
    });
    CUDA_CHECK(cudaFree(managed));
    CHECK(text == "");
}

TEST_CASE("arguments: a null pointer is refused unless there are no elements") {
    const float* null = nullptr;
    CHECK(refusal([&](const Arguments& a) { a.device("x", null, 0); }) == "");
    CHECK(refusal([&](const Arguments& a) { a.device("x", null, 5); }) ==
          "saxpy: x is a null pointer, but 5 elements are to be used");
}

TEST_CASE("arguments: host memory is refused, also pinned host memory") {
    float host[4] = {};
    CHECK_THAT(refusal([&](const Arguments& a) { a.device("x", host, 4); }),
               contains("x is a host pointer"));
    void* pinned = nullptr;
    CUDA_CHECK(cudaMallocHost(&pinned, 64));
    const auto text = refusal([&](const Arguments& a) {
        a.device("x", static_cast<const float*>(pinned), 4);
    });
    CUDA_CHECK(cudaFreeHost(pinned));
    CHECK_THAT(text, contains("x is a host pointer"));
}

TEST_CASE("arguments: a pointer between two elements is refused") {
    const wb::testing::GuardedBuffer buffer(64);
    const auto address = reinterpret_cast<std::uintptr_t>(buffer.data()) + 2;
    const auto* x = reinterpret_cast<const float*>(address);
    CHECK(refusal([&](const Arguments& a) { a.device("x", x, 4); }) ==
          "saxpy: x is not aligned to its type: address % 4 is 2");
}

TEST_CASE("arguments: a refusal leaves no CUDA error behind") {
    float host[4] = {};
    CHECK(refusal([&](const Arguments& a) { a.device("x", host, 4); }) != "");
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("arguments: memory that a captured stream has allocated is device memory") {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    std::string words = "nothing was refused, and nothing passed";
    {
        const wb::Scratch<float> scratch(8, stream);
        words = refusal([&](const Arguments& a) {
            a.device("x", scratch.data(), 8).device("y", scratch.data() + 7, 1);
        });
        CHECK(!wb::is_scratch(scratch.data() + 8));
    }
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphDestroy(graph));
    CUDA_CHECK(cudaStreamDestroy(stream));
    CHECK(words == "");
}
