// Grades day06-llm-attention/08-hopper-attention: how much memory a call takes.
#include <wb/testing/memory_watch.h>
#include <wb/testing/simulator.h>

#include "hopper_grading.h"
#include "packed_grading.h"

using namespace hopper_grading;
using T = __nv_bfloat16;

/// Calls each version, which may take so much memory beyond the arguments.
static void expect_memory(const AttentionShape& shape, uint64_t most) {
    const auto inputs = as_stored<T>(random_attention(shape, 1));
    for (const auto& [name, idea, attention] : implementations_of<T>()) {
        Grader grade(name, describe(shape));
        const T* q = grade.input("q", rounded<T>(inputs.q));
        const T* k = grade.input("k", rounded<T>(inputs.k));
        const T* v = grade.input("v", rounded<T>(inputs.v));
        T* o = grade.output<T>("o", {shape.query_heads, shape.queries, 64});
        const auto run = [&, attention = attention](const AttentionShape& now) {
            grade.run([&](cudaStream_t stream) {
                attention(now, q, k, v, o, nullptr, stream);
            });
        };
        auto one = shape;
        one.queries = one.keys = 1;
        run(one);  // the first launch of a kernel loads its code
        const wb::testing::MemoryWatch watch;
        run(shape);
        watch.expect_at_most(most, name + ", " + describe(shape));
    }
}

TEST_CASE("no memory beyond the arguments, with a mask", "[serial]") {
    NEEDS_HOPPER();
    if (wb::testing::is_watched()) return;  // memory is counted without the checker
    // A log-sum-exp that nobody wants would take 16 KiB, keys and values of each query
    // head 64 KiB.
    expect_memory(grouped(plain_attention(1, 4, 1024, 64, 64, true), 1), 4096);
}

TEST_CASE("memory for parts of sums alone, without a mask", "[serial]") {
    NEEDS_HOPPER();
    if (wb::testing::is_watched()) return;
    // All scores would take 4 MiB, and so would keys and values of each query head.
    const FewMultiprocessors few(3);
    const auto most = static_cast<uint64_t>(850'000 * FewMultiprocessors::count());
    expect_memory(grouped(plain_attention(1, 16, 64, 1024, 64), 1), most);
}

TEST_CASE("packed and paged: next to no memory beyond the arguments", "[serial]") {
    NEEDS_HOPPER();
    if (wb::testing::is_watched()) return;  // memory is counted without the checker
    // Keys and values in an array of their own would take 150 KiB.
    const auto one = make_batch<T>({{1, 1}}, 1, 1, 64, true);
    const auto batch = make_batch<T>({{2, 600}, {3, 5}}, 1, 1, 64, true);
    grade_packed<T>(one);  // the first launch of a kernel loads its code
    // A number for each of these sequences would take 8 KiB.
    std::vector<Lengths> lengths(2048, {0, 0});
    lengths.back() = {3, 5};
    const auto many = make_batch<T>(lengths, 1, 1, 64, true);
    const wb::testing::MemoryWatch many_watch;
    grade_packed<T>(many);
    many_watch.expect_at_most(4096, "hopper_attention_packed, 2048 sequences");
    grade_packed<__half>(make_batch<__half>({{1, 1}}, 1, 1, 64, true));
    grade_paged(one, 16);
    const wb::testing::MemoryWatch watch;
    grade_packed<T>(batch, 24);
    watch.expect_at_most(4096, "hopper_attention_packed, " + batch.text());
    const wb::testing::MemoryWatch fp16_watch;
    grade_packed<__half>(make_batch<__half>({{2, 600}, {3, 5}}, 1, 1, 64, true), 24);
    fp16_watch.expect_at_most(4096, "hopper_attention_packed, fp16, " + batch.text());
    const wb::testing::MemoryWatch paged_watch;
    grade_paged(batch, 16);
    grade_paged(many, 16);
    paged_watch.expect_at_most(4096, "hopper_attention_paged, " + batch.text());
}
