/// check_weights.h: given with this exercise: what a model asks once of the weights
/// that it has loaded. There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/arguments.h>
#include <wb/loaded_values.h>

#include "arguments.h"
#include "int8.h"

// #region check
/// Refuses weights that are of no use: scales that are infinite or NaN, or 0 where not
/// all numbers of their row are 0. int8_matmul() cannot see them: it would wait for the
/// GPU. int8_quantize() makes none of these out of finite numbers. Scales of x are made
/// anew for each call, and are not looked at.
///
/// @param in      w and w_scales alone are used
/// @param stream  behind whose work W is read; the function waits for it
///
/// Writes nothing. If K or N is 0 there is nothing to look at.
///
/// Traffic  reads w_scales, to the host, and the rows of w whose scale is 0
/// Throws   wb::InvalidArgument, for a shape, w or w_scales as int8_matmul() does, and
///          for the first wrong scale: "in.w_scales[5] is NaN, but must be a number"
inline void int8_check_weights(const Int8Shape& shape,
                               const Int8Inputs& in,
                               cudaStream_t stream) {
    const char* const kFunction = "int8_check_weights";
    const wb::Arguments arguments(kFunction);
    require_size(arguments, "shape.N", shape.N, kMostRows, 8);
    require_size(arguments, "shape.K", shape.K, kMostColumns, 16);
    if (shape.N == 0 || shape.K == 0) return;
    arguments.device("in.w", in.w, shape.N * shape.K)
        .device("in.w_scales", in.w_scales, shape.N);
    require_16_bytes(arguments, "in.w", in.w);
    require_16_bytes(arguments, "in.w_scales", in.w_scales);
    wb::check_scales(
        kFunction,
        {"in.w_scales", in.w_scales, wb::ScaleType::fp32, shape.N, in.w, shape.K},
        stream);
}
// #endregion check
