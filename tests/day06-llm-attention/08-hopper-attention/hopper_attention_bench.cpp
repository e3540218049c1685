// Times day06-llm-attention/08-hopper-attention: how near does attention come to what
// the tensor cores do in a plain product?
#include "hopper_attention.h"

#include <wb/bench/bench.h>
#include <wb/bench/narrow_attention.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#endif

#include <string>
#include <vector>

using namespace wb::bench;

namespace {

/// As many tokens, 16,384, and as wide, 2048, whatever the length and the head
/// dimension: the grid on which attention kernels are usually compared.
std::vector<wb::AttentionShape> usual_grid() {
    std::vector<wb::AttentionShape> shapes;
    for (const int64_t dim : {128, 64}) {
        for (const bool causal : {false, true}) {
            for (const int64_t n : {1024, 2048, 4096, 8192, 16384}) {
                if (dim == 128 && !causal && n == 8192) continue;  // the last one
                shapes.push_back(
                    plain_attention(16384 / n, 2048 / dim, n, n, dim, causal));
            }
        }
    }
    // Prompts of a model with 32 query heads and 8 of keys and values.
    for (const int64_t n : {4096, 16384}) {
        auto grouped = plain_attention(n == 4096 ? 2 : 1, 32, n, n, 128, true);
        grouped.kv_heads = 8;
        shapes.push_back(grouped);
    }
    for (const bool causal : {false, true})
        shapes.push_back(plain_attention(4, 8, 4096, 4096, 256, causal));
    // A single sequence: few tiles for so many multiprocessors.
    for (const int64_t n : {1024, 2048, 4096})
        shapes.push_back(plain_attention(1, 16, n, n, 128));
    for (const bool causal : {false, true})
        shapes.push_back(plain_attention(1, 16, 8192, 8192, 128, causal));
    // Medals look at the last size. With two sequences no version has a nearly empty
    // last round, and there is no mask: loops differ by what runs beneath what.
    shapes.push_back(plain_attention(2, 16, 8192, 8192, 128));
    return shapes;
}

/// Whether all rungs are run, or the last one alone. Where tiles are few, those of the
/// earlier rungs may suit better.
bool is_ladder(const wb::AttentionShape& shape) {
    const bool few_tiles = shape.batch == 1 && shape.keys <= 2048;
    return few_tiles || (shape.head_dim == 128 && shape.keys == 8192);
}

std::vector<wb::AttentionShape> shapes(const Bench& bench) {
#ifdef SIMT_CPU
    // ./learn xray watches every access: one tile of rows takes it a second. With more
    // tiles of keys, --size Nk512, a trace shows the pipeline.
    if (simt::check::active())
        return {plain_attention(1, 1, 128, 128, 64),
                plain_attention(1, 1, 128, 512, 64)};
#endif
    return bench.sizes<wb::AttentionShape>({plain_attention(1, 2, 70, 70, 64)},
                                           {plain_attention(1, 16, 8192, 8192, 128)},
                                           usual_grid());
}

template <class T>
void time_all(Bench& bench, const std::string& exercise, Ceiling ceiling, double unit) {
    using Function = void(const wb::AttentionShape&,
                          const T*,
                          const T*,
                          const T*,
                          T*,
                          float*,
                          cudaStream_t);
    for (const auto& shape : shapes(bench)) {
        const auto left_out = [&](const std::string& rung) {
            const bool lower =
                rung.find("_v") != std::string::npos && !rung.ends_with("_v5");
            return lower && !is_ladder(shape);
        };
        time_narrow_attention<T, Function>(
            bench, exercise, hopper_attention, shape, ceiling, unit, left_out);
    }
}

}  // namespace

WB_BENCH(hopper_attention_bf16, bench) {
    time_all<__nv_bfloat16>(bench, "hopper_attention_bf16", Ceiling::bf16, 0x1p-8);
}

WB_BENCH(hopper_attention_fp16, bench) {
#ifdef SIMT_CPU
    // ./learn xray counts what launches under one name do: one type stands for both.
    if (simt::check::active()) return;
#endif
    time_all<__half>(bench, "hopper_attention_fp16", Ceiling::fp16, 0x1p-11);
}
