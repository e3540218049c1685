// linear_act_backward() graded.
#pragma once

#include "layer.h"

namespace fused_epilogue_grading {

/// One backward pass. Arrays may begin at any element, and rows may be further apart
/// than they are long.
struct BackwardCall {
    int64_t M;
    int64_t N;
    int64_t K;
    Activation activation = Activation::silu;
    bool wants_dbias = true;
    int64_t gap_z = 0;  ///< ldx - K
    int64_t gap_w = 0;
    int64_t gap_dy = 0;
    int64_t z_from = 0;  ///< of dz, too
    int64_t w_from = 0;
    int64_t dy_from = 0;

    LinearShape shape() const { return {M, N, K, K + gap_z, K + gap_w, N + gap_dy}; }
    Layout of_z() const { return {M, K, K + gap_z, z_from}; }
    Layout of_w() const { return {N, K, K + gap_w, w_from}; }
    Layout of_dy() const { return {M, N, N + gap_dy, dy_from}; }

    std::string text() const {
        std::string text = "M = " + std::to_string(M) + ", N = " + std::to_string(N) +
                           ", K = " + std::to_string(K) + ", " +
                           kActivations[static_cast<int>(activation)];
        if (!wants_dbias) text += ", no dbias";
        const auto add = [&](const char* what, int64_t value) {
            if (value != 0) text += std::string(", ") + what + std::to_string(value);
        };
        add("ldx = K + ", gap_z);
        add("ldw = K + ", gap_w);
        add("ldy = N + ", gap_dy);
        add("z from element ", z_from);
        add("w from element ", w_from);
        add("dy from element ", dy_from);
        return text;
    }
};

struct BackwardNumbers {
    std::vector<float> dy;  ///< [M, N]
    std::vector<float> w;   ///< [N, K]
    std::vector<float> z;   ///< [M, K]
};

inline BackwardNumbers random_numbers(const BackwardCall& c, uint64_t seed) {
    const auto scale =
        static_cast<float>(1.0 / std::sqrt(static_cast<double>(c.N + 1)));
    return {random_stored(c.M * c.N, 3 * seed, 1.0f),
            random_stored(c.N * c.K, 3 * seed + 1, scale),
            random_stored(c.M * c.K, 3 * seed + 2, 1.5f)};
}

struct WantedGradient {
    Wanted dz;
    Wanted dbias;

    WantedGradient(const BackwardCall& c, const BackwardNumbers& n) {
        const wb::GemmShape shape = {c.M, c.K, c.N, false, false, 0, 0, 0};
        const auto zeros = all(c.M * c.K, 0.0f);
        const auto sums =
            wb::reference::gemm(shape.packed(), 1.0, n.dy, n.w, 0.0, zeros);
        const double relative = tensor_core_gamma(static_cast<double>(c.N));
        const auto K = static_cast<size_t>(c.K);
        std::vector<double> sum(K), off(K), magnitude(K);
        for (size_t i = 0; i < sums.c.size(); ++i) {
            const double z = n.z[i];
            const double by = slope(c.activation, z);
            const double exact = sums.c[i] * by;
            const double sum_off = relative * sums.magnitude[i];
            const double by_off = slope_bound(c.activation, z);
            const double dz_off = std::abs(by) * sum_off +
                                  by_off * (std::abs(sums.c[i]) + sum_off) +
                                  0x1p-23 * std::abs(exact);
            dz.add(exact, bf16_bound(exact, dz_off));
            sum[i % K] += exact;
            off[i % K] += dz_off;
            magnitude[i % K] += std::abs(exact) + dz_off;
        }
        for (size_t k = 0; k < K; ++k)
            dbias.add(sum[k],
                      off[k] + wb::testing::float_bound(static_cast<double>(c.M),
                                                        magnitude[k]));
    }
};

/// All versions.
/// @param in_any_order   whether they have the same bits then is graded, too
/// @param after_another  behind a call in the same arrays of other strides and another
///                       activation
inline void grade_backward(const BackwardCall& c,
                           const BackwardNumbers& n,
                           const std::string& what,
                           bool in_any_order = false,
                           bool after_another = false) {
    const WantedGradient wanted(c, n);
    const auto dy = c.of_dy().lay_out<Bf16>(n.dy, kNan);
    const auto w = c.of_w().lay_out<Bf16>(n.w, kNan);
    const auto z = c.of_z().lay_out<Bf16>(n.z, kNan);
    for (const auto& [name, idea, function] :
         wb::implementations("linear_act_backward", &linear_act_backward)) {
        Grader grade(name, c.text() + what);
        LinearGradient in = {c.shape(), c.activation, nullptr, nullptr, nullptr};
        in.dy = grade.input("dy", dy) + c.dy_from;
        in.w = grade.input("w", w) + c.w_from;
        in.z = grade.input("z", z) + c.z_from;
        Bf16* const dz = add_output<Bf16>(grade, "dz", c.of_z());
        float* const dbias =
            c.wants_dbias ? grade.output<float>("dbias", {c.K}) : nullptr;
        if (after_another) {
            const LinearShape packed = {c.M, c.N, c.K, c.K, c.K, c.N};
            const LinearGradient before = {
                packed, another(c.activation), in.dy, in.w, in.z};
            grade.run([&, launcher = function](cudaStream_t stream) {
                launcher(before, dz, dbias, stream);
            });
        }
        grade.run([&, launcher = function](cudaStream_t stream) {
            launcher(in, dz, dbias, stream);
        });
        expect_output(grade, "dz", c.of_z(), wanted.dz);
        if (c.wants_dbias)
            expect_output(grade, "dbias", {1, c.K, c.K, 0}, wanted.dbias);
        if (in_any_order) grade.expect_same_bits();
    }
}

inline void grade_backward(const BackwardCall& c, uint64_t seed = 1) {
    grade_backward(c, random_numbers(c, seed), ", seed " + std::to_string(seed));
}

}  // namespace fused_epilogue_grading
