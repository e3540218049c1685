// What the benchmark sweeps: one kernel with other sizes and orders, to be compared
// with what wgmma_tma_bf16() takes.
#pragma once

#include "wgmma_tma.h"

#include <string>
#include <vector>

namespace wgmma_tma_sweep {

/// A kernel of the sweep.
struct Variant {
    std::string name;
    void (*multiply)(const wb::GemmShape& shape,
                     const __nv_bfloat16* A,
                     const __nv_bfloat16* B,
                     __nv_bfloat16* C,
                     cudaStream_t stream);
};

/// All of them, for B as [K, N].
std::vector<Variant> variants();

}  // namespace wgmma_tma_sweep
