// What the benchmark compares with, beside cuBLASLt alone: a kernel behind it.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace fused_epilogue_peers {

/// y[i] = silu(y[i]), eight numbers a thread. @param n  a multiple of 8
void silu_in_place(__nv_bfloat16* y, int64_t n, cudaStream_t stream);

/// y[i] = e4m3(silu(z[i]) * *scale), and *amax = the largest |silu(z[i])|, in the same
/// way.
void silu_to_fp8(const __nv_bfloat16* z,
                 const float* scale,
                 __nv_fp8_e4m3* y,
                 float* amax,
                 int64_t n,
                 cudaStream_t stream);

/// dz[i] *= silu'(z[i]) in the same way.
void silu_backward_in_place(__nv_bfloat16* dz,
                            const __nv_bfloat16* z,
                            int64_t n,
                            cudaStream_t stream);

/// Whether this GPU runs plain_product().
bool has_plain_product();

/// y = x w^T with chapter 04's kernel, as v5 has it, and nothing behind it.
/// @param x  [M, K], w [N, K], y [M, N]; K and N are multiples of 8
void plain_product(const __nv_bfloat16* x,
                   const __nv_bfloat16* w,
                   __nv_bfloat16* y,
                   int64_t M,
                   int64_t N,
                   int64_t K,
                   cudaStream_t stream);

}  // namespace fused_epilogue_peers
