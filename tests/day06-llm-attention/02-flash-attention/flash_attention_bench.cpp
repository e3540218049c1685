// Times day06-llm-attention/02-flash-attention: how close do two matrix products with a
// softmax between them come to one matrix product of the library?
#include "flash_attention.h"

#include <wb/bench/attention.h>
#include <wb/bench/attention_grid.h>
#include <wb/bench/bench.h>

using namespace wb::bench;

WB_BENCH(flash_attention, bench) {
    const std::vector<wb::AttentionShape> full = {
        plain_attention(4, 16, 1024, 1024, 64),
        plain_attention(4, 16, 2048, 2048, 64),
        plain_attention(4, 16, 4096, 4096, 64),
        plain_attention(4, 16, 1024, 1024, 64, true),
        plain_attention(4, 16, 4096, 4096, 64, true),
        plain_attention(4, 32, 2048, 2048, 32),
        plain_attention(4, 8, 2048, 2048, 128),
        plain_attention(4, 4, 2048, 2048, 256),
        plain_attention(4, 8, 2048, 2048, 128, true),
        plain_attention(4, 4, 2048, 2048, 256, true),
        plain_attention(1, 8, 16, 8192, 64),  // few rows
        plain_attention(1, 8, 1024, 1024, 128),
        plain_attention(1, 1, 65'536, 65'536, 64),
    };
    for (const auto& shape : bench.sizes<wb::AttentionShape>(
             {plain_attention(1, 2, 64, 64, 32)},
             {plain_attention(1, 2, 256, 256, 64), full.front()},
             full)) {
        time_attention(bench, "flash_attention", flash_attention, shape, 0.0);
    }
}

WB_BENCH(attention_grid_fp32, bench) {
    time_attention_grid<float>(
        bench, "flash_attention", flash_attention, {32, 64, 128, 256}, 0.0);
}
