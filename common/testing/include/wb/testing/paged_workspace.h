/// wb/testing/paged_workspace.h: what a call must leave in a workspace.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/paged_cache.h>
#include <wb/testing/fail.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace wb::testing {

/// Fails unless all counters of a workspace are zero, as they are before and after each
/// call. Behind Grader::run(), which waits.
inline void expect_no_counts(const std::string& implementation,
                             const std::string& inputs,
                             const PagedWorkspace& workspace) {
    std::vector<uint32_t> counts(static_cast<std::size_t>(workspace.num_counters()));
    CUDA_CHECK(cudaMemcpy(counts.data(),
                          workspace.counters(),
                          counts.size() * sizeof(uint32_t),
                          cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) continue;
        fail(Kind::contract,
             implementation + ", " + inputs + ": counter " + std::to_string(i) +
                 " of the workspace is " + std::to_string(counts[i]) +
                 " behind the call",
             "counters are zero before and after each call");
    }
}

}  // namespace wb::testing
