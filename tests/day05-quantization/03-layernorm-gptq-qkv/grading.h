// Inputs of several kinds, and calls of all versions of layernorm_gptq_qkv() with them.
#pragma once

#include "layernorm_gptq_qkv.h"

#include <wb/check.h>
#include <wb/implementations.h>
#include <wb/reference/layernorm.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/norms.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "../gptq_calls.h"

namespace qkv_grading {

using namespace gptq_calls;
using wb::testing::FewMultiprocessors;

/// Which of the LayerNorm's arrays there are.
enum Affine { neither, weight_only, bias_only, both };

/// One launch.
struct Call {
    int64_t batch;
    int64_t seq;
    int64_t hidden;
    int64_t group = -1;
    Affine affine = both;
    Order order = none;
    bool zeros_minus_one = true;

    QkvShape shape() const { return {batch, seq, hidden, group, zeros_minus_one}; }
    int64_t rows() const { return batch * seq; }
    std::string text() const {
        const char* const arrays[] = {
            "neither weight nor bias", "weight, no bias", "bias, no weight", "both"};
        return "batch = " + std::to_string(batch) + ", seq = " + std::to_string(seq) +
               ", hidden = " + std::to_string(hidden) +
               ", group = " + std::to_string(group) + ", " + arrays[affine] + ", " +
               text_of(order) + (zeros_minus_one ? "" : ", zeros as they are");
    }
};

/// x and the LayerNorm, on the host. An array that is not there is empty.
struct Rows {
    std::vector<__half> x;  ///< [rows, hidden]
    std::vector<__half> weight;
    std::vector<__half> bias;
    float eps = 1e-5f;
};

inline GptqWeights random_weights(const Call& c, uint64_t seed) {
    return random_weights_of(c.shape().weights(), c.order, seed);
}
inline GptqWeights exact_weights(const Call& c, uint64_t seed) {
    return exact_weights_of(c.shape().weights(), c.order, seed);
}

inline GptqWeights equal_weights(const Call& c, float scale) {
    return equal_weights_of(c.shape().weights(), c.order, scale);
}

inline __half half_of(double value) {
    return static_cast<__half>(static_cast<float>(value));
}

/// Standard normal numbers with a few outliers, around a mean.
inline Rows random_rows(const Call& c, uint64_t seed, double mean = 0.0) {
    wb::testing::Random random(seed);
    Rows r;
    for (int64_t i = 0; i < c.rows() * c.hidden; ++i) {
        const bool is_far = random.below(97) == 0;
        r.x.push_back(half_of(mean + random.normal() * (is_far ? 20.0 : 1.0)));
    }
    for (int64_t k = 0; k < c.hidden; ++k) {
        const double factor = 1.0 + 0.5 * random.normal();
        const double added = random.normal();
        if (c.affine == both || c.affine == weight_only)
            r.weight.push_back(half_of(factor));
        if (c.affine == both || c.affine == bias_only) r.bias.push_back(half_of(added));
    }
    return r;
}

/// Rows of two numbers, of each one half, in any order: normalised, they are 1 and -1,
/// but for errors that vanish when h is rounded. Weights are 1, 2 and -1, what is added
/// is 0, 4 and -4: h is a whole number, never 0, and sums are exact in any order.
inline Rows whole_rows(const Call& c, uint64_t seed) {
    constexpr double kMeans[] = {0.0, 1024.0, -3.0};
    constexpr double kFar[] = {1.0, 8.0, 0.5};
    constexpr double kWeights[] = {1.0, 2.0, -1.0};
    constexpr double kAdded[] = {4.0, 0.0, -4.0, 4.0};
    wb::testing::Random random(seed + 7);
    Rows r;
    r.eps = 0.0f;
    for (int64_t m = 0; m < c.rows(); ++m) {
        std::vector<double> row;
        for (int64_t k = 0; k < c.hidden; ++k)
            row.push_back(kMeans[at(m) % 3] +
                          (k % 2 == 0 ? kFar[at(m) % 3] : -kFar[at(m) % 3]));
        for (int64_t k = c.hidden - 1; k > 0; --k)
            std::swap(row[at(k)], row[at(random.below(k + 1))]);
        for (const double each : row)
            r.x.push_back(half_of(each));
    }
    for (int64_t k = 0; k < c.hidden; ++k) {
        if (c.affine == both || c.affine == weight_only)
            r.weight.push_back(half_of(kWeights[at(k) % 3]));
        if (c.affine == both || c.affine == bias_only)
            r.bias.push_back(half_of(kAdded[at(k) % 4]));
    }
    return r;
}

/// What qkv_repack() makes of W.
inline std::vector<uint4> packed_of(const Call& c, const GptqWeights& w) {
    const int64_t vectors = qkv_packed_vectors(c.shape(), !w.g_idx.empty());
    return packed_by("qkv_repack", c.text(), w, vectors, [&](auto... to) {
        qkv_repack(c.shape(), to...);
    });
}

/// What qkv must be, and how far from it a kernel may be.
struct Expected {
    std::vector<double> qkv;     ///< [3, rows, hidden]
    std::vector<double> bounds;  ///< the same
};

/// Of a product of n terms: see chapter 02. What remains of a LayerNorm's errors is day
/// 3's bound, and the rounding of h to half.
///
/// @param is_exact  h is a half, but for what is less than half of its last digit, and
///                  sums of it are exact
inline Expected expected_of(const Call& c,
                            const GptqWeights& w,
                            const Rows& r,
                            bool is_exact) {
    const auto weights = wb::reference::dequantized(w);
    const double of_sum =
        wb::testing::gamma(2.0 * static_cast<double>(c.hidden) + 16.0, 0x1p-23);
    const int64_t N = 3 * c.hidden;
    Expected e;
    e.qkv.resize(at(c.rows() * N));
    e.bounds.resize(e.qkv.size());
    std::vector<float> x(at(c.hidden));
    for (int64_t m = 0; m < c.rows(); ++m) {
        for (int64_t k = 0; k < c.hidden; ++k)
            x[at(k)] = static_cast<float>(r.x[at(m * c.hidden + k)]);
        const double eps = double{r.eps};
        const auto row =
            wb::reference::row_moments(x.data(), c.hidden, eps, /*is_centered=*/true);
        const wb::testing::RowBounds norm(row, c.hidden, eps, true);
        std::vector<double> sums(at(N));
        std::vector<double> of_h(at(N));        // by how far h may be off
        std::vector<double> magnitudes(at(N));  // of terms
        for (int64_t k = 0; k < c.hidden; ++k) {
            if (!w.has_group(k)) continue;  // zeros, whatever h is
            const double factor =
                r.weight.empty() ? 1.0 : static_cast<float>(r.weight[at(k)]);
            const double added =
                r.bias.empty() ? 0.0 : static_cast<float>(r.bias[at(k)]);
            double h = wb::reference::normalized(x[at(k)], row, factor, added);
            double bound = 0.0;
            if (is_exact) {
                h = static_cast<float>(half_of(h));
            } else {
                bound = norm.of_element(x[at(k)], row, factor, added);
                bound += 0x1p-11 * (std::abs(h) + bound) + 0x1p-25;
            }
            for (int64_t n = 0; n < N; ++n) {
                const double weight = weights[at(k * N + n)];
                sums[at(n)] += h * weight;
                of_h[at(n)] += bound * std::abs(weight);
                magnitudes[at(n)] += (std::abs(h) + bound) * std::abs(weight);
            }
        }
        for (int64_t n = 0; n < N; ++n) {
            const std::size_t i =
                at((n / c.hidden * c.rows() + m) * c.hidden + n % c.hidden);
            const double sum = sums[at(n)];
            if (is_exact || !std::isfinite(sum)) {
                e.qkv[i] = static_cast<float>(half_of(sum));
                continue;
            }
            const double far = of_h[at(n)] + of_sum * magnitudes[at(n)];
            e.qkv[i] = sum;
            e.bounds[i] = far + 0x1p-11 * (std::abs(sum) + far) + 0x1p-25;
        }
    }
    return e;
}

/// One launcher on these numbers.
inline void grade_one(const std::string& name,
                      decltype(&layernorm_gptq_qkv) launcher,
                      const Call& c,
                      const GptqWeights& w,
                      const std::vector<uint4>& packed,
                      const Rows& r,
                      const Expected& expected,
                      const std::string& what) {
    Grader grade(name, c.text() + what);
    const GptqTensors tensors = tensors_of(grade, w);
    using wb::testing::Begin;
    const auto of_norm = [&](const char* array, const std::vector<__half>& numbers) {
        return numbers.empty() ? nullptr : grade.input(array, numbers, Begin::vectors);
    };
    const uint4* const d_packed = grade.input("packed", packed, Begin::vectors);
    const QkvNorm norm = {
        of_norm("norm.weight", r.weight), of_norm("norm.bias", r.bias), r.eps};
    const __half* const d_x = grade.input("input", r.x, Begin::vectors);
    __half* const d_qkv =
        grade.output<__half>("qkv", {3, c.batch, c.seq, c.hidden}, Begin::vectors);
    grade.run([&](cudaStream_t stream) {
        launcher(c.shape(), norm, tensors, d_packed, d_x, d_qkv, stream);
    });
    grade.expect(
        "qkv", expected.qkv, [&](int64_t i) { return expected.bounds[at(i)]; });
}

/// All versions of layernorm_gptq_qkv().
inline void grade_qkv(const Call& c,
                      const GptqWeights& w,
                      const Rows& r,
                      const std::string& what,
                      bool is_exact = false) {
    const auto packed = packed_of(c, w);
    const Expected expected = expected_of(c, w, r, is_exact);
    for (const auto& [name, idea, launcher] :
         wb::implementations("layernorm_gptq_qkv", layernorm_gptq_qkv))
        grade_one(name, launcher, c, w, packed, r, expected, what);
}

inline void grade_random(const Call& c, uint64_t seed = 1) {
    grade_qkv(c,
              random_weights(c, seed),
              random_rows(c, seed + 3),
              ", seed " + std::to_string(seed));
}

/// Whole numbers: every sum is exact.
inline void grade_whole(const Call& c, uint64_t seed = 1) {
    grade_qkv(c, exact_weights(c, seed), whole_rows(c, seed), ", whole numbers", true);
}

}  // namespace qkv_grading
