/// wb/bench/narrow_attention.h: times the rungs of an attention chapter whose tensors
/// have 16 bits a number and whose products are done by tensor cores.
#pragma once

#include <wb/bench/attention.h>
#include <wb/bench/random_numbers.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

namespace wb::bench {

/// Times every rung, or the learner's function, for one type.
///
/// @param exercise  with the type, "tensor_core_attention_fp16"
/// @param ceiling   fp16 or bf16
/// @param unit      of rounding of T: 2^-11 or 2^-8
/// @param left_out  whether a rung would take too long on this shape
template <class T, class Function>
void time_narrow_attention(Bench& bench,
                           const std::string& exercise,
                           Function* contract,
                           const AttentionShape& shape,
                           Ceiling ceiling,
                           double unit,
                           const std::function<bool(const std::string&)>& left_out) {
    const double bytes =
        sizeof(T) * 2.0 *
        static_cast<double>(shape.query_elements() + shape.kv_elements());
    if (!bench.fits(bytes)) return;
    const auto q = random_numbers<T>(bench, shape.query_elements());
    const auto k = random_numbers<T>(bench, shape.kv_elements());
    const auto v = random_numbers<T>(bench, shape.kv_elements());
    const auto o = bench.output<T>(shape.query_elements());
    const auto host_q = q.host();
    const auto host_k = k.host();
    const auto host_v = v.host();

    auto problem = bench.problem({describe(shape),
                                  ceiling,
                                  attention_flop(shape),
                                  Cache::cold,
                                  static_cast<double>(shape.batch * shape.queries)});
    // A row of a long sequence takes the reference a while: a few of them must do.
    constexpr int kRowsChecked = 16;
    const auto expected = [&](int64_t i) {
        const auto row =
            reference::attention_row(shape, host_q, host_k, i / shape.head_dim);
        const double value =
            reference::attention_element(shape, row, host_v, i % shape.head_dim);
        // Sums over the keys and up to as many rescalings, in float; each weight is
        // rounded to T, and so is the result.
        double rounded = std::abs(value);
        for (std::size_t j = 0; j < row.weights.size(); ++j) {
            const auto at =
                static_cast<std::size_t>(row.first_kv + i % shape.head_dim) +
                j * static_cast<std::size_t>(shape.head_dim);
            rounded += row.weights[j] * std::abs(static_cast<float>(host_v[at]));
        }
        const double n = static_cast<double>(row.weights.size());
        return Expected{value, 0x1p-24 * (10.0 * n + 1000.0) + unit * rounded};
    };
    problem.expect("o", o, expected, kRowsChecked);
    for (const auto& [name, idea, attention] : implementations(exercise, contract)) {
        if (left_out(name)) continue;
        problem.time(name, idea, [&, attention = attention](cudaStream_t stream) {
            attention(shape, q.data(), k.data(), v.data(), o.data(), nullptr, stream);
        });
    }
}

}  // namespace wb::bench
