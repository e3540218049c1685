// block_sparse_attention.cu: the contract of block_sparse_attention.h, checked;
// 07_block_lists.cuh has the rest.
#include "block_sparse_attention.h"

#include <wb/arguments.h>

#include "07_block_lists.cuh"
#include "calls.h"

void hopper_block_sparse_attention(const wb::AttentionShape& shape,
                                   const wb::BlockPattern& pattern,
                                   const __nv_bfloat16* q,
                                   const __nv_bfloat16* k,
                                   const __nv_bfloat16* v,
                                   __nv_bfloat16* o,
                                   float* lse,
                                   wb::PatternStatus* status,
                                   cudaStream_t stream) {
    const wb::Arguments arguments("hopper_block_sparse_attention");
    wb::check_shape(arguments, shape, {64, 128});
    arguments.require(!shape.causal,
                      "shape.causal",
                      shape.causal,
                      "must be false: the pattern says what a query sees");
    const int64_t full = pattern.full.num_blocks;
    const int64_t partial = pattern.partial.num_blocks;
    arguments.size("pattern.full.num_blocks", full)
        .size("pattern.partial.num_blocks", partial);
    if (shape.rows() > 0) {
        constexpr int64_t kRows = wb::BlockPattern::kRows;
        const int64_t rows = wb::ceil_div(shape.queries, kRows);
        arguments.device("pattern.full.offsets", pattern.full.offsets, rows + 1)
            .device("pattern.full.blocks", pattern.full.blocks, full)
            .device("pattern.partial.offsets", pattern.partial.offsets, rows + 1)
            .device("pattern.partial.blocks", pattern.partial.blocks, partial)
            .device("pattern.masks", pattern.masks, partial * kRows)
            .device("pattern.order", pattern.order, rows)
            .device("status", status, 1);
    }
    Call call;
    if (!dense_call(shape, q, k, v, o, lse, stream, call)) return;
    hopper_attention_v7<__nv_bfloat16>(call, {pattern, status});
}
