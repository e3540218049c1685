// Times day06-llm-attention/05-sparse-attention: what does a list of keys cost, and
// does skipping blocks save as much time as it saves work? FLOP are counted on the
// keys, or on the blocks, that are listed; "dense" lists all of them.
#include "sparse_attention.h"

#include <wb/bench/attention.h>
#include <wb/bench/bench.h>
#include <wb/implementations.h>
#include <wb/reference/sparse_attention.h>
#include <wb/sparse_builders.h>

#include <cstdio>
#include <functional>
#include <string>

using namespace wb::bench;
using wb::AttentionShape;
using wb::HostCsr;

namespace {

/// A pattern, by name, for `n` queries and keys.
struct Pattern {
    std::string name;
    std::function<HostCsr(int64_t n)> build;
};

/// One problem, of 1024 / head_dim heads.
struct Case {
    int64_t batch;
    int64_t n;
    int64_t head_dim;
    Pattern pattern;
};

const Pattern kDense = {"dense",
                        [](int64_t n) { return wb::dense_pattern(n, n, false); }};
const Pattern kCausal = {"causal",
                         [](int64_t n) { return wb::dense_pattern(n, n, true); }};
const Pattern kRandom = {"256 random keys",
                         [](int64_t n) { return wb::random_pattern(n, n, 256, 1); }};
const Pattern kStrided = {"strided 64",
                          [](int64_t n) { return wb::strided_pattern(n, n, 64); }};
const Pattern kHierarchical = {
    "hierarchical 32", [](int64_t n) { return wb::hierarchical_pattern(n, n, 32); }};

Pattern window(int64_t keys) {
    return {"window " + std::to_string(keys),
            [keys](int64_t n) { return wb::local_pattern(n, n, keys - 1, 0); }};
}

Pattern window_with_sinks(int64_t keys, int64_t sinks) {
    return {"window " + std::to_string(keys) + ", " + std::to_string(sinks) + " sinks",
            [=](int64_t n) { return wb::window_with_sinks(n, n, keys, sinks); }};
}

Pattern random_blocks(int percent) {
    return {std::to_string(percent) + " % of the blocks", [percent](int64_t n) {
                return wb::block_sparse_pattern(n, n, percent / 100.0, 1);
            }};
}

/// The most pairs for which one thread a row is timed over blocks: 20 samples of more
/// would take several seconds.
constexpr double kMostPairs = 4e8;

/// An array with these elements.
template <class T>
Array<T> on_device(const std::vector<T>& values) {
    Array<T> array(static_cast<int64_t>(values.size()));
    array.upload(values);
    return array;
}

/// What both benchmarks have in common: inputs, expected values, and the run of every
/// implementation. run(attention, status, q, k, v, o, stream) calls one.
/// @param slow  the first rung would take many seconds: it is left out
template <class Function, class Run>
void time_sparse(Bench& bench,
                 const std::string& exercise,
                 Function* contract,
                 const AttentionShape& shape,
                 const HostCsr& pattern,
                 const std::string& size,
                 double flop,
                 bool slow,
                 Run run) {
    const auto q = bench.random_normal(shape.query_elements());
    const auto k = bench.random_normal(shape.kv_elements());
    const auto v = bench.random_normal(shape.kv_elements());
    const auto o = bench.output<float>(shape.query_elements());
    const auto host_q = q.host();
    const auto host_k = k.host();
    const auto host_v = v.host();
    auto problem = bench.problem({size, Ceiling::fp32, flop});
    problem.expect("o", o, [&](int64_t i) {
        const auto listed = wb::reference::listed_keys(
            shape, pattern, host_q, host_k, host_v, i / shape.head_dim);
        const auto row =
            wb::reference::attention_row(listed.shape, listed.q, listed.k, 0);
        const double value = wb::reference::attention_element(
            listed.shape, row, listed.v, i % shape.head_dim);
        // Sums over the keys and up to as many rescalings, on values of the size 1.
        const double n = static_cast<double>(row.weights.size());
        return Expected{value, 0x1p-24 * (10.0 * n + 1000.0)};
    });
    const wb::PatternCheck check;
    for (const auto& [name, idea, attention] :
         wb::implementations(exercise, contract)) {
        if (slow && name == exercise + "_v1") continue;
        problem.time(name, idea, [&, attention = attention](cudaStream_t stream) {
            run(attention,
                check.status(),
                q.data(),
                k.data(),
                v.data(),
                o.data(),
                stream);
        });
    }
    check.check(nullptr);
}

AttentionShape shape_of(const Case& problem) {
    // One head of the tiny problems, so that the simulator's checker is done soon.
    const int64_t heads = problem.n < 1024 ? 1 : 1024 / problem.head_dim;
    return plain_attention(
        problem.batch, heads, problem.n, problem.n, problem.head_dim);
}

}  // namespace

WB_BENCH(sparse_attention, bench) {
    for (const Case& problem : bench.sizes<Case>({{1, 300, 64, window(50)}},
                                                 {{1, 4096, 64, window(256)}},
                                                 {{1, 4096, 64, window(256)},
                                                  {1, 4096, 64, kRandom},
                                                  {1, 4096, 64, kStrided},
                                                  {1, 4096, 64, kHierarchical},
                                                  {1, 4096, 64, window(1024)},
                                                  {1, 4096, 32, window(256)},
                                                  {1, 4096, 128, window(256)}})) {
        const AttentionShape shape = shape_of(problem);
        const HostCsr host = problem.pattern.build(problem.n);
        const auto offsets = on_device(host.offsets);
        const auto indices = on_device(host.indices);
        const wb::CsrPattern pattern = {offsets.data(), indices.data(), indices.size()};
        const double pairs = static_cast<double>(indices.size()) *
                             static_cast<double>(shape.batch * shape.query_heads);
        time_sparse(bench,
                    "sparse_attention",
                    sparse_attention,
                    shape,
                    host,
                    describe(shape) + ", " + problem.pattern.name,
                    4.0 * pairs * static_cast<double>(shape.head_dim),
                    false,
                    [&](auto attention,
                        wb::PatternStatus* status,
                        const float* q,
                        const float* k,
                        const float* v,
                        float* o,
                        cudaStream_t stream) {
                        attention(shape, pattern, q, k, v, o, nullptr, status, stream);
                    });
    }
}

WB_BENCH(block_sparse_attention, bench) {
    for (const Case& problem :
         bench.sizes<Case>({{1, 300, 64, window(150)}},
                           {{4, 4096, 64, kDense}, {4, 4096, 64, window(1024)}},
                           {{4, 4096, 64, kDense},
                            {4, 4096, 64, kCausal},
                            {4, 4096, 64, random_blocks(25)},
                            {4, 4096, 64, random_blocks(12)},
                            {4, 4096, 64, window(1024)},
                            {4, 4096, 64, window_with_sinks(1024, 64)},
                            {4, 4096, 64, window(512)},
                            {4, 4096, 64, window(256)},
                            {1, 16384, 64, window(1024)},
                            {4, 4096, 32, kDense},
                            {4, 4096, 32, window(1024)},
                            {4, 4096, 128, kDense},
                            {4, 4096, 128, window(1024)}})) {
        const AttentionShape shape = shape_of(problem);
        const HostCsr rows = problem.pattern.build(problem.n);
        const wb::HostBlocks host = to_blocks(rows);
        const auto full_offsets = on_device(host.full.offsets);
        const auto full_blocks = on_device(host.full.blocks);
        const auto partial_offsets = on_device(host.partial.offsets);
        const auto partial_blocks = on_device(host.partial.blocks);
        const auto masks = on_device(host.masks);
        const auto order = on_device(host.order);
        const wb::BlockPattern pattern = {
            {full_offsets.data(), full_blocks.data(), full_blocks.size()},
            {partial_offsets.data(), partial_blocks.data(), partial_blocks.size()},
            masks.data(),
            order.data()};
        const double blocks =
            static_cast<double>(full_blocks.size() + partial_blocks.size());
        const double pairs = blocks * wb::BlockPattern::kRows *
                             wb::BlockPattern::kKeys *
                             static_cast<double>(shape.batch * shape.query_heads);
        char percent[16];
        std::snprintf(percent,
                      sizeof percent,
                      "%.0f %%",
                      100.0 * blocks /
                          static_cast<double>(host.block_rows() * host.key_blocks()));
        time_sparse(bench,
                    "block_sparse_attention",
                    block_sparse_attention,
                    shape,
                    rows,
                    describe(shape) + ", " + problem.pattern.name + ": " + percent,
                    4.0 * pairs * static_cast<double>(shape.head_dim),
                    pairs > kMostPairs,
                    [&](auto attention,
                        wb::PatternStatus* status,
                        const float* q,
                        const float* k,
                        const float* v,
                        float* o,
                        cudaStream_t stream) {
                        attention(shape, pattern, q, k, v, o, nullptr, status, stream);
                    });
    }
}
