// Times day06-llm-attention/12-attention-backward: all three gradients of a layer.
#include "attention_backward.h"

#include <wb/bench/attention.h>
#include <wb/bench/bench.h>
#include <wb/bench/random_numbers.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#endif

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

using namespace wb::bench;

namespace {

/// Arrays of a problem. o is random, and lse what it is for scores of standard normal
/// numbers: the gradients are those of any o and lse.
template <class T>
struct Numbers {
    wb::AttentionShape shape;
    Array<T> q, k, v, o, d_o;
    Array<float> lse;
    Array<T> dq, dk, dv;
    std::vector<T> host_q, host_k, host_v, host_o, host_d_o;
    std::vector<float> host_lse;

    Numbers(Bench& bench, const wb::AttentionShape& of)
        : shape(of),
          q(random_numbers<T>(bench, of.query_elements())),
          k(random_numbers<T>(bench, of.kv_elements())),
          v(random_numbers<T>(bench, of.kv_elements())),
          o(random_numbers<T>(bench, of.query_elements())),
          d_o(random_numbers<T>(bench, of.query_elements())),
          lse(of.rows()),
          dq(bench.output<T>(of.query_elements())),
          dk(bench.output<T>(of.kv_elements())),
          dv(bench.output<T>(of.kv_elements())),
          host_q(q.host()),
          host_k(k.host()),
          host_v(v.host()),
          host_o(o.host()),
          host_d_o(d_o.host()) {
        for (int64_t row = 0; row < of.rows(); ++row) {
            const auto visible =
                wb::visible_keys(of.queries, of.keys, of.causal, row % of.queries);
            host_lse.push_back(std::log(static_cast<float>(visible)) + 0.5f);
        }
        lse.upload(host_lse);
    }

    AttentionBackward<T> call() const {
        return {shape,
                q.data(),
                k.data(),
                v.data(),
                o.data(),
                lse.data(),
                d_o.data(),
                dq.data(),
                dk.data(),
                dv.data()};
    }
};

double at(const std::vector<float>& numbers, int64_t i) {
    return double{numbers[static_cast<size_t>(i)]};
}
double at(const std::vector<__nv_bfloat16>& numbers, int64_t i) {
    return static_cast<double>(static_cast<float>(numbers[static_cast<size_t>(i)]));
}

/// A sum of terms, and how far from it a kernel may be.
struct Sum {
    double value = 0.0;
    double bound = 0.0;
};

/// A pair adds the gradient of its score times a factor, or its weight times a factor.
template <class T>
void add_pair(Sum& sum,
              const Numbers<T>& in,
              int64_t row,
              int64_t kv_row,
              bool weight_alone,
              double factor) {
    const int64_t D = in.shape.head_dim;
    double score = 0.0;
    double d_weight = 0.0;
    double delta = 0.0;
    double size = 0.0;
    for (int64_t d = 0; d < D; ++d) {
        const double d_o = at(in.host_d_o, row * D + d);
        const double v = at(in.host_v, kv_row * D + d);
        const double o = at(in.host_o, row * D + d);
        score += at(in.host_q, row * D + d) * at(in.host_k, kv_row * D + d);
        d_weight += d_o * v;
        delta += d_o * o;
        size += std::abs(d_o * v) + std::abs(d_o * o);
    }
    const double weight =
        std::exp(double{in.shape.scale} * score - at(in.host_lse, row));
    // Scores are sums of D products, of which a weight has a relative error; both are
    // rounded to bf16 where they are factors of a product.
    constexpr double kUnit = std::is_same_v<T, float> ? 0.0 : 0x1p-8;
    constexpr double kSums = 0x1p-24 * 1000.0;
    const double d_score = weight * (d_weight - delta);
    const double term = weight_alone ? weight : d_score;
    const double error =
        (kUnit + kSums) * std::abs(term) + (weight_alone ? 0.0 : kSums * weight * size);
    sum.value += term * factor;
    sum.bound += error * std::abs(factor);
}

template <class T>
Expected expected_of(const Sum& sum, double scale, double terms) {
    const double unit = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-8;
    const double value = scale * sum.value;
    const double bound = std::abs(scale) * sum.bound * (1.0 + 0x1p-24 * terms);
    return {value, bound + unit * std::abs(value) + 0x1p-24 * terms * std::abs(value)};
}

/// One element of dq, or of dk or dv.
template <class T>
Expected expected_dq(const Numbers<T>& in, int64_t i) {
    const auto& shape = in.shape;
    const int64_t D = shape.head_dim;
    const int64_t row = i / D;
    const int64_t group = shape.query_heads / shape.kv_heads;
    const int64_t first = row / shape.queries / group * shape.keys;
    const auto visible =
        wb::visible_keys(shape.queries, shape.keys, shape.causal, row % shape.queries);
    Sum sum;
    for (int64_t key = 0; key < visible; ++key)
        add_pair(
            sum, in, row, first + key, false, at(in.host_k, (first + key) * D + i % D));
    return expected_of<T>(sum, double{shape.scale}, 2.0 * double(visible));
}
template <class T>
Expected expected_of_key(const Numbers<T>& in, int64_t i, bool is_value) {
    const auto& shape = in.shape;
    const int64_t D = shape.head_dim;
    const int64_t kv_row = i / D;
    const int64_t group = shape.query_heads / shape.kv_heads;
    const int64_t first = kv_row / shape.keys * group * shape.queries;
    const auto& factors = is_value ? in.host_d_o : in.host_q;
    Sum sum;
    for (int64_t row = first; row < first + group * shape.queries; ++row) {
        const auto visible = wb::visible_keys(
            shape.queries, shape.keys, shape.causal, row % shape.queries);
        if (kv_row % shape.keys < visible)
            add_pair(sum, in, row, kv_row, is_value, at(factors, row * D + i % D));
    }
    return expected_of<T>(sum,
                          is_value ? 1.0 : double{shape.scale},
                          2.0 * double(group) * double(shape.queries));
}

template <class T>
void time_versions(Bench& bench,
                   const char* exercise,
                   void (*contract)(const AttentionBackward<T>&, cudaStream_t),
                   const wb::AttentionShape& shape,
                   Ceiling ceiling) {
    const double elements =
        4.0 * static_cast<double>(shape.query_elements() + shape.kv_elements());
    const double sums = 4.0 * static_cast<double>(shape.query_elements());
    if (!bench.fits(elements * sizeof(T) + sums)) return;
    const Numbers<T> in(bench, shape);
    // Five products of as much work as the two of the way forward.
    auto problem = bench.problem({wb::describe(shape),
                                  ceiling,
                                  2.5 * wb::attention_flop(shape),
                                  Cache::cold,
                                  static_cast<double>(shape.batch * shape.queries)});
    constexpr int kChecked = 8;  // each takes the reference as long as a row
    problem.expect(
        "dq", in.dq, [&](int64_t i) { return expected_dq(in, i); }, kChecked);
    problem.expect(
        "dk",
        in.dk,
        [&](int64_t i) { return expected_of_key(in, i, false); },
        kChecked);
    problem.expect(
        "dv", in.dv, [&](int64_t i) { return expected_of_key(in, i, true); }, kChecked);
    const bool is_long = wb::attention_flop(shape) > 5e10;
    for (const auto& [name, idea, run] : wb::implementations(exercise, contract)) {
        // They take seconds.
        if (is_long && (name.ends_with("_v1") || name.ends_with("_v2"))) continue;
        const auto call = in.call();
        problem.time(
            name, idea, [&, run = run](cudaStream_t stream) { run(call, stream); });
    }
}

/// As many tokens and as wide whatever the length and the head dimension, as chapter 07
/// has them; a smaller one for the slow versions; and a model with groups.
std::vector<wb::AttentionShape> shapes() {
    std::vector<wb::AttentionShape> all = {plain_attention(4, 16, 1024, 1024, 64)};
    for (const int64_t dim : {128, 64})
        for (const bool causal : {false, true})
            for (const int64_t n : {1024, 2048, 4096, 8192, 16384})
                all.push_back(
                    plain_attention(16384 / n, 2048 / dim, n, n, dim, causal));
    auto grouped = plain_attention(4, 32, 4096, 4096, 128, true);
    grouped.kv_heads = 8;
    all.push_back(grouped);
    return all;
}

std::vector<wb::AttentionShape> tiny() {
    return {plain_attention(1, 2, 70, 70, 64)};
}

}  // namespace

WB_BENCH(attention_backward_fp32, bench) {
    for (const auto& shape :
         bench.sizes<wb::AttentionShape>(tiny(),
                                         {plain_attention(1, 4, 512, 512, 64)},
                                         {plain_attention(4, 16, 1024, 1024, 64)}))
        time_versions(bench,
                      "attention_backward_fp32",
                      attention_backward_fp32,
                      shape,
                      Ceiling::fp32);
}

WB_BENCH(attention_backward_bf16, bench) {
#ifdef SIMT_CPU
    // ./learn xray watches every access: fp32 shows the first stage.
    if (simt::check::active()) return;
#endif
    for (const auto& shape : bench.sizes<wb::AttentionShape>(
             tiny(), {plain_attention(4, 16, 4096, 4096, 128)}, shapes()))
        time_versions(bench,
                      "attention_backward_bf16",
                      attention_backward_bf16,
                      shape,
                      Ceiling::bf16);
}
