// Times day06-llm-attention/06-mixed-precision-attention: what do 16 bits a number save
// where arithmetic is the limit, and what where memory is?
#include "mixed_precision_attention.h"

#include <wb/bench/attention.h>
#include <wb/bench/attention_grid.h>
#include <wb/bench/bench.h>
#include <wb/bench/random_numbers.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#endif

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace wb::bench;

namespace {

/// Rungs that convert number by number, or pair by pair, are run up to so many scores.
constexpr double kMostScoresOfAWarp = 1e8;

/// With few queries every number of k and v is used a few times only: then the limit is
/// to read them.
Spec spec_of(const wb::AttentionShape& shape, double bytes) {
    const bool reads = shape.queries < 16;
    return {describe(shape),
            reads ? Ceiling::read : Ceiling::fp32,
            reads ? bytes : attention_flop(shape),
            Cache::cold,
            static_cast<double>(shape.batch * shape.queries)};
}

/// The name of a rung. ./learn xray counts what launches under one name do; there the
/// two types need two names.
std::string section_name(const std::string& rung,
                         [[maybe_unused]] const std::string& exercise) {
#ifdef SIMT_CPU
    if (simt::check::active()) return rung + exercise.substr(exercise.rfind('_'));
#endif
    return rung;
}

/// Times every rung, or the learner's function, for one type.
/// @param unit  of rounding: 2^-11 or 2^-8
template <class T>
void time_type(Bench& bench,
               const std::string& exercise,
               const wb::AttentionShape& shape,
               double unit) {
    using Function = void(const wb::AttentionShape&,
                          const T*,
                          const T*,
                          const T*,
                          T*,
                          float*,
                          cudaStream_t);
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

    auto problem = bench.problem(spec_of(shape, bytes));
    problem.expect("o", o, [&](int64_t i) {
        const auto row =
            wb::reference::attention_row(shape, host_q, host_k, i / shape.head_dim);
        const double value =
            wb::reference::attention_element(shape, row, host_v, i % shape.head_dim);
        // As in a float chapter, and one rounding to T.
        const double n = static_cast<double>(row.weights.size());
        return Expected{value, 0x1p-24 * (10.0 * n + 1000.0) + unit * std::abs(value)};
    });
    const double scores =
        static_cast<double>(shape.rows()) * static_cast<double>(shape.keys);
    for (const auto& [name, idea, attention] :
         wb::implementations<Function>(exercise, mixed_precision_attention)) {
        const bool warp_a_row = name.ends_with("_v1") || name.ends_with("_v2");
        if (warp_a_row && scores > kMostScoresOfAWarp) continue;
        problem.time(
            section_name(name, exercise),
            idea,
            [&, attention = attention](cudaStream_t stream) {
                attention(
                    shape, q.data(), k.data(), v.data(), o.data(), nullptr, stream);
            });
    }
    std::printf("  q, k, v and o take %.3f GB, as floats %.3f GB; no rung needs more\n",
                bytes * 1e-9,
                2.0 * bytes * 1e-9);
}

std::vector<wb::AttentionShape> shapes(const Bench& bench) {
#ifdef SIMT_CPU
    // ./learn xray watches every access: one tile of rows takes it a second, and the
    // first size below would take minutes.
    if (simt::check::active()) return {plain_attention(1, 1, 128, 128, 64)};
#endif
    return bench.sizes<wb::AttentionShape>(
        {plain_attention(1, 2, 64, 64, 32)},
        {plain_attention(4, 16, 1024, 1024, 64)},
        // The last one is what a second stage's medal is about.
        {plain_attention(16, 32, 1, 8192, 128),
         plain_attention(4, 16, 1024, 1024, 64),
         plain_attention(4, 16, 2048, 2048, 64),
         plain_attention(4, 16, 4096, 4096, 64),
         plain_attention(4, 16, 4096, 4096, 64, true),
         plain_attention(4, 8, 4096, 4096, 128)});
}

}  // namespace

WB_BENCH(mixed_precision_attention_fp16, bench) {
    for (const auto& shape : shapes(bench))
        time_type<__half>(bench, "mixed_precision_attention_fp16", shape, 0x1p-11);
}

WB_BENCH(mixed_precision_attention_bf16, bench) {
    for (const auto& shape : shapes(bench))
        time_type<__nv_bfloat16>(
            bench, "mixed_precision_attention_bf16", shape, 0x1p-8);
}

// What a model without tensor cores would see; chapters 07 and 08 have the same grid.
WB_BENCH(attention_grid_bf16, bench) {
    using Function = void(const wb::AttentionShape&,
                          const __nv_bfloat16*,
                          const __nv_bfloat16*,
                          const __nv_bfloat16*,
                          __nv_bfloat16*,
                          float*,
                          cudaStream_t);
    time_attention_grid<__nv_bfloat16, Function>(bench,
                                                 "mixed_precision_attention_bf16",
                                                 mixed_precision_attention,
                                                 {32, 64, 128},
                                                 0x1p-8);
}
