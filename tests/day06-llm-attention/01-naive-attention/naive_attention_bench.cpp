// Times day06-llm-attention/01-naive-attention: what do three kernels and a matrix of
// scores cost, in time and in memory?
#include "naive_attention.h"

#include <wb/bench/attention.h>
#include <wb/bench/bench.h>

using namespace wb::bench;

WB_BENCH(naive_attention, bench) {
    const std::vector<wb::AttentionShape> full = {
        plain_attention(4, 16, 1024, 1024, 64),
        plain_attention(4, 16, 2048, 2048, 64),
        plain_attention(4, 16, 4096, 4096, 64),
        plain_attention(1, 1, 65'536, 65'536, 64),
    };
    for (const auto& shape : bench.sizes<wb::AttentionShape>(
             {plain_attention(1, 2, 64, 64, 32)},
             {plain_attention(1, 2, 256, 256, 64), full.front()},
             full)) {
        const double scores = sizeof(float) * static_cast<double>(shape.rows()) *
                              static_cast<double>(shape.keys);
        // v1 takes seconds for what v2 does in a tenth of one.
        const bool long_sequence = shape.queries > 2048;
        time_attention(bench,
                       "naive_attention",
                       naive_attention,
                       shape,
                       scores,
                       Ceiling::fp32,
                       long_sequence ? "naive_attention_v1" : "");
    }
}
