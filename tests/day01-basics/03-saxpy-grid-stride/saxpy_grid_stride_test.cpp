// Grades day01-basics/03-saxpy-grid-stride.
#include "saxpy_grid_stride.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/implementations.h>
#include <wb/reference/saxpy.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/covering.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/random.h>
#include <wb/testing/special_values.h>

#include <algorithm>
#include <cfloat>
#include <cstdio>
#include <cstring>
#include <functional>
#include <tuple>

namespace {

using wb::testing::Grader;

/// One case: sizes, the grid and the seed of the random arrays.
struct Case {
    int64_t n;
    int num_blocks;
    float alpha = 2.5f;
    uint64_t seed = 1;
};

std::string text(const Case& c) {
    char alpha[32];
    std::snprintf(alpha, sizeof alpha, "%.9g", static_cast<double>(c.alpha));
    return "n = " + std::to_string(c.n) +
           ", num_blocks = " + std::to_string(c.num_blocks) + ", alpha = " + alpha +
           ", seed " + std::to_string(c.seed);
}

/// Fails the test case, in the learner's words.
[[noreturn]] void report(const std::string& what, const std::string& instead = "") {
    wb::testing::fail(wb::testing::Kind::contract, what, instead);
}

/// Covers both ways to compute alpha * x + y. Fused: one rounding of the exact result,
/// u |alpha x + y|. Not fused: the product's rounding, u |alpha x|, goes through the
/// addition, which adds the rounding of the result.
double bound(float alpha, float x, double expected) {
    return wb::testing::float_bound(1, std::abs(double{alpha} * double{x})) +
           wb::testing::float_bound(1, std::abs(expected));
}

void grade_saxpy(const Case& c) {
    const auto x = wb::testing::random_normal(c.n, c.seed);
    const auto y = wb::testing::random_normal(c.n, c.seed + 1000);
    const auto expected = wb::reference::saxpy(c.alpha, x, y);
    for (const auto& [name, idea, saxpy] :
         wb::implementations("saxpy_grid_stride", saxpy_grid_stride)) {
        Grader grade(name, text(c));
        const float* d_x = grade.input("x", x);
        float* d_y = grade.in_out("y", {c.n}, y);
        grade.run([&, saxpy = saxpy](cudaStream_t stream) {
            saxpy(c.alpha, d_x, d_y, c.n, c.num_blocks, stream);
        });
        grade.expect("y", expected, [&](int64_t i) {
            return bound(c.alpha, x[i], expected[i]);
        });
    }
}

/// Slices that start at elements of their own; y may be x.
void grade_slices(const wb::testing::Combination& c) {
    const int64_t n = c["n"];
    const int64_t y_start = c["y from"];
    const bool is_x = c.words("y is") == "x";
    const int64_t x_start = is_x ? y_start : c["x from"];
    const float alpha = std::stof(c.words("alpha"));
    const auto blocks = static_cast<int>(c["blocks"]);
    const auto at = [](int64_t i) { return static_cast<std::size_t>(i); };
    const auto y = wb::testing::random_normal(n + 3, 2);
    const auto x = is_x ? y : wb::testing::random_normal(n + 3, 1);
    std::vector<double> expected(y.begin(), y.end());
    for (int64_t i = 0; i < n; ++i)
        expected[at(y_start + i)] += double{alpha} * double{x[at(x_start + i)]};
    for (const auto& [name, idea, saxpy] :
         wb::implementations("saxpy_grid_stride", saxpy_grid_stride)) {
        Grader grade(name, c.text());
        float* d_y = grade.in_out("y", {n + 3}, y);
        const float* d_x = is_x ? d_y : grade.input("x", x);
        grade.run([&, saxpy = saxpy](cudaStream_t stream) {
            saxpy(alpha, d_x + x_start, d_y + y_start, n, blocks, stream);
        });
        grade.expect("y", expected, [&](int64_t i) {
            const int64_t k = i - y_start;
            if (k < 0 || k >= n) return 0.0;  // not part of the slice
            return bound(alpha, x[at(x_start + k)], expected[at(i)]);
        });
    }
}

/// A graph of what `call` puts onto its stream; nothing runs.
cudaGraph_t capture(const std::string& what,
                    const std::function<void(cudaStream_t)>& call) {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    try {
        call(stream);
    } catch (const wb::NotSolved& unsolved) {
        (void)cudaStreamEndCapture(stream, &graph);  // the next case is not captured
        wb::testing::fail(unsolved);
    } catch (const std::exception& error) {
        (void)cudaStreamEndCapture(stream, &graph);
        report(what, error.what());
    }
    const cudaError_t captured = cudaStreamEndCapture(stream, &graph);
    if (captured != cudaSuccess) {
        report(what,
               std::string("launch on the given stream, and do not synchronise: ") +
                   cudaGetErrorName(captured));
    }
    CUDA_CHECK(cudaStreamDestroy(stream));
    return graph;
}

}  // namespace

TEST_CASE("one block does all the work") {
    grade_saxpy(
        {.n = GENERATE(as<int64_t>(), 33, 1, 31, 32, 256, 257, 1000), .num_blocks = 1});
}

TEST_CASE("several blocks share the work") {
    grade_saxpy({.n = GENERATE(as<int64_t>(), 512, 1000, 4096),
                 .num_blocks = GENERATE(2, 3, 7),
                 .seed = GENERATE(as<uint64_t>(), 1, 2)});
}

TEST_CASE("nothing is kept from call to call") {
    wb::testing::expect_independent(
        [&] { grade_saxpy({.n = 300, .num_blocks = 2}); },
        [&] { grade_saxpy({.n = 1000, .num_blocks = 7, .alpha = -0.5f, .seed = 2}); });
}

TEST_CASE("more threads than elements") {
    grade_saxpy({.n = GENERATE(as<int64_t>(), 33, 1, 1000), .num_blocks = 132});
}

TEST_CASE("a prime number of elements, so that nothing divides evenly") {
    grade_saxpy({.n = GENERATE(as<int64_t>(), 97, 1009, 65537),
                 .num_blocks = GENERATE(1, 5),
                 .seed = GENERATE(as<uint64_t>(), 1, 2, 3)});
}

TEST_CASE("a million elements and one more", "[long]") {
    grade_saxpy({.n = (1 << 20) + 1, .num_blocks = GENERATE(1, 8192)});
}

TEST_CASE("more than 2^21 elements", "[long]") {
    grade_saxpy({.n = (1 << 21) + 1, .num_blocks = 132});
}

TEST_CASE("more elements than a float can count", "[long]") {
    constexpr int64_t kN = (int64_t{1} << 24) + 5;
    std::vector<float> x(static_cast<size_t>(kN), 0.0f);
    std::vector<double> expected(x.begin(), x.end());
    for (size_t i = 1; i <= 7; ++i) {
        x[x.size() - i] = static_cast<float>(i);
        expected[x.size() - i] = 3.0 * static_cast<double>(i);
    }
    Grader grade("saxpy_grid_stride", text({kN, 132, 2.0f}) + ", y is x");
    float* d_y = grade.in_out("y", {kN}, x);
    grade.run([&](cudaStream_t s) { saxpy_grid_stride(2.0f, d_y, d_y, kN, 132, s); });
    grade.expect("y", expected, [](int64_t) { return 0.0; });
}

TEST_CASE("alpha may be zero, negative, large or small") {
    grade_saxpy({.n = 1003,
                 .num_blocks = 3,
                 .alpha = GENERATE(0.0f, 1.0f, -1.0f, 1e30f, 1e-30f),
                 .seed = 4});
}

TEST_CASE("every grid size gives the same bits") {
    constexpr int64_t kN = 4099;
    const auto x = wb::testing::random_normal(kN, 1);
    const auto y = wb::testing::random_normal(kN, 2);
    for (const auto& [name, idea, saxpy] :
         wb::implementations("saxpy_grid_stride", saxpy_grid_stride)) {
        std::vector<double> first;
        for (const int num_blocks : {1, 2, 3, 17, 1000}) {
            const std::string what = name + ", " + text({kN, num_blocks, 2.5f, 1});
            Grader grade(name, text({kN, num_blocks, 2.5f, 1}));
            const float* d_x = grade.input("x", x);
            float* d_y = grade.in_out("y", {kN}, y);
            grade.run([&, saxpy = saxpy](cudaStream_t stream) {
                saxpy(2.5f, d_x, d_y, kN, num_blocks, stream);
            });
            const std::vector<double> result = grade.read("y");
            if (first.empty()) first = result;
            if (result != first) {
                report(what, "the result is another one than with num_blocks = 1");
            }
        }
    }
}

TEST_CASE("the grid has as many blocks as the caller says") {
    for (const auto& [name, idea, saxpy] :
         wb::implementations("saxpy_grid_stride", saxpy_grid_stride)) {
        for (const int num_blocks : {1, 5, 132, 70'000}) {
            const Case c{1000, num_blocks};
            const std::string what = name + ", " + text(c);
            Grader memory(name, text(c));
            float* d = memory.output<float>("d", {c.n});
            const cudaGraph_t graph =
                capture(what, [&, saxpy = saxpy](cudaStream_t stream) {
                    saxpy(c.alpha, d, d, c.n, c.num_blocks, stream);
                });
            cudaGraphNode_t node = nullptr;
            std::size_t count = 0;
            CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &count));
            if (count != 1) {
                report(what,
                       "one launch should be on the caller's stream, but there are " +
                           std::to_string(count) + " operations");
            }
            cudaKernelNodeParams launch{};
            CUDA_CHECK(cudaGraphGetNodes(graph, &node, &count));
            CUDA_CHECK(cudaGraphKernelNodeGetParams(node, &launch));
            CUDA_CHECK(cudaGraphDestroy(graph));
            if (launch.gridDim.x != static_cast<unsigned>(num_blocks) ||
                launch.gridDim.y != 1 || launch.gridDim.z != 1) {
                const bool is_larger =
                    launch.gridDim.x > static_cast<unsigned>(num_blocks);
                report(what,
                       "the grid has " + std::to_string(launch.gridDim.x) + " blocks" +
                           (is_larger ? ": it must not grow with n, the loop is there "
                                        "for that"
                                      : ", and must have as many as the caller says"));
            }
        }
    }
}

TEST_CASE("y may be x itself") {
    constexpr int64_t kN = 1003;
    const auto y = wb::testing::random_normal(kN, 3);
    const auto expected = wb::reference::saxpy(2.5f, y, y);
    for (const auto& [name, idea, saxpy] :
         wb::implementations("saxpy_grid_stride", saxpy_grid_stride)) {
        Grader grade(name, "x is y, " + text({kN, 2, 2.5f, 3}));
        float* d_y = grade.in_out("y", {kN}, y);
        grade.run([&, saxpy = saxpy](cudaStream_t stream) {
            saxpy(2.5f, d_y, d_y, kN, 2, stream);
        });
        grade.expect(
            "y", expected, [&](int64_t i) { return bound(2.5f, y[i], expected[i]); });
    }
}

TEST_CASE("slices that start at any element") {
    // x + 1 is no address for a float4, and y may be one when x is not.
    constexpr int64_t kN = 1003;
    const auto starts =
        GENERATE(table<int64_t, int64_t>({{1, 1}, {0, 1}, {1, 0}, {2, 3}}));
    const int64_t x_start = std::get<0>(starts);
    const int64_t y_start = std::get<1>(starts);
    const int64_t n = kN - 3;
    const auto x = wb::testing::random_normal(kN, 1);
    const auto y = wb::testing::random_normal(kN, 2);
    std::vector<double> expected(y.begin(), y.end());
    for (int64_t i = 0; i < n; ++i) {
        expected[y_start + i] += 2.5 * double{x[x_start + i]};
    }
    for (const auto& [name, idea, saxpy] :
         wb::implementations("saxpy_grid_stride", saxpy_grid_stride)) {
        Grader grade(name,
                     "x starts at element " + std::to_string(x_start) +
                         " and y at element " + std::to_string(y_start) +
                         " of their arrays, " + text({n, 2}));
        const float* d_x = grade.input("x", x) + x_start;
        float* d_y = grade.in_out("y", {kN}, y);
        grade.run([&, saxpy = saxpy](cudaStream_t stream) {
            saxpy(2.5f, d_x, d_y + y_start, n, 2, stream);
        });
        grade.expect("y", expected, [&](int64_t i) {
            const int64_t k = i - y_start;
            if (k < 0 || k >= n) return 0.0;  // not part of the slice
            return bound(2.5f, x[x_start + k], expected[i]);
        });
    }
}

TEST_CASE("tiny numbers, infinities and no numbers at all") {
    // The products are exact, so that fused or not there is one rounding.
    const float alpha = GENERATE(1.0f, -2.0f, 0.0f);
    auto [x, y] = wb::testing::special_pairs();
    if (alpha == -2.0f) std::replace(x.begin(), x.end(), -FLT_MAX, 3.0f);
    if (alpha == -2.0f) std::replace(x.begin(), x.end(), FLT_MAX, 3.0f);
    const auto n = static_cast<int64_t>(x.size());
    std::vector<double> expected;
    for (size_t i = 0; i < x.size(); ++i)
        expected.push_back(alpha * x[i] + y[i]);
    for (const auto& [name, idea, saxpy] :
         wb::implementations("saxpy_grid_stride", saxpy_grid_stride)) {
        Grader grade(name, "special numbers, alpha = " + std::to_string(alpha));
        const float* d_x = grade.input("x", x);
        float* d_y = grade.in_out("y", {n}, y);
        grade.run([&, saxpy = saxpy](cudaStream_t stream) {
            saxpy(alpha, d_x, d_y, n, 3, stream);
        });
        grade.expect("y", expected, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("whole blocks of 1024, and one element more or less") {
    grade_saxpy({.n = GENERATE(as<int64_t>(), 65535, 65536, 8192), .num_blocks = 8});
}

TEST_CASE("all work is queued on the caller's stream, and nobody waits for it") {
    const int start = GENERATE(0, 1);  // aligned for a float4, and not
    constexpr int64_t kN = 1000;
    for (const auto& [name, idea, saxpy] :
         wb::implementations("saxpy_grid_stride", saxpy_grid_stride)) {
        Grader grade(name,
                     text({kN, 2}) + ", from element " + std::to_string(start) + " on");
        const std::vector<float> zeros(kN + 1, 0.0f);
        const float* d_x = grade.input("x", zeros) + start;
        float* d_y = grade.output<float>("y", {kN + 1}) + start;
        grade.expect_queued(
            [&, saxpy = saxpy](cudaStream_t s) { saxpy(2.0f, d_x, d_y, kN, 2, s); });
    }
}

TEST_CASE("edges meet: sizes, grids, alpha, where slices start") {
    static const auto cases =
        wb::testing::Covering()
            .factor("n", {1, 3, 4, 31, 32, 33, 255, 256, 257, 1025, 4099})
            .factor("blocks", {1, 2, 7, 132})
            .factor("alpha", {"2.5", "0", "1", "-1", "1e30", "1e-30"})
            .factor("x from", {0, 1, 2, 3})
            .factor("y from", {0, 1, 2, 3})
            .factor("y is", {"another array", "x"})
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_slices(c);
        }
}

TEST_CASE("first element and stride are computed in 64 bits") {
    // No array of the simulator is so long; the index arithmetic is the same anyway.
    Grader("saxpy_grid_stride", "n = 0").expect_no_work([](cudaStream_t stream) {
        saxpy_grid_stride(1.0f, nullptr, nullptr, 0, 1, stream);
    });
    struct Thread {
        unsigned block, num_blocks, thread, block_size;
    };
    for (const Thread& t : {Thread{0, 1, 5, 256},
                            Thread{3, 7, 200, 256},
                            Thread{8388608, 8388609, 1, 256},      // 2^31 + 1
                            Thread{16777216, 33554432, 255, 256},  // past 2^32
                            Thread{2147483646, 2147483647, 1023, 1024}}) {
        const auto wanted_first =
            static_cast<int64_t>(uint64_t{t.block} * t.block_size + t.thread);
        const auto wanted_stride =
            static_cast<int64_t>(uint64_t{t.num_blocks} * t.block_size);
        const GridStride got =
            grid_stride(t.block, t.num_blocks, t.thread, t.block_size);
        if (got.first == wanted_first && got.stride == wanted_stride) continue;
        report("grid_stride(block " + std::to_string(t.block) + " of " +
                   std::to_string(t.num_blocks) + ", thread " +
                   std::to_string(t.thread) + " of " + std::to_string(t.block_size) +
                   ")",
               "expected first " + std::to_string(wanted_first) + " and stride " +
                   std::to_string(wanted_stride) + ", got " +
                   std::to_string(got.first) + " and " + std::to_string(got.stride));
    }
}

TEST_CASE("more than 2^31 elements", "[large]") {
    Grader("saxpy_grid_stride", "n = 0").expect_no_work([](cudaStream_t stream) {
        saxpy_grid_stride(1.0f, nullptr, nullptr, 0, 1, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("16 GiB of memory and 2^31 steps are too much for the simulator");
#else
    constexpr int64_t kN = (int64_t{1} << 31) + 33;
    constexpr std::size_t kBytes = kN * sizeof(float);
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (free_bytes < 2 * kBytes + (std::size_t{1} << 30)) {
        WB_SKIP("needs 17 GiB of free GPU memory");
    }
    // Bytes 0x40 make the float 3.00392..., and y = 0.5 x + x is exact in 25 bits, so
    // that it is rounded once, fused or not.
    float* d_x = nullptr;
    float* d_y = nullptr;
    CUDA_CHECK(cudaMalloc(&d_x, kBytes));
    CUDA_CHECK(cudaMalloc(&d_y, kBytes));
    CUDA_CHECK(cudaMemset(d_x, 0x40, kBytes));
    CUDA_CHECK(cudaMemset(d_y, 0x40, kBytes));
    const uint32_t bits = 0x40404040;
    float value = 0.0f;
    std::memcpy(&value, &bits, sizeof value);
    const float wanted = 0.5f * value + value;
    const std::string what = "saxpy_grid_stride, " + text({kN, 1056, 0.5f, 0});
    try {
        saxpy_grid_stride(0.5f, d_x, d_y, kN, 1056, nullptr);
        CUDA_CHECK(cudaDeviceSynchronize());
    } catch (const std::exception& error) {
        report(what, error.what());
    }
    constexpr int64_t kChunk = int64_t{1} << 24;
    std::vector<float> chunk(kChunk);
    for (int64_t start = 0; start < kN; start += kChunk) {
        const int64_t size = std::min(kChunk, kN - start);
        CUDA_CHECK(cudaMemcpy(
            chunk.data(), d_y + start, size * sizeof(float), cudaMemcpyDeviceToHost));
        for (int64_t i = 0; i < size; ++i) {
            if (chunk[i] == wanted) continue;
            report(what,
                   "y[" + std::to_string(start + i) + "]: expected " +
                       std::to_string(wanted) + ", got " + std::to_string(chunk[i]));
        }
    }
    CUDA_CHECK(cudaFree(d_x));
    CUDA_CHECK(cudaFree(d_y));
#endif
}

TEST_CASE("no elements: nothing is launched") {
    Grader grade("saxpy_grid_stride", "n = 0");
    grade.expect_no_work([](cudaStream_t stream) {
        saxpy_grid_stride(2.5f, nullptr, nullptr, 0, 132, stream);
    });
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    Grader memory("saxpy_grid_stride", "wrong arguments");
    float* d = memory.output<float>("d", {8});
    float host[8] = {};
    expect_refused("saxpy_grid_stride", "n = -1", "n is -1", [&] {
        saxpy_grid_stride(1.0f, d, d, -1, 1, nullptr);
    });
    expect_refused("saxpy_grid_stride", "n = -2^32", "n is -4294967296", [&] {
        saxpy_grid_stride(1.0f, d, d, -(int64_t{1} << 32), 1, nullptr);
    });
    for (const int64_t n : {8, 0})
        expect_refused("saxpy_grid_stride", "num_blocks = 0", "num_blocks is 0", [&] {
            saxpy_grid_stride(1.0f, d, d, n, 0, nullptr);
        });
    expect_refused("saxpy_grid_stride", "num_blocks = -5", "num_blocks is -5", [&] {
        saxpy_grid_stride(1.0f, d, d, 8, -5, nullptr);
    });
    expect_refused("saxpy_grid_stride", "x null", "x is a null pointer", [&] {
        saxpy_grid_stride(1.0f, nullptr, d, 8, 1, nullptr);
    });
    expect_refused("saxpy_grid_stride", "x on the host", "x is a host pointer", [&] {
        saxpy_grid_stride(1.0f, host, d, 8, 1, nullptr);
    });
    expect_refused("saxpy_grid_stride", "y null", "y is a null pointer", [&] {
        saxpy_grid_stride(1.0f, d, nullptr, 8, 1, nullptr);
    });
    expect_refused("saxpy_grid_stride", "y on the host", "y is a host pointer", [&] {
        saxpy_grid_stride(1.0f, d, host, 8, 1, nullptr);
    });
}
