// Grades day05-quantization/04-fp4-linear: arguments and empty calls.
#include "grading.h"

#include <wb/testing/refuses.h>

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
