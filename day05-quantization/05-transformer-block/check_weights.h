/// check_weights.h: given with this exercise: what a model asks once of the blocks that
/// it has loaded. There is nothing to write here.
#pragma once

#include "../02-gptq-int4/check_weights.h"
#include "../04-fp4-linear/check_weights.h"
#include "transformer_block.h"

/// Refuses a block with a layer in 4 bits whose numbers are of no use, as
/// gptq_check_weights() and fp4_check_weights() do. block_forward() and block_decode()
/// do not look at them.
///
/// @param stream  behind whose work the weights are read; the function waits for it
inline void block_check_weights(const Block& block, cudaStream_t stream) {
    const BlockShape& s = block.shape;
    const auto check = [stream](const BlockLinear& layer, int64_t N, int64_t K) {
        if (layer.kind == WeightKind::int4)
            gptq_check_weights({1, N, K, layer.int4_group, true}, layer.int4, stream);
        if (layer.kind == WeightKind::fp4)
            fp4_check_weights({1, N, K, layer.fp4_scales}, layer.fp4, stream);
    };
    check(block.qkv, 3 * s.d_model, s.d_model);
    check(block.out, s.d_model, s.d_model);
    check(block.up, s.d_ff, s.d_model);
    check(block.down, s.d_model, s.d_ff);
}
