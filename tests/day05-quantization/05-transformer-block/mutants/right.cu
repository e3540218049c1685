// The right transformer_block: v2. The .diff files edit order.cuh, pieces.cuh, which it
// includes, or v3.
#include "transformer_block.h"

#include <wb/check.h>

#include "order.cuh"
#include "plan.cuh"

BlockPlan plan_block(const BlockShape& shape,
                     bool is_quantized,
                     int64_t tokens,
                     bool keep) {
    return planned_arrays(shape, is_quantized, tokens, keep);
}

void block_forward(const Block& block,
                   const BlockTokens& tokens,
                   const BlockCache* cache,
                   const BlockWorkspace& work,
                   cudaStream_t stream) {
    forward_checked(block, tokens, cache, work, stream, run_block_v2);
}

void block_decode(const Block& block,
                  const BlockCache& cache,
                  const __nv_bfloat16* x,
                  __nv_bfloat16* y,
                  const BlockWorkspace& work,
                  cudaStream_t stream) {
    decode_checked(block, cache, x, y, work, stream, run_block_v2);
}
