/// CPU reference of the gradients of attention, in double: the formulas, pair by pair.
#pragma once

#include <wb/attention.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb::reference {

/// What the way back is given. Number is float, or double for finite differences.
template <class Number>
struct BackwardInputs {
    std::vector<Number> q;    ///< [B, Hq, N, D]
    std::vector<Number> k;    ///< [B, Hkv, M, D]
    std::vector<Number> v;    ///< [B, Hkv, M, D]
    std::vector<Number> o;    ///< [B, Hq, N, D]
    std::vector<Number> lse;  ///< [B, Hq, N]
    std::vector<Number> d_o;  ///< [B, Hq, N, D]
};

/// A query and a key that it sees.
struct BackwardPair {
    int64_t row;           ///< of q, o, lse and d_o
    int64_t kv_row;        ///< of k and v
    double score;          ///< scale * q . k
    double score_size;     ///< |scale| * sum of |q k|
    double lse;            ///< of the query
    double weight;         ///< P = exp(score - lse)
    double d_weight;       ///< d_o . v
    double d_weight_size;  ///< sum of |d_o v|
    double delta;          ///< d_o . o
    double delta_size;     ///< sum of |d_o o|
    double d_score;        ///< S = P * (d_weight - delta)
};

struct AttentionGradients {
    std::vector<double> dq;
    std::vector<double> dk;
    std::vector<double> dv;
};

/// The gradients.
/// @param visit  is called with each pair, by rows, then by keys
template <class Number, class Visit>
AttentionGradients attention_backward(const AttentionShape& shape,
                                      const BackwardInputs<Number>& in,
                                      Visit visit) {
    const auto at = [](int64_t i) { return static_cast<std::size_t>(i); };
    const int64_t D = shape.head_dim;
    AttentionGradients result;
    result.dq.assign(at(shape.query_elements()), 0.0);
    result.dk.assign(at(shape.kv_elements()), 0.0);
    result.dv.assign(at(shape.kv_elements()), 0.0);
    for (int64_t row = 0; row < shape.rows(); ++row) {
        const int64_t query = row % shape.queries;
        const int64_t head = row / shape.queries;  // counted through the batch
        const int64_t kv_head = head / (shape.query_heads / shape.kv_heads);
        const Number* const q = &in.q[at(row * D)];
        const Number* const d_o = &in.d_o[at(row * D)];
        const Number* const o = &in.o[at(row * D)];
        BackwardPair pair = {};
        pair.row = row;
        pair.lse = double{in.lse[at(row)]};
        for (int64_t d = 0; d < D; ++d) {
            pair.delta += double{d_o[d]} * double{o[d]};
            pair.delta_size += std::abs(double{d_o[d]} * double{o[d]});
        }
        const int64_t visible =
            visible_keys(shape.queries, shape.keys, shape.causal, query);
        for (int64_t key = 0; key < visible; ++key) {
            pair.kv_row = kv_head * shape.keys + key;
            const Number* const k = &in.k[at(pair.kv_row * D)];
            const Number* const v = &in.v[at(pair.kv_row * D)];
            double score = 0.0, size = 0.0, d_weight = 0.0, d_weight_size = 0.0;
            for (int64_t d = 0; d < D; ++d) {
                score += double{q[d]} * double{k[d]};
                size += std::abs(double{q[d]} * double{k[d]});
                d_weight += double{d_o[d]} * double{v[d]};
                d_weight_size += std::abs(double{d_o[d]} * double{v[d]});
            }
            pair.score = double{shape.scale} * score;
            pair.score_size = std::abs(double{shape.scale}) * size;
            pair.weight = std::exp(pair.score - pair.lse);
            pair.d_weight = d_weight;
            pair.d_weight_size = d_weight_size;
            pair.d_score = pair.weight * (d_weight - pair.delta);
            const double scaled = double{shape.scale} * pair.d_score;
            double* const dq = &result.dq[at(row * D)];
            double* const dk = &result.dk[at(pair.kv_row * D)];
            double* const dv = &result.dv[at(pair.kv_row * D)];
            for (int64_t d = 0; d < D; ++d) {
                dq[d] += scaled * double{k[d]};
                dk[d] += scaled * double{q[d]};
                dv[d] += pair.weight * double{d_o[d]};
            }
            visit(pair);
        }
    }
    return result;
}

}  // namespace wb::reference
