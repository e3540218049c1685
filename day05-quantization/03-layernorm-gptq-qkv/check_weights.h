/// check_weights.h: given with this exercise: what a model asks once of the weights
/// that it has loaded. There is nothing to write here.
#pragma once

#include "../02-gptq-int4/check_weights.h"
#include "arguments.h"

/// Refuses weights that are of no use, before qkv_repack() packs them: scales that are
/// 0, infinite or NaN, and a g_idx outside of [0, groups).
///
/// @param stream  behind whose work W is read; the function waits for it
///
/// Writes nothing. If hidden is 0 there is nothing to look at.
///
/// Traffic  reads scales and g_idx, to the host
/// Throws   wb::InvalidArgument, for wrong tensors as qkv_repack() does, and for the
///          first wrong number. scales[i] is of group i / (3 hidden) and column
///          i % (3 hidden)
inline void qkv_check_weights(const QkvShape& shape,
                              const GptqTensors& tensors,
                              cudaStream_t stream) {
    const QkvArguments arguments("qkv_check_weights", shape);
    arguments.tensors(tensors);
    if (shape.hidden == 0) return;
    check_gptq_numbers("qkv_check_weights", shape.weights(), tensors, stream);
}
