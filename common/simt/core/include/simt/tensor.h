/// simt/tensor.h: the work of tensor cores, told to the checker of simt-c++ --check.
#pragma once

namespace simt::detail {

/// What tensor cores multiply; each kind has a peak rate of its own.
enum class TensorType { f16, tf32, f8, i8, f64 };  // f16: bfloat16, too

/// A warp or warpgroup of the running block has multiplied m x k by k x n.
void note_product(TensorType type, int m, int n, int k);

}  // namespace simt::detail
