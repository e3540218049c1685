// What the benchmark compares beside the versions: v4 with other numbers of stages.
#pragma once

#include "mma_sync.h"

#include <string>
#include <vector>

namespace mma_sync_stages {

/// v4 with so many stages.
struct Variant {
    std::string name;
    void (*multiply)(const wb::GemmShape& shape,
                     const __nv_bfloat16* A,
                     const __nv_bfloat16* B,
                     float* C,
                     cudaStream_t stream);
};

/// From 2, which is one under way while another is multiplied, to 5.
std::vector<Variant> variants();

}  // namespace mma_sync_stages
