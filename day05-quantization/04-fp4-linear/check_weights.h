/// check_weights.h: given with this exercise: what a model asks once of the weights
/// that it has loaded. There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/loaded_values.h>

#include "arguments.h"
#include "fp4_linear.h"

// #region check
/// Refuses weights that are of no use: scales that are infinite or NaN, or 0 where not
/// all of their weights are 0; and such a global scale. The launchers cannot see them:
/// they would wait for the GPU. fp4_quantize() makes none of these out of finite
/// numbers.
///
/// @param stream  behind whose work W is read; the function waits for it
///
/// Writes nothing. If K or N is 0 there is nothing to look at.
///
/// Traffic  reads scales, to the host, and the weights whose scale is 0
/// Throws   wb::InvalidArgument, for wrong tensors as fp4_linear() does, and for the
///          first wrong scale: "w.scales[5] is NaN, but must be a number". scales[i] is
///          of row i / (K / group)
inline void fp4_check_weights(const Fp4Shape& shape,
                              const Fp4Weights& w,
                              cudaStream_t stream) {
    const char* const kFunction = "fp4_check_weights";
    const Fp4Arguments arguments(kFunction, shape);
    arguments.tensors(w);
    if (shape.N == 0 || shape.K == 0) return;
    constexpr uint8_t kDigits = 0x77;  // of both codes of a byte all but the sign
    const auto type = shape.scales == Fp4Scales::channel ? wb::ScaleType::fp32
                      : shape.scales == Fp4Scales::mx    ? wb::ScaleType::e8m0
                                                         : wb::ScaleType::e4m3;
    wb::check_scales(kFunction,
                     {"w.scales",
                      w.scales,
                      type,
                      w.num_scales,
                      w.values,
                      shape.group() / 2,
                      kDigits},
                     stream);
    if (shape.scales == Fp4Scales::nvfp4)
        wb::check_scales(kFunction,
                         {"w.global_scale",
                          w.global_scale,
                          wb::ScaleType::fp32,
                          1,
                          w.values,
                          w.value_bytes,
                          kDigits},
                         stream);
}
// #endregion check
