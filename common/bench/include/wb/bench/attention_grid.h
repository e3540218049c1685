/// wb/bench/attention_grid.h: the last rung of a chapter over a whole grid of models:
/// 1024 to 8192 tokens, width 512 to 2048, 8 to 32 heads, batch 1 to 32.
///
/// `--sizes grid` runs it. tests/day06-llm-attention/torch_peers.py --grid measures
/// PyTorch on the same shapes, under the same names.
#pragma once

#include <wb/bench/attention.h>
#include <wb/bench/random_numbers.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

namespace wb::bench {

/// Every shape of the grid that has one of the head dimensions, small problems first.
inline std::vector<AttentionShape> attention_grid(
    std::initializer_list<int64_t> head_dims) {
    std::vector<AttentionShape> shapes;
    for (const int64_t width : {512, 1024, 2048}) {
        for (const int64_t heads : {8, 16, 32}) {
            if (!std::count(head_dims.begin(), head_dims.end(), width / heads))
                continue;
            for (const int64_t tokens : {1024, 2048, 4096, 8192}) {
                for (const int64_t batch : {1, 4, 8, 16, 32}) {
                    shapes.push_back(
                        plain_attention(batch, heads, tokens, tokens, width / heads));
                }
            }
        }
    }
    return shapes;
}

/// Times the last rung, or the learner's function, over the grid; does nothing unless
/// the grid was asked for, except in the simulator, where one tiny shape is checked.
///
/// @tparam T        float, half or bfloat16
/// @param exercise  whose rungs
/// @param contract  its function
/// @param unit      of rounding the output to T; 0 for float
/// @param error     of a float result of n keys: this times (n + 100); see the chapter
/// @param weights   unit of rounding the weights before they are multiplied; or 0
template <class T, class Function>
void time_attention_grid(Bench& bench,
                         const std::string& exercise,
                         Function* contract,
                         std::initializer_list<int64_t> head_dims,
                         double unit,
                         double error = 0x1p-24 * 10.0,
                         double weights = 0.0) {
    constexpr int kRowsChecked = 8;
    const auto shapes =
        bench.grid({plain_attention(1, 2, 64, 64, 64)}, attention_grid(head_dims));
    if (shapes.empty()) return;
    int64_t most = 0;
    for (const auto& shape : shapes)
        most = std::max(most, shape.query_elements());
    const double bytes = 4.0 * sizeof(T) * static_cast<double>(most);
    if (!bench.fits(bytes)) return;
    // One set of inputs serves all shapes: a smaller one reads their beginning.
    const auto q = random_numbers<T>(bench, most);
    const auto k = random_numbers<T>(bench, most);
    const auto v = random_numbers<T>(bench, most);

    const auto rung = implementations<Function>(exercise, contract).back();
    for (const auto& shape : shapes) {
        const auto o = bench.output<T>(shape.query_elements());
        auto problem =
            bench.problem({describe(shape),
                           Ceiling::fp32,
                           attention_flop(shape),
                           Cache::cold,
                           static_cast<double>(shape.batch * shape.queries)});
        // The reference of one row needs that row, and the keys and values of its head.
        const auto one_row = plain_attention(1, 1, 1, shape.keys, shape.head_dim);
        problem.expect(
            "o",
            o,
            [&](int64_t i) {
                const int64_t row = i / shape.head_dim;
                const int64_t head = row / shape.queries * shape.keys * shape.head_dim;
                const int64_t count = shape.keys * shape.head_dim;
                const auto exact = reference::attention_row(
                    one_row,
                    q.host(row * shape.head_dim, shape.head_dim),
                    k.host(head, count),
                    0);
                auto values = v.host(head, count);
                const int64_t column = i % shape.head_dim;
                const double value =
                    reference::attention_element(one_row, exact, values, column);
                for (T& x : values)
                    x = static_cast<T>(std::abs(static_cast<float>(x)));
                const double size =
                    reference::attention_element(one_row, exact, values, column);
                const double n = static_cast<double>(shape.keys);
                return Expected{
                    value,
                    error * (n + 100.0) + unit * std::abs(value) + weights * size};
            },
            kRowsChecked);
        problem.time(rung.name, rung.idea, [&](cudaStream_t stream) {
            rung.function(
                shape, q.data(), k.data(), v.data(), o.data(), nullptr, stream);
        });
    }
}

}  // namespace wb::bench
