/// wb/testing/attention_memory.h: attention that may take no memory for its scores.
#pragma once

#include <wb/attention.h>
#include <wb/describe.h>
#include <wb/testing/attention_cases.h>
#include <wb/testing/grader.h>
#include <wb/testing/memory_watch.h>
#include <wb/testing/simulator.h>

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

/// Fails the test case if the last version, or the learner's function, takes any memory
/// at all, whatever the mask, the head dimension and the numbers of queries and of keys
/// are, for one head and for many, and whether these share keys.
/// @param group  query heads of each K/V head
template <class T, class Versions>
void expect_no_memory(const Versions& versions,
                      const std::vector<int64_t>& head_dims,
                      int64_t group) {
    const auto expect_none = [&](const AttentionShape& shape) {
        const auto zeros = [](int64_t count) {
            return std::vector<T>(static_cast<size_t>(count), T(0.0f));
        };
        for (const auto& [name, idea, attention] : last_of(versions)) {
            Grader grade(name, describe(shape) + ", all zeros");
            const T* q = grade.input("q", zeros(shape.query_elements()));
            const T* k = grade.input("k", zeros(shape.kv_elements()));
            T* o = grade.output<T>("o", {shape.rows(), shape.head_dim});
            const auto call = [&, attention = attention](cudaStream_t stream) {
                attention(shape, q, k, k, o, nullptr, stream);
            };
            grade.run(call);  // loads the kernel's code, which takes memory
            const MemoryWatch watch;
            grade.run(call);
            watch.expect_at_most(0, name + ", " + describe(shape));
            const auto count = static_cast<size_t>(shape.query_elements());
            grade.expect("o", std::vector<double>(count), [](int64_t) { return 0.0; });
        }
    };
    if (is_watched()) return;  // its accesses are those of other cases
    for (const int64_t head_dim : head_dims)
        for (const bool causal : {false, true}) {
            for (const int64_t keys : {3, 70, 600, 1100})
                expect_none({1, group, 1, 3, keys, head_dim, causal, 0.1f});
            expect_none({1, group, 1, 600, 3, head_dim, causal, 0.1f});
            expect_none({2, 2 * group, 2, 70, 70, head_dim, causal, 0.1f});
            expect_none({35, 2 * group, 2, 1, 3, head_dim, causal, 0.1f});
        }
}

}  // namespace wb::testing
