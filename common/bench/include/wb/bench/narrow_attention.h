/// wb/bench/narrow_attention.h: times the rungs of an attention chapter whose tensors
/// have 16 bits a number and whose products are done by tensor cores.
#pragma once

#include <wb/bench/attention.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace wb::bench {

/// Different random numbers in an array; more are repeated, or a CPU would take half a
/// minute to round them. No multiple of a row, so that no two rows are the same.
inline constexpr int64_t kNarrowPeriod = (1 << 22) + 3;

/// Standard normal numbers of T on the device.
template <class T>
Array<T> narrow_numbers(Bench& bench, int64_t count) {
    const auto floats = bench.random_normal(std::min(count, kNarrowPeriod)).host();
    std::vector<T> numbers(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = i < floats.size()
                         ? static_cast<T>(floats[i])
                         : numbers[i - static_cast<std::size_t>(kNarrowPeriod)];
    }
    Array<T> result(count);
    result.upload(numbers);
    return result;
}

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
    const auto q = narrow_numbers<T>(bench, shape.query_elements());
    const auto k = narrow_numbers<T>(bench, shape.kv_elements());
    const auto v = narrow_numbers<T>(bench, shape.kv_elements());
    const auto o = bench.output<T>(shape.query_elements());
    const auto host_q = q.host();
    const auto host_k = k.host();
    const auto host_v = v.host();

    auto problem = bench.problem({describe(shape),
                                  ceiling,
                                  attention_flop(shape),
                                  Cache::cold,
                                  static_cast<double>(shape.batch * shape.queries)});
    problem.expect("o", o, [&](int64_t i) {
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
    });
    for (const auto& [name, idea, attention] : implementations(exercise, contract)) {
        if (left_out(name)) continue;
        problem.time(name, idea, [&, attention = attention](cudaStream_t stream) {
            attention(shape, q.data(), k.data(), v.data(), o.data(), nullptr, stream);
        });
    }
}

}  // namespace wb::bench
