// Grades day01-basics/04-add-bias-nchw.
#include "add_bias_nchw.h"

#include <wb/check.h>
#include <wb/implementations.h>
#include <wb/reference/add_bias_nchw.h>
#include <wb/scratch.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/covering.h>
#include <wb/testing/goal.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/random.h>
#include <wb/testing/special_values.h>

#include <limits>

namespace {

using wb::testing::Begin;
using wb::testing::Grader;
using wb::testing::Shape;

std::string sizes(const Shape& s, uint64_t seed) {
    return "N C H W = " + std::to_string(s[0]) + " " + std::to_string(s[1]) + " " +
           std::to_string(s[2]) + " " + std::to_string(s[3]) + ", seed " +
           std::to_string(seed);
}

/// One correctly rounded addition an element, whatever the shape.
void grade_bias(const Shape& s, uint64_t seed = 1, Begin begin = Begin::aligned) {
    const auto x = wb::testing::random_normal(wb::testing::elements(s), seed);
    const auto bias = wb::testing::random_normal(s[1], seed + 1000);
    const auto expected = wb::reference::add_bias_nchw(x, bias, s[0], s[1], s[2], s[3]);
    for (const auto& [name, idea, add_bias] :
         wb::implementations("add_bias_nchw", add_bias_nchw)) {
        Grader grade(name, sizes(s, seed));
        const float* d_x = grade.input("x", x);
        const float* d_bias = grade.input("bias", bias, begin);
        float* d_y = grade.output<float>("y", s);
        grade.run([&, add_bias = add_bias](cudaStream_t stream) {
            add_bias(d_x, d_bias, d_y, s[0], s[1], s[2], s[3], stream);
        });
        grade.expect("y", expected, [&](int64_t i) {
            return wb::testing::float_bound(1, std::abs(expected[i]));
        });
    }
}

/// Tensors that start at elements of their own; y may be x.
void grade_edges(const wb::testing::Combination& c) {
    const Shape s = {c["N"], c["C"], c["H"], c["W"]};
    const int64_t count = wb::testing::elements(s);
    const bool in_place = c.words("y is") == "x";
    const int64_t y_start = c["y from"];
    const int64_t x_start = in_place ? y_start : c["x from"];
    const auto x = wb::testing::random_normal(count, 1);
    const auto bias = wb::testing::random_normal(s[1], 2);
    auto expected = wb::reference::add_bias_nchw(x, bias, s[0], s[1], s[2], s[3]);
    std::vector<float> moved(static_cast<size_t>(x_start), 7.0f);
    moved.insert(moved.end(), x.begin(), x.end());
    // What lies before y is not part of it.
    expected.insert(expected.begin(), static_cast<size_t>(y_start), 7.0);
    for (const auto& [name, idea, add_bias] :
         wb::implementations("add_bias_nchw", add_bias_nchw)) {
        Grader grade(name, c.text());
        const auto before =
            in_place ? moved : std::vector<float>(expected.size(), 7.0f);
        float* d_y = grade.in_out("y", {count + y_start}, before);
        const float* d_x = in_place ? d_y : grade.input("x", moved);
        const float* d_bias = grade.input("bias", bias);
        grade.run([&, add_bias = add_bias](cudaStream_t stream) {
            add_bias(
                d_x + x_start, d_bias, d_y + y_start, s[0], s[1], s[2], s[3], stream);
        });
        grade.expect("y", expected, [&](int64_t i) {
            if (i < y_start) return 0.0;
            return wb::testing::float_bound(1, std::abs(expected[size_t(i)]));
        });
    }
}

}  // namespace

TEST_CASE("one image: every channel gets its own bias") {
    grade_bias(GENERATE(as<Shape>(), Shape{1, 1, 1, 1}, Shape{1, 3, 4, 5}));
}

TEST_CASE("several images share the channels' biases") {
    // More channels than columns, more columns than channels, more images than both.
    grade_bias(
        GENERATE(as<Shape>(), Shape{2, 5, 4, 3}, Shape{2, 3, 4, 5}, Shape{7, 2, 3, 4}),
        GENERATE(1, 2));
}

TEST_CASE("nothing is kept from call to call") {
    wb::testing::expect_independent(
        [&] {
            grade_bias(Shape{2, 3, 4, 5});
        },
        [&] {
            grade_bias(Shape{3, 5, 7, 2}, 2);
        });
    // Many channels, and two calls of one shape.
    wb::testing::expect_independent(
        [&] {
            grade_bias(Shape{2, 300, 3, 2});
        },
        [&] {
            grade_bias(Shape{1, 200, 5, 2}, 2);
        },
        [&] {
            grade_bias(Shape{2, 300, 3, 2}, 3);
        });
}

TEST_CASE("31, 32 and 33 along each dimension") {
    const int64_t size = GENERATE(31, 32, 33);
    grade_bias(GENERATE_COPY(Shape{size, 2, 3, 5},
                             Shape{2, size, 3, 5},
                             Shape{2, 3, size, 5},
                             Shape{2, 3, 5, size}));
}

TEST_CASE("edges meet: all dimensions, and where tensors start") {
    static const auto cases =
        wb::testing::Covering()
            .factor("N", {1, 2, 5, 33})
            .factor("C", {1, 2, 3, 4, 33})
            .factor("H", {1, 2, 3, 7, 31, 32, 33})
            .factor("W", {1, 2, 3, 4, 31, 32, 33, 257})
            .factor("x from", {0, 1, 2, 3})
            .factor("y from", {0, 1, 2, 3})
            .factor("y is", {"another tensor", "x"})
            .forbid({"N", "C", "H", "W"},
                    [](const std::vector<int64_t>& v) {
                        return v[0] * v[1] * v[2] * v[3] > 12'000;  // takes long
                    })
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_edges(c);
        }
}

TEST_CASE("sizes past 4096, along each dimension") {
    for (const Shape& s : {Shape{4099, 2, 1, 2},
                           Shape{2, 4099, 1, 2},
                           Shape{2, 2, 4099, 1},
                           Shape{2, 2, 1, 4099}})
        grade_bias(s);
}

TEST_CASE("primes along every dimension, so that nothing divides evenly") {
    grade_bias(
        GENERATE(
            as<Shape>(), Shape{3, 5, 7, 11}, Shape{2, 13, 61, 67}, Shape{2, 2, 3, 131}),
        GENERATE(1, 2, 3));
}

TEST_CASE("planes of an odd size in a batch that divides by four") {
    // 4 * 3 * 3 * 5 = 180 elements, in planes of 15: a float4 reaches over the edge.
    grade_bias(Shape{4, 3, 3, 5});
}

TEST_CASE("planes of fewer than four elements") {
    // A float4 holds several channels here, and may end in the next image.
    grade_bias(GENERATE(as<Shape>(),
                        Shape{5, 3, 1, 1},
                        Shape{4, 5, 1, 2},
                        Shape{3, 7, 3, 1},
                        Shape{9, 1, 1, 1},
                        Shape{3, 8, 1, 1}),
               1,
               GENERATE(Begin::aligned, Begin::anywhere));  // of bias
}

TEST_CASE("planes that divide by four, and planes that do not") {
    // And more channels than 128.
    grade_bias(GENERATE(
        as<Shape>(), Shape{2, 3, 2, 6}, Shape{2, 3, 2, 5}, Shape{1, 131, 4, 7}));
}

TEST_CASE("one size after another: nothing is kept between the calls") {
    for (const Shape& s : {Shape{1, 1, 2, 2}, Shape{2, 3, 32, 34}, Shape{1, 5, 4, 4}})
        grade_bias(s);
}

TEST_CASE("more planes than a grid is deep", "[long]") {
    // 65,535 is the most that gridDim.y and gridDim.z can be. The first shape is the
    // last stage of a ResNet-50, 2048 channels, with 32 images: one plane too many.
    grade_bias(GENERATE(as<Shape>(),
                        Shape{32, 2048, 1, 2},
                        Shape{1, 70001, 1, 1},
                        Shape{70001, 1, 1, 1}));
}

TEST_CASE("more columns than 16 bits count") {
    grade_bias(Shape{1, 2, 1, 70001});
}

TEST_CASE("more rows than a grid is high", "[long]") {
    grade_bias(Shape{1, 1, 600011, 1});
}

TEST_CASE("more than 2^31 elements along one dimension", "[large]") {
    Grader("add_bias_nchw", "N = 0").expect_no_work([](cudaStream_t stream) {
        add_bias_nchw(nullptr, nullptr, nullptr, 0, 1, 1, 1, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^31 threads are too much for the simulator");
#else
    // x is zeros, so that y is the bias, wherever one looks.
    constexpr int64_t kMany = (int64_t{1} << 31) + 33;
    constexpr size_t kBytes = static_cast<size_t>(kMany) * sizeof(float);
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (free_bytes < 2 * kBytes + (size_t{1} << 30))
        WB_SKIP("needs 18 GB of free GPU memory");
    float* d_x = nullptr;
    float* d_y = nullptr;
    CUDA_CHECK(cudaMalloc(&d_x, kBytes));
    CUDA_CHECK(cudaMalloc(&d_y, kBytes));
    CUDA_CHECK(cudaMemset(d_x, 0, kBytes));
    const std::vector<int64_t> places = {0, (int64_t{1} << 31) - 1, kMany - 1};
    for (const Shape& s :
         {Shape{kMany, 1, 1, 1}, Shape{1, 1, kMany, 1}, Shape{1, 1, 1, kMany}}) {
        for (const auto& [name, idea, add_bias] :
             wb::implementations("add_bias_nchw", add_bias_nchw)) {
            Grader grade(name, sizes(s, 0) + ", x = 0, elements 0, 2^31 - 1, the last");
            const float* d_bias = grade.input("bias", std::vector<float>{5.0f});
            float* d_few = grade.output<float>("y", {3});
            CUDA_CHECK(cudaMemset(d_y, 0xFF, kBytes));
            grade.run([&, add_bias = add_bias](cudaStream_t stream) {
                add_bias(d_x, d_bias, d_y, s[0], s[1], s[2], s[3], stream);
                for (size_t i = 0; i < places.size(); ++i) {
                    CUDA_CHECK(cudaMemcpyAsync(d_few + i,
                                               d_y + places[i],
                                               sizeof(float),
                                               cudaMemcpyDeviceToDevice,
                                               stream));
                }
            });
            grade.expect("y", {5.0, 5.0, 5.0}, [](int64_t) { return 0.0; });
        }
    }
    CUDA_CHECK(cudaFree(d_x));
    CUDA_CHECK(cudaFree(d_y));
#endif
}

TEST_CASE("a batch as in a network") {
    grade_bias(GENERATE(as<Shape>(), Shape{4, 64, 56, 56}, Shape{2, 3, 225, 224}));
}

TEST_CASE("the result may be written over the input") {
    const Shape s = {2, 3, 4, 8};
    const auto x = wb::testing::random_normal(wb::testing::elements(s), 1);
    const auto bias = wb::testing::random_normal(s[1], 2);
    const auto expected = wb::reference::add_bias_nchw(x, bias, s[0], s[1], s[2], s[3]);
    Grader grade("add_bias_nchw", "y is x, " + sizes(s, 1));
    float* d_x = grade.in_out("x", s, x);
    const float* d_bias = grade.input("bias", bias);
    grade.run([&](cudaStream_t stream) {
        add_bias_nchw(d_x, d_bias, d_x, s[0], s[1], s[2], s[3], stream);
    });
    grade.expect("x", expected, [&](int64_t i) {
        return wb::testing::float_bound(1, std::abs(expected[i]));
    });
}

TEST_CASE("a tensor that starts at any element") {
    // Planes of 12 elements, three float4, but an address that is no multiple of 16: of
    // both tensors, or of one of them.
    const Shape s = {2, 3, 3, 4};
    const auto [x_start, y_start] =
        GENERATE(table<int, int>({{0, 0}, {1, 1}, {1, 0}, {0, 1}}));
    const int64_t count = wb::testing::elements(s);
    const auto x = wb::testing::random_normal(count, 1);
    const auto bias = wb::testing::random_normal(s[1], 2);
    auto expected = wb::reference::add_bias_nchw(x, bias, s[0], s[1], s[2], s[3]);
    std::vector<float> moved(x_start, std::numeric_limits<float>::quiet_NaN());
    moved.insert(moved.end(), x.begin(), x.end());
    expected.insert(expected.begin(), y_start, 0.0);  // y[0] is not part of the tensor
    for (const auto& [name, idea, add_bias] :
         wb::implementations("add_bias_nchw", add_bias_nchw)) {
        Grader grade(name,
                     "x and y start at elements " + std::to_string(x_start) + " and " +
                         std::to_string(y_start) + " of their arrays, " + sizes(s, 1));
        const float* d_x = grade.input("x", moved) + x_start;
        const float* d_bias = grade.input("bias", bias);
        const std::vector<float> zeros(expected.size(), 0.0f);
        float* d_y = grade.in_out("y", {count + y_start}, zeros) + y_start;
        grade.run([&, add_bias = add_bias](cudaStream_t stream) {
            add_bias(d_x, d_bias, d_y, s[0], s[1], s[2], s[3], stream);
        });
        grade.expect("y", expected, [&](int64_t i) {
            return wb::testing::float_bound(1, std::abs(expected[i]));
        });
    }
}

TEST_CASE("tiny numbers, infinities and no numbers at all") {
    // A channel of one element for each pair.
    const auto [x, bias] = wb::testing::special_pairs();
    const auto C = static_cast<int64_t>(x.size());
    std::vector<double> expected;
    for (size_t i = 0; i < x.size(); ++i)
        expected.push_back(x[i] + bias[i]);
    for (const auto& [name, idea, add_bias] :
         wb::implementations("add_bias_nchw", add_bias_nchw)) {
        Grader grade(name, "special numbers, each with each");
        const float* d_x = grade.input("x", x);
        const float* d_bias = grade.input("bias", bias);
        float* d_y = grade.output<float>("y", {1, C, 1, 1});
        grade.run([&, add_bias = add_bias](cudaStream_t stream) {
            add_bias(d_x, d_bias, d_y, 1, C, 1, 1, stream);
        });
        grade.expect("y", expected, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("planes of whole blocks of 1024") {
    grade_bias(GENERATE(as<Shape>(), Shape{1, 2, 64, 512}, Shape{1, 1, 1, 65536}));
}

TEST_CASE("all work is queued on the caller's stream, and nobody waits for it") {
    // Aligned for a float4, and not; planes that divide by four, and do not.
    const auto [start, s] = GENERATE(
        table<int, Shape>({{0, {2, 3, 4, 8}}, {1, {2, 3, 4, 8}}, {0, {2, 3, 5, 7}}}));
    for (const auto& [name, idea, add_bias] :
         wb::implementations("add_bias_nchw", add_bias_nchw)) {
        Grader grade(name,
                     sizes(s, 1) + ", from element " + std::to_string(start) + " on");
        const int64_t count = wb::testing::elements(s) + start;
        const std::vector<float> zeros(static_cast<size_t>(count), 0.0f);
        const float* d_x = grade.input("x", zeros) + start;
        const float* d_bias = grade.input("bias", zeros);
        float* d_y = grade.output<float>("y", {count}) + start;
        grade.expect_queued([&, add_bias = add_bias, &s = s](cudaStream_t stream) {
            add_bias(d_x, d_bias, d_y, s[0], s[1], s[2], s[3], stream);
        });
    }
}

TEST_CASE("a launch for more than 2^32 elements is queued like any other") {
    // Nothing runs, so that a few elements of memory are enough.
    const Shape s = {1, 2, 1, (int64_t{1} << 31) + 33};
    for (const auto& [name, idea, add_bias] :
         wb::implementations("add_bias_nchw", add_bias_nchw)) {
        Grader grade(name, sizes(s, 1) + ", queued only");
        const float* d_x = grade.input("x", std::vector<float>(8, 0.0f));
        float* d_y = grade.output<float>("y", {8});
        grade.expect_queued([&, add_bias = add_bias](cudaStream_t stream) {
            add_bias(d_x, d_x, d_y, s[0], s[1], s[2], s[3], stream);
        });
    }
}

TEST_CASE("neighbouring threads touch neighbouring elements", "[.][goal]") {
    const Shape s = {2, 3, 16, 64};
    const auto x = wb::testing::random_normal(wb::testing::elements(s), 1);
    const auto bias = wb::testing::random_normal(s[1], 2);
    const auto expected = wb::reference::add_bias_nchw(x, bias, s[0], s[1], s[2], s[3]);
    wb::testing::Goal goal("add_bias_nchw");
    Grader grade("add_bias_nchw", sizes(s, 1));
    const float* d_x = grade.input("x", x);
    const float* d_bias = grade.input("bias", bias);
    float* d_y = grade.output<float>("y", s);
    grade.run([&](cudaStream_t stream) {
        add_bias_nchw(d_x, d_bias, d_y, s[0], s[1], s[2], s[3], stream);
    });
    grade.expect("y", expected, [&](int64_t i) {
        return wb::testing::float_bound(1, std::abs(expected[i]));
    });
    goal.moves_at_most(1.1);
}

TEST_CASE("a size of zero: nothing is launched") {
    const Shape s = GENERATE(as<Shape>(),
                             Shape{0, 3, 4, 5},
                             Shape{2, 0, 4, 5},
                             Shape{2, 3, 0, 5},
                             Shape{2, 3, 4, 0});
    Grader grade("add_bias_nchw", sizes(s, 0));
    grade.expect_no_work([&](cudaStream_t stream) {
        add_bias_nchw(nullptr, nullptr, nullptr, s[0], s[1], s[2], s[3], stream);
    });
    grade_bias({1, 2, 3, 4});  // and then it is
}

TEST_CASE("more than 2^32 elements, and 2^31 in a row", "[large]") {
    Grader("add_bias_nchw", "N = 0").expect_no_work([](cudaStream_t stream) {
        add_bias_nchw(nullptr, nullptr, nullptr, 0, 1, 1, 1, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("34 GB of memory and 2^32 threads are too much for the simulator");
#else
    constexpr int64_t kW = (int64_t{1} << 31) + 33;
    constexpr int64_t kCount = 2 * kW;
    constexpr int64_t kEnd = 2;
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (free_bytes < 2 * kCount * sizeof(float) + (size_t{1} << 30)) {
        WB_SKIP("needs 36 GB of free GPU memory");
    }
    const wb::Scratch<float> x(kCount, nullptr);
    const wb::Scratch<float> y(kCount, nullptr);
    CUDA_CHECK(cudaMemset(x.data(), 0, kCount * sizeof(float)));
    const std::vector<float> bias = {5.0f, 7.0f};
    for (const auto& [name, idea, add_bias] :
         wb::implementations("add_bias_nchw", add_bias_nchw)) {
        Grader grade(name, "N C H W = 1 2 1 2147483681, both ends of each channel");
        const float* d_bias = grade.input("bias", bias);
        float* d_ends = grade.output<float>("ends", {2, 2, kEnd});
        CUDA_CHECK(cudaMemset(y.data(), 0xFF, kCount * sizeof(float)));
        grade.run([&, add_bias = add_bias](cudaStream_t s) {
            add_bias(x.data(), d_bias, y.data(), 1, 2, 1, kW, s);
            float* to = d_ends;
            for (const int64_t from : {int64_t{0}, kW - kEnd, kW, kCount - kEnd}) {
                CUDA_CHECK(cudaMemcpyAsync(to,
                                           y.data() + from,
                                           kEnd * sizeof(float),
                                           cudaMemcpyDeviceToDevice,
                                           s));
                to += kEnd;
            }
        });
        grade.expect("ends", {5.0, 5.0, 5.0, 5.0, 7.0, 7.0, 7.0, 7.0}, [](int64_t) {
            return 0.0;
        });
    }
#endif
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    Grader memory("add_bias_nchw", "wrong arguments");
    float* d = memory.output<float>("d", {8});
    float host[8] = {};
    const auto refuse = [](const char* what, const char* part, auto... arguments) {
        expect_refused(
            "add_bias_nchw", what, part, [&] { add_bias_nchw(arguments..., nullptr); });
    };
    float* null = nullptr;
    refuse("N = -1", "N is -1", d, d, d, -1, 2, 2, 2);
    refuse("C = -1", "C is -1", d, d, d, 2, -1, 2, 2);
    refuse("H = -1", "H is -1", d, d, d, 2, 2, -1, 2);
    refuse("W = -1", "W is -1", d, d, d, 2, 2, 2, -1);
    // Also where another size is zero, and where the lower 32 bits are.
    refuse("N = 0, C = -1", "C is -1", d, d, d, 0, -1, 2, 2);
    refuse("H = -1, W = 0", "H is -1", d, d, d, 2, 2, -1, 0);
    constexpr int64_t kLow = -(int64_t{1} << 32);
    refuse("N = -2^32", "N is -4294967296", d, d, d, kLow, 2, 2, 2);
    refuse("W = -2^32", "W is -4294967296", d, d, d, 2, 2, 2, kLow);
    refuse("bias null", "bias is a null pointer", d, null, d, 1, 2, 2, 2);
    refuse("y null", "y is a null pointer", d, d, null, 1, 2, 2, 2);
    refuse("x null", "x is a null pointer", null, d, d, 1, 2, 2, 2);
    refuse("x on the host", "x is a host pointer", host, d, d, 1, 2, 2, 2);
    refuse("bias on the host", "bias is a host pointer", d, host, d, 1, 2, 2, 2);
    refuse("y on the host", "y is a host pointer", d, d, host, 1, 2, 2, 2);
}

TEST_CASE("sizes whose product overflows are refused") {
    // 2^80 elements. Multiplied in 64 bits that is 0: nothing to do, all is well?
    Grader memory("add_bias_nchw", "2^80 elements");
    float* d = memory.output<float>("d", {8});
    const int64_t k = 1 << 20;
    wb::testing::expect_refused(
        "add_bias_nchw", "N = C = H = W = 2^20", "does not fit into 64 bits", [&] {
            add_bias_nchw(d, d, d, k, k, k, k, nullptr);
        });
}
