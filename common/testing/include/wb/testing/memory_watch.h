/// wb/testing/memory_watch.h: how much device memory a launcher takes for itself.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/scratch.h>
#include <wb/testing/fail.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace wb::testing {

/// How much memory a launch takes besides its arguments: from wb::Scratch, from CUDA's
/// own pool, or, if it is not given back at once, from anywhere.
class MemoryWatch {
 public:
    MemoryWatch() {
        CUDA_CHECK(cudaDeviceSynchronize());
        wb::reset_scratch_peak();
        CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool_, 0));
        uint64_t zero = 0;
        CUDA_CHECK(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &zero));
        size_t total = 0;
        CUDA_CHECK(cudaMemGetInfo(&free_before_, &total));
        scratch_before_ = wb::scratch_peak();
    }

    /// Fails the test case if it was more.
    void expect_at_most(uint64_t bytes, const std::string& what) const {
        uint64_t pool = 0;
        CUDA_CHECK(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &pool));
        size_t free_now = 0;
        size_t total = 0;
        CUDA_CHECK(cudaMemGetInfo(&free_now, &total));
        const uint64_t kept = free_now < free_before_ ? free_before_ - free_now : 0;
        const uint64_t taken =
            std::max(kept, pool + wb::scratch_peak() - scratch_before_);
        if (taken <= bytes) return;
        fail(Kind::contract,
             what,
             "took " + std::to_string(taken) + " bytes of memory; at most " +
                 std::to_string(bytes) + " are right");
    }

 private:
    cudaMemPool_t pool_ = nullptr;
    size_t free_before_ = 0;
    uint64_t scratch_before_ = 0;
};

}  // namespace wb::testing
