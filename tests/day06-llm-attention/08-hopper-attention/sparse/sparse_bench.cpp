// Times v7 of day06-llm-attention/08-hopper-attention beside chapter 05's patterns in
// fp32: does a list of blocks cost more than what it lists? FLOP are counted on the
// blocks that are listed, so TFLOP/s compare with those of the dense kernel, which is
// timed, too.
#include "block_sparse_attention.h"

#include <wb/bench/attention.h>
#include <wb/bench/bench.h>
#include <wb/bench/random_numbers.h>
#include <wb/device.h>
#include <wb/reference/sparse_attention.h>
#include <wb/sparse_builders.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "hopper_attention.h"

using namespace wb::bench;
using wb::AttentionShape;
using wb::BlockPattern;
using wb::HostBlocks;
using wb::HostCsr;

namespace {

using T = __nv_bfloat16;

/// One problem, of 2048 / head_dim heads.
struct Case {
    int64_t batch;
    int64_t n;
    int64_t head_dim;
    std::string name;
    std::function<HostCsr(int64_t n)> build;  ///< none: dense

    std::string text() const { return describe(shape()) + ", " + name; }
    AttentionShape shape() const {
        const int64_t heads = n < 1024 ? 1 : 2048 / head_dim;
        return plain_attention(batch, heads, n, n, head_dim);
    }
};

Case dense(int64_t batch, int64_t n, int64_t head_dim) {
    return {batch, n, head_dim, "dense", nullptr};
}
Case causal(int64_t batch, int64_t n, int64_t head_dim) {
    return {batch, n, head_dim, "causal", [](int64_t length) {
                return wb::dense_pattern(length, length, true);
            }};
}
Case window(
    int64_t batch, int64_t n, int64_t head_dim, int64_t keys, int64_t sinks = 0) {
    std::string name = "window " + std::to_string(keys);
    if (sinks > 0) name += ", " + std::to_string(sinks) + " sinks";
    return {batch, n, head_dim, name, [=](int64_t length) {
                return wb::window_with_sinks(length, length, keys, sinks);
            }};
}
Case random_blocks(int64_t batch, int64_t n, int64_t head_dim, int percent) {
    const std::string name = std::to_string(percent) + " % of the blocks";
    return {batch, n, head_dim, name, [percent](int64_t length) {
                return wb::block_sparse_pattern(length, length, percent / 100.0, 1);
            }};
}

/// Lists of all blocks, without the list of all keys, which would be large.
HostBlocks all_blocks(int64_t n) {
    HostBlocks blocks;
    blocks.queries = n;
    blocks.keys = n;
    for (int64_t row = 0; row < blocks.block_rows(); ++row) {
        for (int64_t block = 0; block < blocks.key_blocks(); ++block)
            blocks.full.blocks.push_back(static_cast<int32_t>(block));
        blocks.full.offsets.push_back(static_cast<int64_t>(blocks.full.blocks.size()));
        blocks.partial.offsets.push_back(0);
        blocks.order.push_back(static_cast<int32_t>(row));
    }
    return blocks;
}

template <class U>
Array<U> on_device(const std::vector<U>& values) {
    Array<U> array(static_cast<int64_t>(values.size()));
    array.upload(values);
    return array;
}

std::vector<float> widened(const std::vector<T>& values) {
    std::vector<float> wide;
    wide.reserve(values.size());
    for (const T value : values)
        wide.push_back(static_cast<float>(value));
    return wide;
}

/// An element of o, and how far from it a result may be.
Expected element(const AttentionShape& shape,
                 const std::vector<float>& q,
                 const std::vector<float>& k,
                 const std::vector<float>& v,
                 int64_t row_index,
                 int64_t d) {
    const auto row = wb::reference::attention_row(shape, q, k, row_index);
    const double value = wb::reference::attention_element(shape, row, v, d);
    // Sums over the keys and up to as many rescalings, in float; each weight is rounded
    // to bf16, and so is the result.
    double rounded = std::abs(value);
    for (size_t j = 0; j < row.weights.size(); ++j) {
        const auto at = static_cast<size_t>(row.first_kv + d) +
                        j * static_cast<size_t>(shape.head_dim);
        rounded += row.weights[j] * std::abs(double{v[at]});
    }
    const double n = static_cast<double>(row.weights.size());
    return {value, 0x1p-24 * (10.0 * n + 1000.0) + 0x1p-8 * rounded};
}

void time_case(Bench& bench, const Case& problem_case) {
    const AttentionShape shape = problem_case.shape();
    const bool is_dense = !problem_case.build;
    const HostCsr rows = is_dense ? HostCsr{} : problem_case.build(problem_case.n);
    const HostBlocks host = is_dense ? all_blocks(problem_case.n) : to_blocks(rows);
    const auto full_offsets = on_device(host.full.offsets);
    const auto full_blocks = on_device(host.full.blocks);
    const auto partial_offsets = on_device(host.partial.offsets);
    const auto partial_blocks = on_device(host.partial.blocks);
    const auto masks = on_device(host.masks);
    const auto order = on_device(host.order);
    const BlockPattern pattern = {
        {full_offsets.data(), full_blocks.data(), full_blocks.size()},
        {partial_offsets.data(), partial_blocks.data(), partial_blocks.size()},
        masks.data(),
        order.data()};
    const double blocks =
        static_cast<double>(full_blocks.size() + partial_blocks.size());
    const double flop = 4.0 * blocks * BlockPattern::kRows * BlockPattern::kKeys *
                        static_cast<double>(shape.batch * shape.query_heads) *
                        static_cast<double>(shape.head_dim);
    char percent[16];
    std::snprintf(
        percent,
        sizeof percent,
        ": %.0f %%",
        100.0 * blocks / static_cast<double>(host.block_rows() * host.key_blocks()));

    const auto q = random_numbers<T>(bench, shape.query_elements());
    const auto k = random_numbers<T>(bench, shape.kv_elements());
    const auto v = random_numbers<T>(bench, shape.kv_elements());
    const auto o = bench.output<T>(shape.query_elements());
    const auto host_q = widened(q.host());
    const auto host_k = widened(k.host());
    const auto host_v = widened(v.host());
    auto problem = bench.problem({problem_case.text() + percent, Ceiling::bf16, flop});
    constexpr int kChecked = 16;  // a row takes the reference a while
    problem.expect(
        "o",
        o,
        [&](int64_t i) {
            const int64_t row = i / shape.head_dim;
            const int64_t d = i % shape.head_dim;
            if (is_dense) return element(shape, host_q, host_k, host_v, row, d);
            const auto listed =
                wb::reference::listed_keys(shape, rows, host_q, host_k, host_v, row);
            return element(listed.shape, listed.q, listed.k, listed.v, 0, d);
        },
        kChecked);
    const wb::PatternCheck check;
    problem.time("hopper_block_sparse_attention",
                 "v7: a list of blocks",
                 [&](cudaStream_t stream) {
                     hopper_block_sparse_attention(shape,
                                                   pattern,
                                                   q.data(),
                                                   k.data(),
                                                   v.data(),
                                                   o.data(),
                                                   nullptr,
                                                   check.status(),
                                                   stream);
                 });
    check.check(nullptr);
    if (!is_dense) return;
    problem.time(
        "hopper_attention", "v5: all blocks, without a list", [&](cudaStream_t stream) {
            hopper_attention(
                shape, q.data(), k.data(), v.data(), o.data(), nullptr, stream);
        });
}

}  // namespace

WB_BENCH(hopper_block_sparse_attention, bench) {
#if !defined(SIMT_CPU)
    if (wb::compute_capability() / 10 != 9) return;  // chapter 05 runs everywhere
#endif
    // The window of 1024 keys stands beside dense attention of as many tokens.
    for (const Case& problem :
         bench.sizes<Case>({window(1, 150, 64, 70)},
                           {dense(1, 16384, 128), window(1, 16384, 128, 1024)},
                           {dense(1, 16384, 128),
                            window(1, 16384, 128, 1024),
                            window(1, 16384, 128, 1024, 64),
                            window(1, 16384, 128, 256),
                            dense(4, 4096, 128),
                            causal(4, 4096, 128),
                            window(4, 4096, 128, 1024),
                            random_blocks(4, 4096, 128, 25),
                            dense(1, 16384, 64),
                            window(1, 16384, 64, 1024)}))
        time_case(bench, problem);
}
