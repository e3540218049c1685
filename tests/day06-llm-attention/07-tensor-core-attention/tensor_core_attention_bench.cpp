// Times day06-llm-attention/07-tensor-core-attention: how much of the tensor cores does
// attention get, and what is in the way?
#include "tensor_core_attention.h"

#include <wb/bench/attention_grid.h>
#include <wb/bench/bench.h>
#include <wb/bench/narrow_attention.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#endif

#include <string>
#include <vector>

using namespace wb::bench;

namespace {

template <class T>
using Function = void(
    const wb::AttentionShape&, const T*, const T*, const T*, T*, float*, cudaStream_t);

/// The longest sequence for which v1 and v2 are run.
constexpr int64_t kLongestOfSlow = 4096;

/// As many tokens, 16,384, and as wide, 2048, whatever the length and the head
/// dimension: the grid on which attention kernels are usually compared.
std::vector<wb::AttentionShape> usual_grid() {
    std::vector<wb::AttentionShape> shapes;
    for (const int64_t dim : {128, 64}) {
        for (const bool causal : {false, true}) {
            for (const int64_t n : {1024, 2048, 4096, 8192, 16384})
                shapes.push_back(
                    plain_attention(16384 / n, 2048 / dim, n, n, dim, causal));
        }
    }
    // Prompts of a model with 32 query heads and 8 of keys and values.
    for (const int64_t n : {4096, 16384}) {
        auto grouped = plain_attention(n == 4096 ? 2 : 1, 32, n, n, 128, true);
        grouped.kv_heads = 8;
        shapes.push_back(grouped);
    }
    return shapes;
}

std::vector<wb::AttentionShape> shapes(const Bench& bench) {
#ifdef SIMT_CPU
    // ./learn xray watches every access: one tile of rows takes it a second.
    if (simt::check::active()) return {plain_attention(1, 1, 128, 128, 64)};
#endif
    return bench.sizes<wb::AttentionShape>({plain_attention(1, 2, 70, 70, 64)},
                                           {plain_attention(4, 16, 4096, 4096, 128)},
                                           usual_grid());
}

/// ./learn xray counts what launches under one name do; there the two types need two
/// exercises, and bf16 stands for both.
template <class T>
void time_all(Bench& bench, const std::string& exercise, Ceiling ceiling, double unit) {
    for (const auto& shape : shapes(bench)) {
        const auto left_out = [&](const std::string& rung) {
            const bool slow = rung.ends_with("_v1") || rung.ends_with("_v2");
            return slow && shape.keys > kLongestOfSlow;
        };
        time_narrow_attention<T, Function<T>>(
            bench, exercise, tensor_core_attention, shape, ceiling, unit, left_out);
    }
}

}  // namespace

WB_BENCH(tensor_core_attention_bf16, bench) {
    time_all<__nv_bfloat16>(bench, "tensor_core_attention_bf16", Ceiling::bf16, 0x1p-8);
}

WB_BENCH(tensor_core_attention_fp16, bench) {
#ifdef SIMT_CPU
    if (simt::check::active()) return;
#endif
    time_all<__half>(bench, "tensor_core_attention_fp16", Ceiling::fp16, 0x1p-11);
}

WB_BENCH(attention_grid_bf16, bench) {
    time_attention_grid<__nv_bfloat16, Function<__nv_bfloat16>>(
        bench,
        "tensor_core_attention_bf16",
        tensor_core_attention,
        {64, 128},
        0x1p-8,
        0x1p-24 * 10.0,
        0x1p-8);
}
