// Grades day06-llm-attention/06-mixed-precision-attention: memory, long arrays, and
// what is refused.
#include "grade_types.h"

#include <wb/scratch.h>
#include <wb/testing/attention_again.h>
#include <wb/testing/attention_arguments.h>
#include <wb/testing/attention_memory.h>
#include <wb/testing/attention_sizes.h>
#include <wb/testing/attention_traps.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace wb::testing;
using wb::AttentionShape;

TEST_CASE("no memory for scores", "[serial]") {
    expect_no_scores_in_memory<__half>(implementations_of<__half>(), 32);
}

TEST_CASE("no memory, whatever the type, the mask and the head dimension", "[serial]") {
    const std::vector<int64_t> head_dims = {32, 64, 128};
    expect_no_memory<__half>(implementations_of<__half>(), head_dims, 1);
    expect_no_memory<__nv_bfloat16>(implementations_of<__nv_bfloat16>(), head_dims, 1);
}

/// What is expected of numbers of T.
template <class T>
static AttentionExpected expect_rounded(const AttentionShape& shape,
                                        const AttentionInputs& inputs) {
    auto expected = expect_attention(shape, inputs);
    for (size_t i = 0; i < expected.o.size(); ++i)
        expected.o_bound[i] = stored_bound<T>(expected.o[i], expected.o_bound[i]);
    return expected;
}

TEST_CASE("once more in the same arrays, but for one thing") {
    if (is_watched()) return;  // other cases make the same accesses
    const auto again = [](auto zero) {
        using T = decltype(zero);
        const auto versions = implementations_of<T>();
        grade_again<T>(versions, /*groups=*/false, expect_rounded<T>);
        grade_as_one_array<T>(versions, expect_rounded<T>);
    };
    again(__half());
    again(__nv_bfloat16());
}

TEST_CASE("rows and keys of one head past 2^31 elements", "[large][serial]") {
    Grader("mixed_precision_attention", "queries = 0")
        .expect_no_work([](cudaStream_t s) {
            __half* const none = nullptr;
            const auto empty = plain_attention(1, 1, 0, 1, 32);
            mixed_precision_attention(empty, none, none, none, none, nullptr, s);
        });
#ifdef SIMT_CPU
    WB_SKIP("sixteen million keys of 128 numbers are too much for the simulator");
#else
    const auto contract = [](auto... arguments) {
        mixed_precision_attention(arguments...);
    };
    wb::testing::grade_far_keys<__half>("mixed_precision_attention", contract);
    wb::testing::grade_far_rows<__half>("mixed_precision_attention", contract);
#endif
}

TEST_CASE("keys of more than 2^31 elements", "[large]") {
    // What is not solved must fail here, too, and not be skipped.
    Grader unsolved("mixed_precision_attention", "queries = 0");
    unsolved.expect_no_work([](cudaStream_t s) {
        __half* const none = nullptr;
        const auto empty = plain_attention(1, 1, 0, 1, 32);
        mixed_precision_attention(empty, none, none, none, none, nullptr, s);
    });
#ifdef SIMT_CPU
    WB_SKIP("4.6 GB of memory are too much for the simulator");
#else
    // 2^21 + 3 heads of one query and 16 keys. The same array is k and v: zeros, but
    // for the last head, whose key j is j everywhere. All weights are equal.
    constexpr int64_t kHeads = (int64_t{1} << 21) + 3;
    const auto shape = plain_attention(1, kHeads, 1, 16, 64);
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (free_bytes < size_t{6} << 30) WB_SKIP("needs 6 GB of free GPU memory");
    const wb::Scratch<__half> q(shape.query_elements(), nullptr);
    const wb::Scratch<__half> kv(shape.kv_elements(), nullptr);
    const wb::Scratch<__half> o(shape.query_elements(), nullptr);
    const auto query_bytes = static_cast<size_t>(shape.query_elements()) * 2;
    CUDA_CHECK(cudaMemset(q.data(), 0, query_bytes));
    CUDA_CHECK(cudaMemset(kv.data(), 0, static_cast<size_t>(shape.kv_elements()) * 2));
    std::vector<__half> last(16 * 64);
    for (size_t i = 0; i < last.size(); ++i)
        last[i] = static_cast<__half>(static_cast<float>(i / 64));
    CUDA_CHECK(cudaMemcpy(kv.data() + shape.kv_elements() - 16 * 64,
                          last.data(),
                          last.size() * 2,
                          cudaMemcpyHostToDevice));
    for (const auto& [name, idea, attention] : implementations_of<__half>()) {
        Grader grade(name, describe(shape) + ", the last two heads");
        __half* d_o = grade.output<__half>("o", {2, 64});
        CUDA_CHECK(cudaMemset(o.data(), 0xFF, query_bytes));
        grade.run([&, attention = attention](cudaStream_t s) {
            attention(shape, q.data(), kv.data(), kv.data(), o.data(), nullptr, s);
            CUDA_CHECK(cudaMemcpyAsync(d_o,
                                       o.data() + shape.query_elements() - 2 * 64,
                                       2 * 64 * 2,
                                       cudaMemcpyDeviceToDevice,
                                       s));
        });
        std::vector<double> expected(2 * 64, 0.0);
        std::fill(expected.begin() + 64, expected.end(), 7.5);  // of 0, 1, ... 15
        grade.expect("o", expected, [](int64_t) { return 0.0; });
    }
#endif
}

TEST_CASE("no queries: nothing is launched") {
    Grader grade("mixed_precision_attention", "queries = 0, batch = 0, or no heads");
    grade.expect_no_work([](cudaStream_t s) {
        __half* const fp16 = nullptr;
        __nv_bfloat16* const bf16 = nullptr;
        for (const auto& shape : {plain_attention(1, 1, 0, 7, 32),
                                  plain_attention(0, 2, 7, 7, 32),
                                  plain_attention(2, 0, 7, 7, 32)}) {
            mixed_precision_attention(shape, fp16, fp16, fp16, fp16, nullptr, s);
            mixed_precision_attention(shape, bf16, bf16, bf16, bf16, nullptr, s);
        }
    });
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    Grader memory("mixed_precision_attention", "wrong arguments");
    __half* d = memory.output<__half>("d", {2 * 4 * 32 + 8});
    const auto good = plain_attention(1, 2, 4, 4, 32);
    auto* const bf16 = reinterpret_cast<__nv_bfloat16*>(d);
    expect_shapes_refused("mixed_precision_attention",
                          good,
                          /*groups=*/false,
                          [&](const AttentionShape& shape) {
                              mixed_precision_attention(
                                  shape, d, d, d, d, nullptr, nullptr);
                          });
    expect_shapes_refused("mixed_precision_attention",
                          good,
                          /*groups=*/false,
                          [&](const AttentionShape& shape) {
                              mixed_precision_attention(
                                  shape, bf16, bf16, bf16, bf16, nullptr, nullptr);
                          });
    auto wide = good;
    wide.head_dim = 256;
    expect_refused("mixed_precision_attention", "D256", "shape.head_dim is 256", [&] {
        mixed_precision_attention(wide, d, d, d, d, nullptr, nullptr);
    });
    expect_pointers_refused<__half>(
        "mixed_precision_attention",
        static_cast<StoredAttention<__half>*>(mixed_precision_attention),
        good,
        /*vectors=*/true);
    expect_pointers_refused<__nv_bfloat16>(
        "mixed_precision_attention",
        static_cast<StoredAttention<__nv_bfloat16>*>(mixed_precision_attention),
        good,
        /*vectors=*/true);
}
