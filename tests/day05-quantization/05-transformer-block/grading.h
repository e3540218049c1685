// Blocks with random weights of three kinds, and calls of every version with them: each
// array of the workspace is held against a reference in double that is given the arrays
// before it as they were stored.
#pragma once

#include "transformer_block.h"

#include <wb/implementations.h>
#include <wb/reference/fp4.h>
#include <wb/testing/catch.h>
#include <wb/testing/gptq_weights.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "layers.h"

namespace block_grading {

using wb::testing::Grader;

/// Sizes and options of a test.
struct Sizes {
    int64_t heads = 1;
    int64_t head_dim = 64;
    int64_t d_ff = 64;
    NormPlace place = NormPlace::pre;
    Activation activation = Activation::gelu;
    int64_t rotary_dim = 0;
    WeightKind kind = WeightKind::bf16;
    Fp4Scales scales = Fp4Scales::nvfp4;
    wb::testing::gptq::Order order = wb::testing::gptq::none;  ///< of rows, in INT4
    bool has_bias = true;
    float eps = 1e-5f;
    bool positive = false;  ///< all weights are: errors of a row add up
    double up_bias = 0.3;   ///< of up, how large
    bool is_large = false;  ///< the last version alone, once
    int64_t group = 32;     ///< rows of a group, in INT4; -1: all
    bool is_mixed =
        false;  ///< layers differ in their kind, and every second has a bias

    /// Of one layer: 0 to 3 are qkv, out, up, down.
    Sizes of_layer(int number) const {
        Sizes s = *this;
        if (!is_mixed) return s;
        s.kind = static_cast<WeightKind>((static_cast<int>(kind) + number) % 3);
        s.scales = static_cast<Fp4Scales>((static_cast<int>(scales) + number) % 3);
        s.has_bias = has_bias == (number % 2 == 0);
        s.group = number % 2 == 0 ? 64 : -1;
        return s;
    }
    BlockShape shape() const {
        return {heads * head_dim, heads, d_ff, place, activation, eps, rotary_dim};
    }
    int64_t d() const { return heads * head_dim; }
    std::string text() const {
        const char* const kinds[] = {"bf16", "int4", "fp4"};
        const char* const acts[] = {"none", "silu", "gelu"};
        return "heads " + std::to_string(heads) + " x " + std::to_string(head_dim) +
               ", d_ff " + std::to_string(d_ff) +
               (place == NormPlace::pre ? ", pre, " : ", post, ") +
               acts[static_cast<int>(activation)] + ", rotary " +
               std::to_string(rotary_dim) + ", " + kinds[static_cast<int>(kind)] +
               (is_mixed ? " and others" : "") +
               (order == wb::testing::gptq::none ? "" : ", g_idx") +
               (has_bias ? "" : ", no bias");
    }
};

/// A layer on the host: its weights as they are after their storage, and the storage.
struct HostLayer {
    int64_t N = 0;
    int64_t K = 0;
    int64_t group = 32;
    std::vector<Bf16> dense, bias;
    wb::testing::gptq::GptqWeights int4;
    wb::reference::Fp4Matrix fp4;
    Layer exact;  ///< for the reference
};

inline HostLayer random_layer(
    const Sizes& s, int64_t N, int64_t K, uint64_t seed, double bias_size = 0.3) {
    HostLayer layer;
    layer.N = N;
    layer.K = K;
    layer.group = s.group;
    Layer& e = layer.exact;
    e = {N, K, {}, {}, s.kind != WeightKind::bf16};
    const double size = 1.0 / std::sqrt(static_cast<double>(K));
    wb::testing::Random random(seed);
    std::vector<float> weights;
    for (int64_t i = 0; i < N * K; ++i) {
        const double weight = size * random.normal();
        weights.push_back(static_cast<float>(s.positive ? std::abs(weight) : weight));
    }
    for (int64_t n = 0; n < N && s.has_bias; ++n)
        layer.bias.push_back(Bf16(static_cast<float>(bias_size * random.normal())));
    e.bias = doubles(layer.bias);
    if (s.kind == WeightKind::bf16) {
        for (const float w : weights)
            layer.dense.push_back(Bf16(w));
        e.weights = doubles(layer.dense);
    } else if (s.kind == WeightKind::int4) {
        const GptqShape shape = {1, N, K, s.group, true};
        layer.int4 = wb::testing::gptq::random_weights_of(shape, s.order, seed + 1);
        for (__half& scale : layer.int4.scales)
            scale = static_cast<__half>(
                static_cast<float>(0.2 * size * (0.5 + random.uniform())));
        const auto w = wb::reference::dequantized(layer.int4);
        for (int64_t n = 0; n < N; ++n)
            for (int64_t k = 0; k < K; ++k)
                e.weights.push_back(double{w[at(k * N + n)]});
    } else {
        layer.fp4 = wb::reference::fp4_quantized(
            weights,
            N,
            K,
            static_cast<wb::reference::Fp4Kind>(s.scales),
            s.scales == Fp4Scales::nvfp4 ? wb::reference::fp4_global_scale(weights)
                                         : 1.0f);
        for (int64_t n = 0; n < N; ++n)
            for (int64_t k = 0; k < K; ++k)
                e.weights.push_back(layer.fp4.weight(n, k));
    }
    return layer;
}

/// A block on the host.
struct HostBlock {
    Sizes sizes;
    std::vector<Bf16> gamma[2], beta[2];
    HostLayer qkv, out, up, down;
    std::vector<float> angles;  ///< [capacity, rotary_dim / 2, 2]
};

inline HostBlock random_block(const Sizes& s, int64_t capacity, uint64_t seed) {
    HostBlock b;
    b.sizes = s;
    wb::testing::Random random(seed);
    for (int i = 0; i < 2; ++i)
        for (int64_t c = 0; c < s.d(); ++c) {
            b.gamma[i].push_back(Bf16(static_cast<float>(1.0 + 0.2 * random.normal())));
            b.beta[i].push_back(Bf16(static_cast<float>(0.2 * random.normal())));
        }
    b.qkv = random_layer(s.of_layer(0), 3 * s.d(), s.d(), seed + 10);
    b.out = random_layer(s.of_layer(1), s.d(), s.d(), seed + 20);
    b.up = random_layer(s.of_layer(2), s.d_ff, s.d(), seed + 30, s.up_bias);
    b.down = random_layer(s.of_layer(3), s.d(), s.d_ff, seed + 40);
    for (int64_t p = 0; p < capacity; ++p)
        for (int64_t j = 0; j < s.rotary_dim / 2; ++j) {
            const double angle = static_cast<double>(p) *
                                 std::pow(100.0,
                                          -2.0 * static_cast<double>(j) /
                                              static_cast<double>(s.rotary_dim));
            b.angles.push_back(static_cast<float>(std::cos(angle)));
            b.angles.push_back(static_cast<float>(std::sin(angle)));
        }
    return b;
}

/// What is on the device besides a grader's arrays: weights packed by 02's function.
struct Packed {
    std::vector<uint4> qkv, out, up, down;
};

/// GPTQ's tensors of a layer.
inline GptqTensors int4_of(Grader& grade,
                           const std::string& name,
                           const wb::testing::gptq::GptqWeights& w) {
    return {grade.input(name + ".qweight", w.qweight),
            grade.input(name + ".qzeros", w.qzeros),
            grade.input(name + ".scales", w.scales),
            w.g_idx.empty() ? nullptr : grade.input(name + ".g_idx", w.g_idx),
            static_cast<int64_t>(w.qweight.size()),
            static_cast<int64_t>(w.qzeros.size()),
            static_cast<int64_t>(w.scales.size()),
            static_cast<int64_t>(w.g_idx.size())};
}

inline std::vector<uint4> packed_of(const HostLayer& l) {
    if (l.int4.qweight.empty()) return {};
    const GptqShape shape = {1, l.N, l.K, l.group, true};
    std::vector<uint4> packed(at(gptq_packed_vectors(shape, !l.int4.g_idx.empty())));
    Grader grade("gptq_repack", "a layer");
    const GptqTensors tensors = int4_of(grade, "int4", l.int4);
    auto* const d_packed =
        grade.output<uint32_t>("packed", {static_cast<int64_t>(packed.size()) * 4});
    auto* const bad_rows = grade.in_out<unsigned long long>("bad_rows", {1}, {0});
    grade.run([&](cudaStream_t stream) {
        gptq_repack(
            shape, tensors, reinterpret_cast<uint4*>(d_packed), bad_rows, stream);
    });
    CUDA_CHECK(cudaMemcpy(packed.data(),
                          d_packed,
                          packed.size() * sizeof(uint4),
                          cudaMemcpyDeviceToHost));
    return packed;
}

/// A layer as an input of a launch, which the grader watches.
inline BlockLinear layer_of(Grader& grade,
                            const std::string& name,
                            const Sizes& s,
                            const HostLayer& l,
                            const std::vector<uint4>& packed) {
    BlockLinear linear;
    linear.kind = s.kind;
    if (s.has_bias) linear.bias = grade.input(name + ".bias", l.bias);
    if (s.kind == WeightKind::bf16) linear.dense = grade.input(name + ".w", l.dense);
    if (s.kind == WeightKind::int4) {
        linear.int4 = int4_of(grade, name, l.int4);
        linear.int4_group = l.group;
        linear.int4_packed = grade.input(name + ".packed", packed);
    }
    if (s.kind == WeightKind::fp4) {
        const auto& m = l.fp4;
        linear.fp4_scales = s.scales;
        const void* scales = nullptr;
        if (s.scales == Fp4Scales::channel)
            scales = grade.input(name + ".scales", m.float_scales);
        else
            scales = grade.input(name + ".scales", m.byte_scales);
        linear.fp4 = {
            const_cast<uint8_t*>(grade.input(name + ".values", m.values)),
            const_cast<void*>(scales),
            s.scales == Fp4Scales::nvfp4
                ? grade.input(name + ".global", std::vector<float>{m.global_scale})
                : nullptr,
            static_cast<int64_t>(m.values.size()),
            static_cast<int64_t>(m.float_scales.size() + m.byte_scales.size())};
        std::vector<float> bias;
        for (const double x : l.exact.bias)
            bias.push_back(static_cast<float>(x));
        if (s.has_bias) linear.fp4_bias = grade.input(name + ".fp4_bias", bias);
    }
    return linear;
}

inline Block block_of(Grader& grade, const HostBlock& b, const Packed& packed) {
    const Sizes& s = b.sizes;
    return {
        s.shape(),
        {grade.input("norm1.gamma", b.gamma[0]), grade.input("norm1.beta", b.beta[0])},
        {grade.input("norm2.gamma", b.gamma[1]), grade.input("norm2.beta", b.beta[1])},
        layer_of(grade, "qkv", s.of_layer(0), b.qkv, packed.qkv),
        layer_of(grade, "out", s.of_layer(1), b.out, packed.out),
        layer_of(grade, "up", s.of_layer(2), b.up, packed.up),
        layer_of(grade, "down", s.of_layer(3), b.down, packed.down)};
}

}  // namespace block_grading
