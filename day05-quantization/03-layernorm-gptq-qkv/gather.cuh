/// gather.cuh: given with "Go faster": rows, weight and bias in the order of packed
/// rows of W. There is nothing to write here.
#pragma once

#include "tiles.cuh"

// #region gather
/// Columns in the order of the packed rows of W. Where W has no row, weight and bias
/// are 0, and so is what becomes of x there.
///
/// Launch   a thread for each element
/// Traffic  reads and writes M hidden * 2 B
static __global__ void __launch_bounds__(kThreadsRepack)
    gather_norm_kernel(const __half* x,       // [M, hidden]
                       const __half* weight,  // [hidden], or null
                       const __half* bias,    // [hidden], or null
                       const int32_t* rows,   // [ld]
                       __half* sorted,        // [M + 2, ld]: x, weight, bias
                       int64_t M,
                       int64_t hidden,
                       int64_t ld) {
    const int64_t i = int64_t{blockIdx.x} * kThreadsRepack + threadIdx.x;
    if (i >= (M + 2) * ld) return;
    const int64_t m = i / ld;
    const int32_t k = rows[i % ld];
    __half value = __float2half(0.0f);
    if (k >= 0 && m < M) value = x[m * hidden + k];
    if (k >= 0 && m == M) value = weight != nullptr ? weight[k] : __float2half(1.0f);
    if (k >= 0 && m == M + 1 && bias != nullptr) value = bias[k];
    sorted[i] = value;
}
// #endregion gather

/// x, weight and bias for the packed W: as they are, or gathered into a copy, where
/// rows of W were sorted. The copy lives as long as this.
class SortedRows {
 public:
    SortedRows(const QkvShape& s,
               const QkvNorm& norm,
               const GptqTensors& t,
               const uint4* packed,
               const __half* x,
               cudaStream_t stream) {
        const Packed w = Packed::of(s.weights(), t.g_idx != nullptr, packed);
        const int64_t M = s.rows();
        p_ = {{w, x, M, 3 * s.hidden, s.hidden},
              x,
              norm.weight,
              norm.bias,
              s.hidden,
              norm.eps};
        if (t.g_idx == nullptr) return;
        const int64_t ld = int64_t{w.tiles_down} * kTileRows;
        copy_.emplace((M + 2) * ld, stream);
        const unsigned blocks = wb::grid_size((M + 2) * ld, kThreadsRepack);
        gather_norm_kernel<<<blocks, kThreadsRepack, 0, stream>>>(
            x, norm.weight, norm.bias, w.rows, copy_->data(), M, s.hidden, ld);
        CUDA_CHECK_LAUNCH();
        p_.product.x = copy_->data();
        p_.product.ld = ld;
        p_.weight = copy_->data() + M * ld;
        p_.bias = copy_->data() + (M + 1) * ld;
    }

    const QkvProblem& problem() const { return p_; }

 private:
    QkvProblem p_ = {};
    std::optional<wb::Scratch<__half>> copy_;
};
