/// wb/testing/attention_memory.h: attention that may take no memory for its scores.
#pragma once

#include <wb/attention.h>
#include <wb/describe.h>
#include <wb/testing/grader.h>
#include <wb/testing/memory_watch.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb::testing {

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
