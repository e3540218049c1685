// Times v6 of day06-llm-attention/08-hopper-attention, on e4m3 numbers, with the
// rounding of its inputs. There is no ceiling of FP8: the share is of bf16's.
#include "fp8_attention.h"

#include <wb/bench/bench.h>
#include <wb/bench/narrow_attention.h>

#include <string>

using namespace wb::bench;

WB_BENCH(hopper_attention_fp8, bench) {
    const auto sizes =
        bench.sizes<wb::AttentionShape>({plain_attention(1, 1, 70, 70, 128)},
                                        {plain_attention(1, 16, 8192, 8192, 128)},
                                        {plain_attention(2, 16, 8192, 8192, 128),
                                         plain_attention(1, 16, 8192, 8192, 128)});
    for (const auto& shape : sizes) {
        // Weights and values lose up to 2^-4 each; of many of them most cancels out.
        const double unit = shape.keys < 1000 ? 0x1p-3 : 0x1p-6;
        time_narrow_attention<__nv_bfloat16>(bench,
                                             "hopper_attention_fp8",
                                             hopper_attention_fp8,
                                             shape,
                                             Ceiling::bf16,
                                             unit,
                                             [](const std::string&) { return false; });
    }
}
