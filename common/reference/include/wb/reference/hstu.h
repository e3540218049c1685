/// CPU reference of HSTU's pointwise attention, in double: which keys a row sees,
/// scores pair by pair, and the output. Gradients are sums over the same pairs.
#pragma once

#include <wb/reference/sums.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace wb::reference {

/// The masks of the contract, by number.
enum class HstuSees { full, causal, local, context, target, arbitrary };

/// All numbers of a call, on the host.
struct HstuProblem {
    std::vector<int32_t> cu_seqlens;  ///< [batch + 1]
    int64_t heads = 1;
    int64_t head_dim = 32;
    double alpha = 1.0;
    double scaling_length = 1.0;
    std::vector<float> q, k, v, d_o;  ///< [total, heads, head_dim]
    HstuSees mask = HstuSees::causal;
    int64_t left = 0, right = 0;
    std::vector<int32_t> contexts, targets;  ///< [batch], or empty
    std::vector<int32_t> offsets;            ///< [total + 1]
    std::vector<int32_t> intervals;          ///< [offsets[total], 2]
    std::vector<float> positions;            ///< [heads, 2 M + 1], or empty
    int64_t max_distance = 0;
    std::vector<float> times;  ///< [heads, buckets], or empty
    int64_t buckets = 0;
    std::vector<int64_t> timestamps;  ///< [total]

    int64_t batch() const { return static_cast<int64_t>(cu_seqlens.size()) - 1; }
    int64_t total() const { return cu_seqlens.back(); }
    int64_t length(int64_t b) const {
        return int64_t{cu_seqlens[at(b + 1)]} - cu_seqlens[at(b)];
    }
    static std::size_t at(int64_t i) { return static_cast<std::size_t>(i); }
    /// Where the numbers of a head of a token begin.
    std::size_t head_of(int64_t token, int64_t head) const {
        return at((token * heads + head) * head_dim);
    }
};

/// Whether row i of sequence b sees its key j.
inline bool hstu_sees(const HstuProblem& p, int64_t b, int64_t i, int64_t j) {
    const auto at = HstuProblem::at;
    const int64_t contexts = p.contexts.empty() ? 0 : p.contexts[at(b)];
    switch (p.mask) {
        case HstuSees::full:
            return true;
        case HstuSees::causal:
            return j <= i;
        case HstuSees::local:
            return i - j <= p.left && j - i <= p.right;
        case HstuSees::context:
            return j <= i || j < contexts;
        case HstuSees::target: {
            const int64_t history = p.length(b) - p.targets[at(b)];
            return j < contexts || j == i || (j <= i && j < history);
        }
        case HstuSees::arbitrary: {
            const int64_t token = p.cu_seqlens[at(b)] + i;
            for (int64_t e = p.offsets[at(token)]; e < p.offsets[at(token + 1)]; ++e)
                if (j >= p.intervals[at(2 * e)] && j < p.intervals[at(2 * e + 1)])
                    return true;
            return false;
        }
    }
    return false;
}

/// The bucket of a span of time: the number of its bits.
inline int64_t hstu_bucket(int64_t a, int64_t b, int64_t buckets) {
    uint64_t apart =
        static_cast<uint64_t>(std::max(a, b)) - static_cast<uint64_t>(std::min(a, b));
    int64_t bits = 0;
    for (; apart != 0; apart >>= 1)
        ++bits;
    return std::min(bits, buckets - 1);
}

/// A row and a key that it sees.
struct HstuPair {
    int64_t head;
    int64_t row, key;       ///< among all tokens
    double s;               ///< score
    double s_size;          ///< |alpha| sum |q| |k| + |bias|
    int64_t position = -1;  ///< in the tables of the bias, or -1
    int64_t time = -1;
};

inline double hstu_sigmoid(double s) {
    return 1.0 / (1.0 + std::exp(-s));
}
inline double hstu_silu(double s) {
    return s * hstu_sigmoid(s);
}
inline double hstu_silu_slope(double s) {
    const double sigma = hstu_sigmoid(s);
    return sigma * (1.0 + s * (1.0 - sigma));
}

/// Calls visit(pair) for each row of each head and each key that it sees.
template <class Visit>
void hstu_pairs(const HstuProblem& p, Visit visit) {
    const auto at = HstuProblem::at;
    for (int64_t b = 0; b < p.batch(); ++b) {
        const int64_t begin = p.cu_seqlens[at(b)];
        const int64_t n = p.length(b);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < n; ++j) {
                if (!hstu_sees(p, b, i, j)) continue;
                for (int64_t h = 0; h < p.heads; ++h) {
                    HstuPair pair = {h, begin + i, begin + j, 0.0, 0.0, -1, -1};
                    const auto [product, size, terms] =
                        product_sum(&p.q[p.head_of(pair.row, h)],
                                    &p.k[p.head_of(pair.key, h)],
                                    at(p.head_dim));
                    pair.s = p.alpha * product;
                    pair.s_size = std::abs(p.alpha) * size;
                    const auto add = [&](double bias) {
                        pair.s += bias;
                        pair.s_size += std::abs(bias);
                    };
                    if (!p.positions.empty()) {
                        const int64_t M = p.max_distance;
                        pair.position = h * (2 * M + 1) + std::clamp(i - j, -M, M) + M;
                        add(p.positions[at(pair.position)]);
                    }
                    if (!p.times.empty()) {
                        pair.time =
                            h * p.buckets + hstu_bucket(p.timestamps[at(pair.row)],
                                                        p.timestamps[at(pair.key)],
                                                        p.buckets);
                        add(p.times[at(pair.time)]);
                    }
                    visit(pair);
                }
            }
    }
}

/// o of all rows, [total, heads, head_dim].
inline std::vector<double> hstu_forward(const HstuProblem& p) {
    std::vector<double> o(p.q.size());
    hstu_pairs(p, [&](const HstuPair& pair) {
        const double weight = hstu_silu(pair.s) / p.scaling_length;
        const std::size_t from = p.head_of(pair.key, pair.head);
        const std::size_t to = p.head_of(pair.row, pair.head);
        add_row(&o[to], weight, &p.v[from], HstuProblem::at(p.head_dim));
    });
    return o;
}

}  // namespace wb::reference
