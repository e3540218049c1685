// Grades day05-quantization/04-fp4-linear: arguments, empty calls, large arrays.
#include "grading.h"

#include <wb/testing/large.h>
#include <wb/testing/refuses.h>

#include <cstring>

using namespace fp4_grading;
using wb::testing::misaligned;

namespace {

/// Right arguments of both functions: x of 4 x 64 numbers, W of 24 x 64 as nvfp4.
struct Arguments {
    Fp4Shape shape = {4, 24, 64, Fp4Scales::nvfp4};
    Fp4Activation activation = Fp4Activation::none;
    Fp4Weights w;
    const float* weights;
    const __half* x;
    const float* bias;
    __half* y;
};

/// Memory for them, each tensor 4096 bytes and more apart.
struct Memory {
    Grader grade;
    Arguments right;

    explicit Memory(const char* function) : grade(function, "wrong arguments") {
        auto* const d = grade.output<float>("d", {16384});
        right.w = {reinterpret_cast<uint8_t*>(d), d + 2048, d + 4096, 768, 96};
        right.weights = d + 8192;
        right.x = reinterpret_cast<const __half*>(d + 10240);
        right.bias = d + 12288;
        right.y = reinterpret_cast<__half*>(d + 14336);
    }
};

void call_quantize(const Arguments& a, cudaStream_t stream) {
    fp4_quantize(a.shape, a.weights, a.w, stream);
}
void call_linear(const Arguments& a, cudaStream_t stream) {
    fp4_linear(a.shape, a.activation, a.w, a.x, a.bias, a.y, stream);
}

using Refuses = wb::testing::Refuses<Arguments>;

void refuse_shapes_and_tensors(const Refuses& refuse) {
    refuse("shape.M is -1", [](auto& a) { a.shape.M = -1; });
    refuse("shape.N is -8", [](auto& a) { a.shape.N = -8; });
    refuse("shape.K is -32", [](auto& a) { a.shape.K = -32; });
    refuse("shape.M is 1073741825", [](auto& a) { a.shape.M = (1 << 30) + 1; });
    refuse("shape.N is 1073741832", [](auto& a) { a.shape.N = (1 << 30) + 8; });
    refuse("shape.K is 33554464", [](auto& a) { a.shape.K = (1 << 25) + 32; });
    refuse("shape.N is 20", [](auto& a) { a.shape.N = 20; });
    refuse("shape.K is 48", [](auto& a) { a.shape.K = 48; });
    refuse("shape.scales is 3",
           [](auto& a) { a.shape.scales = static_cast<Fp4Scales>(3); });
    // Nor is anything wrong right because there is nothing to do.
    refuse("shape.N is 20", [](auto& a) { a.shape.M = 0, a.shape.N = 20; });
    refuse("shape.K is 48", [](auto& a) { a.shape.M = 0, a.shape.K = 48; });
    refuse("shape.K is 48", [](auto& a) { a.shape.N = 0, a.shape.K = 48; });
    refuse("shape.M is -1", [](auto& a) { a.shape.M = -1, a.shape.N = 0; });
    refuse("w.value_bytes is 767", [](auto& a) { a.w.value_bytes = 767; });
    refuse("w.num_scales is 48", [](auto& a) { a.w.num_scales = 48; });
    refuse("w.global_scale is", [](auto& a) {
        a.shape.scales = Fp4Scales::mx;
        a.w.num_scales = 48;
    });
    refuse("w.global_scale is a null pointer",
           [](auto& a) { a.w.global_scale = nullptr; });
    refuse("w.values is a null pointer", [](auto& a) { a.w.values = nullptr; });
    refuse("w.scales is a null pointer", [](auto& a) { a.w.scales = nullptr; });
    refuse("w.values is", [](auto& a) { a.w.values += 8; });
    refuse("w.scales is not aligned", [](auto& a) {
        a.shape.scales = Fp4Scales::channel;
        a.w.num_scales = 24;
        a.w.global_scale = nullptr;
        a.w.scales = static_cast<uint8_t*>(a.w.scales) + 2;
    });
    uint8_t host[768] = {};
    refuse("w.values is a host pointer", [&](auto& a) { a.w.values = host; });
    refuse("w.scales is a host pointer", [&](auto& a) { a.w.scales = host; });
}

}  // namespace

TEST_CASE("quantise: wrong arguments are refused by name") {
    Memory memory("fp4_quantize");
    const Refuses refuse = {"fp4_quantize", call_quantize, memory.right};
    refuse_shapes_and_tensors(refuse);
    refuse("weights is a null pointer", [](auto& a) { a.weights = nullptr; });
    refuse("weights is", [](auto& a) { a.weights += 1; });
    refuse("w.values - weights in bytes is 6128", [](auto& a) {
        a.w.values = reinterpret_cast<uint8_t*>(const_cast<float*>(a.weights)) + 6128;
    });
    refuse("w.scales - weights in bytes is 6143", [](auto& a) {
        a.w.scales = reinterpret_cast<uint8_t*>(const_cast<float*>(a.weights)) + 6143;
    });
    refuse("w.scales - w.values in bytes is 767",
           [](auto& a) { a.w.scales = a.w.values + 767; });
    refuse("w.scales - w.global_scale in bytes is 3", [](auto& a) {
        a.w.scales =
            reinterpret_cast<uint8_t*>(const_cast<float*>(a.w.global_scale)) + 3;
    });
}

TEST_CASE("product: wrong arguments are refused by name") {
    Memory memory("fp4_linear");
    const Refuses refuse = {"fp4_linear", call_linear, memory.right};
    refuse.older_gpu();
    refuse_shapes_and_tensors(refuse);
    refuse("activation is 3",
           [](auto& a) { a.activation = static_cast<Fp4Activation>(3); });
    refuse("x is a null pointer", [](auto& a) { a.x = nullptr; });
    refuse("y is a null pointer", [](auto& a) { a.y = nullptr; });
    refuse("x is", [](auto& a) { a.x += 4; });
    refuse("y is", [](auto& a) { a.y += 4; });
    refuse("bias is not aligned", [](auto& a) { a.bias = misaligned(a.bias); });
    refuse("y - x in bytes is 496",
           [](auto& a) { a.y = const_cast<__half*>(a.x + 248); });
    refuse("y - w.values in bytes is 752",
           [](auto& a) { a.y = reinterpret_cast<__half*>(a.w.values + 752); });
    refuse("y - w.scales in bytes is 80", [](auto& a) {
        a.y = reinterpret_cast<__half*>(static_cast<uint8_t*>(a.w.scales) + 80);
    });
    refuse("y - w.global_scale in bytes is 0", [](auto& a) {
        a.y = reinterpret_cast<__half*>(const_cast<float*>(a.w.global_scale));
    });
    refuse("y - bias in bytes is 80", [](auto& a) {
        a.y = reinterpret_cast<__half*>(const_cast<float*>(a.bias + 20));
    });
}

TEST_CASE("nothing to do: nothing is launched") {
    Memory memory("fp4_linear");
    const Arguments right = memory.right;
    const Fp4Weights empty = {};
    Grader grade("fp4_linear", "M = 0, N = 0 or K = 0");
    grade.expect_no_work([&](cudaStream_t stream) {
        const auto none = Fp4Activation::none;
        fp4_linear({0, 24, 64}, none, right.w, nullptr, nullptr, nullptr, stream);
        fp4_linear({3, 0, 64}, none, empty, nullptr, nullptr, nullptr, stream);
        fp4_quantize({3, 0, 64}, nullptr, empty, stream);
        fp4_quantize({3, 8, 0}, nullptr, empty, stream);
        fp4_quantize({3, 8, 0, Fp4Scales::channel}, nullptr, empty, stream);
    });
}

#ifndef SIMT_CPU

namespace {

/// Four bytes of an array, as large.expect() looks at them.
double as_float(uint32_t bits) {
    float value = 0.0f;
    std::memcpy(&value, &bits, sizeof value);
    return double{value};
}

/// A product of which all inputs are 0, but for one 1 of x's last row and one 3 of W's
/// last row, in its last column.
void grade_large_product(const Call& c) {
    const Fp4Shape s = c.shape();
    const int64_t of_x = s.M * s.K / 2;  // in floats
    const int64_t of_values = s.N * s.K / 8;
    wb::testing::LargeArrays large(of_x + of_values + s.num_scales(), s.M * s.N / 2);
    if (!large.has_memory()) WB_SKIP("needs 7 GB of free GPU memory");
    auto* const x = reinterpret_cast<__half*>(large.x);
    auto* const values = reinterpret_cast<uint8_t*>(large.x + of_x);
    auto* const scales = reinterpret_cast<uint8_t*>(large.x + of_x + of_values);
    const auto one = static_cast<__half>(1.0f);
    const uint8_t three = 0x50;
    const uint8_t scale_of_one = 127;
    const auto put = [](auto* to, const auto& value) {
        CUDA_CHECK(cudaMemcpy(to, &value, sizeof value, cudaMemcpyHostToDevice));
    };
    put(x + s.M * s.K - 1, one);
    put(values + s.N * s.K / 2 - 1, three);
    put(scales + s.num_scales() - 1, scale_of_one);
    const Fp4Weights w = {values, scales, nullptr, s.N * s.K / 2, s.num_scales()};
    // The ends of the last row, and, if it is another one, those of the first.
    std::vector<int64_t> places = {(s.M - 1) * s.N / 2, s.M * s.N / 2 - 1};
    std::vector<double> expected = {0.0, as_float(0x42000000u)};
    if (s.M > 1) {
        places.insert(places.end(), {0, s.N / 2 - 1});
        expected.insert(expected.end(), {0.0, 0.0});
    }
    for (const auto& [name, idea, launcher] :
         wb::implementations("fp4_linear", fp4_linear))
        large.expect(
            name, c.text(), places, expected, [&, launcher = launcher](auto stream) {
                launcher(s,
                         c.activation,
                         w,
                         x,
                         nullptr,
                         reinterpret_cast<__half*>(large.y),
                         stream);
            });
}

}  // namespace

#endif

TEST_CASE("x, W and y of more than 2^31 elements", "[large][serial]") {
    grade_whole({1, 8, 32});
#ifdef SIMT_CPU
    WB_SKIP("2^31 elements are too much for the simulator");
#else
    constexpr int64_t kMany = int64_t{1} << 16;
    grade_large_product({kMany + 16, kMany / 2 + 16, 32, Fp4Scales::mx});
    grade_large_product({kMany / 2 + 16, 8, kMany + 32, Fp4Scales::mx});
    grade_large_product({1, kMany + 16, kMany + 32, Fp4Scales::mx});
#endif
}

TEST_CASE("quantise: more than 2^31 weights", "[large][serial]") {
    grade_quantize({1, 8, 32}, wb::testing::random_normal(8 * 32, 1), "");
#ifdef SIMT_CPU
    WB_SKIP("2^31 weights are too much for the simulator");
#else
    // All are 0 but the last one, 6.
    const auto kind = GENERATE(Fp4Scales::channel, Fp4Scales::mx);
    const Fp4Shape s = {1, (int64_t{1} << 16) + 16, (int64_t{1} << 15) + 32, kind};
    const int64_t of_scales = s.num_scales() * s.bytes_of_scale();
    wb::testing::LargeArrays large(s.N * s.K, (s.N * s.K / 2 + of_scales) / 4);
    if (!large.has_memory()) WB_SKIP("needs 11 GB of free GPU memory");
    large.set(s.N * s.K - 1, 6.0f);
    auto* const values = reinterpret_cast<uint8_t*>(large.y);
    const Fp4Weights w = {
        values, values + s.N * s.K / 2, nullptr, s.N * s.K / 2, s.num_scales()};
    const int64_t last_scales = (s.N * s.K / 2 + of_scales) / 4 - 1;
    for (const auto& [name, idea, launcher] :
         wb::implementations("fp4_quantize", fp4_quantize))
        large.expect(
            name,
            "2^31 weights and more",
            {0, s.N * s.K / 8 - 1, last_scales},
            {0.0,
             as_float(0x70000000u),
             as_float(kind == Fp4Scales::mx ? 0x7F000000u : 0x3F800000u)},
            [&, launcher = launcher](auto stream) { launcher(s, large.x, w, stream); });
#endif
}
