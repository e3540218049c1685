// The cases of a layer: what goes in, what must come out; and linear_act() graded.
#pragma once

#include <wb/gemm.h>
#include <wb/reference/gemm.h>

#include "grading.h"

namespace fused_epilogue_grading {

// --- A layer ------------------------------------------------------------------------

enum class Residual { none, apart, in_y };

/// One layer. Arrays may begin at any element of their memory, and rows may be further
/// apart than they are long.
struct Call {
    int64_t M;
    int64_t N;
    int64_t K;
    Activation activation = Activation::silu;
    bool has_bias = true;
    Residual residual = Residual::none;
    bool wants_z = false;
    int64_t gap_x = 0;  ///< ldx - K
    int64_t gap_w = 0;
    int64_t gap_y = 0;
    int64_t x_from = 0;
    int64_t w_from = 0;
    int64_t y_from = 0;  ///< of z and the residual, too
    int64_t bias_from = 0;

    LinearShape shape() const { return {M, N, K, K + gap_x, K + gap_w, N + gap_y}; }
    Layout of_x() const { return {M, K, K + gap_x, x_from}; }
    Layout of_w() const { return {N, K, K + gap_w, w_from}; }
    Layout of_y() const { return {M, N, N + gap_y, y_from}; }
    Layout of_bias() const { return {1, N, N, bias_from}; }

    std::string text() const {
        std::string text = "M = " + std::to_string(M) + ", N = " + std::to_string(N) +
                           ", K = " + std::to_string(K) + ", " +
                           kActivations[static_cast<int>(activation)];
        if (!has_bias) text += ", no bias";
        if (residual == Residual::apart) text += ", a residual";
        if (residual == Residual::in_y) text += ", y is the residual";
        if (wants_z) text += ", z";
        const auto add = [&](const char* what, int64_t value) {
            if (value != 0) text += std::string(", ") + what + std::to_string(value);
        };
        add("ldx = K + ", gap_x);
        add("ldw = K + ", gap_w);
        add("ldy = N + ", gap_y);
        add("x from element ", x_from);
        add("w from element ", w_from);
        add("y from element ", y_from);
        add("bias from element ", bias_from);
        return text;
    }
};

/// Numbers of a layer, without gaps, all of them bf16.
struct Numbers {
    std::vector<float> x;         ///< [M, K]
    std::vector<float> w;         ///< [N, K]
    std::vector<float> bias;      ///< [N]
    std::vector<float> residual;  ///< [M, N]
};

/// Most of z is where activations are curved.
inline Numbers random_numbers(const Call& c, uint64_t seed) {
    const auto scale =
        static_cast<float>(0.7 / std::sqrt(static_cast<double>(c.K + 1)));
    return {random_stored(c.M * c.K, 4 * seed, 1.0f),
            random_stored(c.N * c.K, 4 * seed + 1, scale),
            random_stored(c.N, 4 * seed + 2, 1.0f),
            random_stored(c.M * c.N, 4 * seed + 3, 1.0f)};
}

/// What a layer's numbers must be, before they are rounded.
struct Layers {
    Wanted z;
    Wanted v;  ///< act(z) + residual
};

/// @param is_exact  nothing is off: all sums are exact in float, whatever their order
inline Layers layers_of(const Call& c, const Numbers& n, bool is_exact) {
    const wb::GemmShape shape = {c.M, c.N, c.K, false, true, 0, 0, 0};
    const auto zeros = all(c.M * c.N, 0.0f);
    const auto sums = wb::reference::gemm(shape.packed(), 1.0, n.x, n.w, 0.0, zeros);
    const double relative = tensor_core_gamma(static_cast<double>(c.K));
    Layers layers;
    for (size_t i = 0; i < sums.c.size(); ++i) {
        const double bias =
            c.has_bias ? double{n.bias[i % static_cast<size_t>(c.N)]} : 0.0;
        const double z = sums.c[i] + bias;
        const double off = is_exact || !std::isfinite(z)
                               ? 0.0
                               : relative * (sums.magnitude[i] + std::abs(bias));
        layers.z.add(z, off);
        const double residual =
            c.residual == Residual::none ? 0.0 : double{n.residual[i]};
        const double v = act(c.activation, z) + residual;
        const double v_off = act_bound(c.activation, z, off);
        layers.v.add(v, is_exact ? v_off : v_off + 0x1p-23 * (std::abs(v) + v_off));
    }
    return layers;
}

/// What is in memory.
struct Memory {
    std::vector<Bf16> x;
    std::vector<Bf16> w;
    std::vector<Bf16> bias;
    std::vector<Bf16> residual;

    /// Between rows, where nothing must be used, is NaN.
    Memory(const Call& c, const Numbers& n)
        : x(c.of_x().lay_out<Bf16>(n.x, kNan)),
          w(c.of_w().lay_out<Bf16>(n.w, kNan)),
          bias(c.of_bias().lay_out<Bf16>(n.bias, kNan)),
          residual(c.of_y().lay_out<Bf16>(n.residual, kNan)) {}
};

/// A layer's inputs on the device.
inline LinearInput add_inputs(Grader& grade, const Call& c, const Memory& memory) {
    LinearInput in = {c.shape(), c.activation, nullptr, nullptr, nullptr, nullptr};
    in.x = grade.input("x", memory.x) + c.x_from;
    in.w = grade.input("w", memory.w) + c.w_from;
    if (c.has_bias) in.bias = grade.input("bias", memory.bias) + c.bias_from;
    if (c.residual == Residual::apart)
        in.residual = grade.input("residual", memory.residual) + c.y_from;
    return in;
}

// --- linear_act() -------------------------------------------------------------------

/// One launcher on these numbers.
inline void grade_linear_one(const std::string& name,
                             decltype(&linear_act) launcher,
                             const Call& c,
                             const Numbers& numbers,
                             const Layers& layers,
                             const std::string& what) {
    Grader grade(name, c.text() + what);
    const Memory memory(c, numbers);
    LinearInput in = add_inputs(grade, c, memory);
    const bool is_in_y = c.residual == Residual::in_y;
    Bf16* const y = add_output<Bf16>(
        grade, "y", c.of_y(), is_in_y ? numbers.residual : std::vector<float>{});
    if (is_in_y) in.residual = y;
    Bf16* const z = c.wants_z ? add_output<Bf16>(grade, "z", c.of_y()) : nullptr;
    grade.run([&](cudaStream_t stream) { launcher(in, y, z, stream); });
    Wanted wanted;
    const auto round = [&](const Wanted& exact) {
        wanted = {};
        for (size_t i = 0; i < exact.value.size(); ++i)
            wanted.add(exact.value[i], bf16_bound(exact.value[i], exact.bound[i]));
    };
    if (c.wants_z) {
        round(layers.z);
        expect_output(grade, "z", c.of_y(), wanted);
    }
    round(layers.v);
    expect_output(grade, "y", c.of_y(), wanted, is_in_y);
}

/// All versions.
inline void grade_linear(const Call& c,
                         const Numbers& numbers,
                         const std::string& what,
                         bool is_exact = false) {
    const Layers layers = layers_of(c, numbers, is_exact);
    for (const auto& [name, idea, launcher] :
         wb::implementations("linear_act", &linear_act))
        grade_linear_one(name, launcher, c, numbers, layers, what);
}

inline void grade_linear_random(const Call& c, uint64_t seed = 1) {
    grade_linear(c, random_numbers(c, seed), ", seed " + std::to_string(seed));
}

/// Whole numbers whose sums are exact in float, in any order, and many of them in bf16.
inline Numbers whole_numbers(const Call& c) {
    const auto fill = [](int64_t rows, int64_t columns, int64_t a, int64_t b) {
        std::vector<float> values;
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t i = 0; i < columns; ++i)
                values.push_back(static_cast<float>((a * r + b * i) % 7 - 3));
        return values;
    };
    return {fill(c.M, c.K, 3, 5),
            fill(c.N, c.K, 2, 3),
            fill(1, c.N, 0, 3),
            fill(c.M, c.N, 5, 2)};
}

}  // namespace fused_epilogue_grading
