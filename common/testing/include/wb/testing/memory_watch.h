/// wb/testing/memory_watch.h: how much device memory a launcher takes for itself.
#pragma once

#include <cuda_runtime.h>
#include <wb/attention.h>
#include <wb/check.h>
#include <wb/describe.h>
#include <wb/scratch.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

/// Fails the test case if a version takes memory for a matrix of scores: 16,384 of them
/// are 64 KiB, or 32 KiB in 16 bits. For contracts that allow none.
/// @tparam T         of q, k, v and o
/// @param  versions  of a chapter's function; see <wb/implementations.h>
template <class T, class Versions>
void expect_no_scores_in_memory(const Versions& versions, int64_t head_dim) {
    constexpr uint64_t kAllowed = 16 << 10;
    const AttentionShape shape{1, 1, 1, 16, 1024, head_dim, false, 1.0f};
    const auto query_elements = static_cast<size_t>(shape.query_elements());
    const auto kv_elements = static_cast<size_t>(shape.kv_elements());
    for (const auto& [name, idea, attention] : versions) {
        Grader grade(name, describe(shape) + ", all zeros");
        const T zero = static_cast<T>(0.0f);
        const T* q = grade.input("q", std::vector<T>(query_elements, zero));
        const T* k = grade.input("k", std::vector<T>(kv_elements, zero));
        T* o = grade.output<T>("o", {shape.queries, head_dim});
        const auto run = [&, attention = attention](const AttentionShape& now) {
            grade.run([&](cudaStream_t s) { attention(now, q, k, k, o, nullptr, s); });
        };
        AttentionShape one = shape;
        one.queries = one.keys = 1;
        run(one);  // the first launch of a kernel loads its code, which takes memory
        const MemoryWatch watch;
        run(shape);
        watch.expect_at_most(kAllowed, name + ", " + describe(shape));
        grade.expect(
            "o", std::vector<double>(query_elements), [](int64_t) { return 0.0; });
    }
}

}  // namespace wb::testing
