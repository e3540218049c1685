/// wb/bench/attention.h: times the rungs of a float attention chapter on one shape.
#pragma once

#include <wb/attention.h>
#include <wb/bench/bench.h>
#include <wb/describe.h>
#include <wb/implementations.h>
#include <wb/reference/attention.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace wb::bench {

/// A shape with as many query heads as K/V heads and the usual scale.
inline AttentionShape plain_attention(int64_t batch,
                                      int64_t heads,
                                      int64_t queries,
                                      int64_t keys,
                                      int64_t head_dim,
                                      bool causal = false) {
    const float scale = 1.0f / std::sqrt(static_cast<float>(head_dim));
    return {batch, heads, heads, queries, keys, head_dim, causal, scale};
}

/// Times every rung, or the learner's function. A token is a query with all its heads.
///
/// @param contract  the chapter's function
/// @param memory    bytes that an implementation needs besides the arguments, at most
/// @param ceiling   fp32, or read where each tensor passes once and that is the limit
/// @param left_out  a rung that would take too long on this shape, or none
template <class Function>
void time_attention(Bench& bench,
                    const std::string& exercise,
                    Function* contract,
                    const AttentionShape& shape,
                    double memory,
                    Ceiling ceiling = Ceiling::fp32,
                    const std::string& left_out = "") {
    const double bytes =
        sizeof(float) * 2.0 *
        static_cast<double>(shape.query_elements() + shape.kv_elements());
    if (!bench.fits(bytes + memory)) return;
    const auto q = bench.random_normal(shape.query_elements());
    const auto k = bench.random_normal(shape.kv_elements());
    const auto v = bench.random_normal(shape.kv_elements());
    const auto o = bench.output<float>(shape.query_elements());
    const auto host_q = q.host();
    const auto host_k = k.host();
    const auto host_v = v.host();

    auto problem = bench.problem({describe(shape),
                                  ceiling,
                                  is_compute(ceiling) ? attention_flop(shape) : bytes,
                                  Cache::cold,
                                  static_cast<double>(shape.batch * shape.queries)});
    problem.expect("o", o, [&](int64_t i) {
        const auto row =
            reference::attention_row(shape, host_q, host_k, i / shape.head_dim);
        const double value =
            reference::attention_element(shape, row, host_v, i % shape.head_dim);
        // Sums over the keys and up to as many rescalings, on values of the size 1.
        const double n = static_cast<double>(row.weights.size());
        return Expected{value, 0x1p-24 * (10.0 * n + 1000.0)};
    });
    for (const auto& [name, idea, attention] : implementations(exercise, contract)) {
        const auto launch = [&, attention = attention](cudaStream_t stream) {
            attention(shape, q.data(), k.data(), v.data(), o.data(), nullptr, stream);
        };
        if (name != left_out) problem.time(name, idea, launch);
    }
}

}  // namespace wb::bench
