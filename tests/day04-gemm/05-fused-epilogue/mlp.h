// mlp() graded.
#pragma once

#include "layer.h"

namespace fused_epilogue_grading {

/// Two layers.
struct MlpCall {
    int64_t M;
    int64_t K;
    int64_t H;
    int64_t N;
    Activation activation = Activation::silu;
    bool has_bias1 = true;
    bool has_bias2 = true;
    Residual residual = Residual::none;
    int64_t from = 0;  ///< the first element of all arrays

    std::string text() const {
        std::string text = "M = " + std::to_string(M) + ", K = " + std::to_string(K) +
                           ", H = " + std::to_string(H) + ", N = " + std::to_string(N) +
                           ", " + kActivations[static_cast<int>(activation)];
        if (!has_bias1) text += ", no bias1";
        if (!has_bias2) text += ", no bias2";
        if (residual == Residual::apart) text += ", a residual";
        if (residual == Residual::in_y) text += ", y is the residual";
        if (from > 0) text += ", arrays from element " + std::to_string(from);
        return text;
    }
    Call first() const { return {M, H, K, activation, has_bias1}; }
    Call second() const { return {M, N, H, Activation::none, has_bias2, residual}; }
};

struct MlpNumbers {
    std::vector<float> x;         ///< [M, K]
    std::vector<float> w1;        ///< [H, K]
    std::vector<float> bias1;     ///< [H]
    std::vector<float> w2;        ///< [N, H]
    std::vector<float> bias2;     ///< [N]
    std::vector<float> residual;  ///< [M, N]
};

/// Of two layers' numbers.
inline MlpNumbers joined(const Numbers& one, const Numbers& two) {
    return {one.x, one.w, one.bias, two.w, two.bias, two.residual};
}

inline MlpNumbers random_numbers(const MlpCall& c, uint64_t seed) {
    return joined(random_numbers(c.first(), seed),
                  random_numbers(c.second(), seed + 9));
}

inline MlpNumbers whole_numbers(const MlpCall& c) {
    return joined(whole_numbers(c.first()), whole_numbers(c.second()));
}

/// What y must be. A hidden number is rounded to a bf16, and may be off by what it may
/// be in linear_act().
inline Wanted wanted_of(const MlpCall& c, const MlpNumbers& n, bool is_exact) {
    const auto hidden = layers_of(c.first(), {n.x, n.w1, n.bias1, {}}, is_exact).v;
    Wanted y;
    for (int64_t m = 0; m < c.M; ++m)
        for (int64_t i = 0; i < c.N; ++i) {
            double sum = c.has_bias2 ? double{n.bias2[static_cast<size_t>(i)]} : 0.0;
            double magnitude = std::abs(sum);
            double off = 0.0;
            for (int64_t h = 0; h < c.H; ++h) {
                const auto of_hidden = static_cast<size_t>(m * c.H + h);
                const double w = n.w2[static_cast<size_t>(i * c.H + h)];
                const double exact = hidden.value[of_hidden];
                const double may_be_off = bf16_bound(exact, hidden.bound[of_hidden]);
                sum += exact * w;
                magnitude += (std::abs(exact) + may_be_off) * std::abs(w);
                off += may_be_off * std::abs(w);
            }
            off += tensor_core_gamma(static_cast<double>(c.H)) * magnitude;
            if (c.residual != Residual::none)
                sum += n.residual[static_cast<size_t>(m * c.N + i)];
            off = is_exact ? 0.0 : off + 0x1p-23 * std::abs(sum);
            y.add(sum, bf16_bound(sum, off));
        }
    return y;
}

/// One launcher on these numbers.
inline void grade_mlp_one(const std::string& name,
                          decltype(&mlp) launcher,
                          const MlpCall& c,
                          const MlpNumbers& n,
                          const Wanted& wanted,
                          const std::string& what,
                          bool after_another = false) {
    const Layout of_y = {c.M, c.N, c.N, c.from};
    Grader grade(name, c.text() + what);
    MlpInput in = {c.M, c.K, c.H, c.N, c.activation, {}, {}, {}, {}, {}, {}};
    const auto input = [&](const char* name_of, const std::vector<float>& values) {
        const auto count = static_cast<int64_t>(values.size());
        const Layout at = {1, count, count, c.from};
        return grade.input(name_of, at.lay_out<Bf16>(values, kNan)) + c.from;
    };
    in.x = input("x", n.x);
    in.w1 = input("w1", n.w1);
    if (c.has_bias1) in.bias1 = input("bias1", n.bias1);
    in.w2 = input("w2", n.w2);
    if (c.has_bias2) in.bias2 = input("bias2", n.bias2);
    const bool is_in_y = c.residual == Residual::in_y;
    Bf16* const y =
        add_output<Bf16>(grade, "y", of_y, is_in_y ? n.residual : std::vector<float>{});
    if (is_in_y) in.residual = y;
    if (c.residual == Residual::apart) in.residual = input("residual", n.residual);
    if (after_another) {  // in the same arrays
        MlpInput before = in;
        before.activation = another(in.activation);
        before.bias1 = nullptr;
        grade.run([&](cudaStream_t stream) { launcher(before, y, stream); });
    }
    grade.run([&](cudaStream_t stream) { launcher(in, y, stream); });
    expect_output(grade, "y", of_y, wanted, is_in_y);
}

/// All versions.
inline void grade_mlp(const MlpCall& c,
                      const MlpNumbers& n,
                      const std::string& what,
                      bool is_exact,
                      bool after_another = false) {
    const Wanted wanted = wanted_of(c, n, is_exact);
    for (const auto& [name, idea, launcher] : wb::implementations("mlp", &mlp))
        grade_mlp_one(name, launcher, c, n, wanted, what, after_another);
}

inline void grade_mlp(const MlpCall& c) {
    grade_mlp(c, random_numbers(c, 4), ", seed 4", false);
}

}  // namespace fused_epilogue_grading
