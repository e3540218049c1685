/// check_weights.h: given with this exercise: what a model asks once of the weights
/// that it has loaded. There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/loaded_values.h>

#include "gptq_int4.h"
#include "tensors.h"

// #region check
/// The numbers of W that can be wrong: scales and g_idx. The tensors were checked.
///
/// @param function  that messages name
inline void check_gptq_numbers(const char* function,
                               const GptqShape& s,
                               const GptqTensors& t,
                               cudaStream_t stream) {
    wb::check_scales(function,
                     {"tensors.scales", t.scales, wb::ScaleType::fp16, t.num_scales},
                     stream);
    wb::check_indices(
        function, "tensors.g_idx", t.g_idx, t.g_idx_rows, s.groups(), stream);
}

/// Refuses weights that are of no use, before gptq_repack() packs them: scales that are
/// 0, infinite or NaN, and a g_idx outside of [0, groups). The launchers cannot see
/// them: they would wait for the GPU. GPTQ itself makes none of these.
///
/// @param stream  behind whose work W is read; the function waits for it
///
/// Writes nothing. If K or N is 0 there is nothing to look at.
///
/// Traffic  reads scales and g_idx, to the host
/// Throws   wb::InvalidArgument, for wrong tensors as gptq_repack() does, and for the
///          first wrong number: "tensors.scales[5] is NaN, but must be a number".
///          scales[i] is of group i / N and column i % N
inline void gptq_check_weights(const GptqShape& shape,
                               const GptqTensors& tensors,
                               cudaStream_t stream) {
    const GptqArguments arguments("gptq_check_weights", shape);
    arguments.tensors(tensors);
    if (!arguments.has_weights()) return;
    check_gptq_numbers("gptq_check_weights", shape, tensors, stream);
}
// #endregion check
