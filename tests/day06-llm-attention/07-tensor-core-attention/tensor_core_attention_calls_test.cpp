// Grades day06-llm-attention/07-tensor-core-attention: memory, long arrays, and what is
// refused.
#include "grade_types.h"

#include <wb/scratch.h>
#include <wb/testing/attention_again.h>
#include <wb/testing/attention_arguments.h>
#include <wb/testing/attention_memory.h>
#include <wb/testing/attention_sizes.h>
#include <wb/testing/attention_traps.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace wb::testing;
using wb::AttentionShape;

TEST_CASE("no memory for scores", "[serial]") {
    expect_no_scores_in_memory<__half>(implementations_of<__half>(), 64);
}

TEST_CASE("no memory, whatever the type, the mask and the head dimension", "[serial]") {
    const std::vector<int64_t> head_dims = {64, 128};
    expect_no_memory<__half>(implementations_of<__half>(), head_dims, 3);
    expect_no_memory<__nv_bfloat16>(implementations_of<__nv_bfloat16>(), head_dims, 3);
}

TEST_CASE("once more in the same arrays, but for one thing") {
    if (is_watched()) return;  // other cases make the same accesses
    const auto again = [](auto zero) {
        using T = decltype(zero);
        const auto versions = implementations_of<T>();
        grade_again<T>(versions, /*groups=*/true, expect_stored<T>);
        grade_as_one_array<T>(versions, expect_stored<T>);
    };
    again(__half());
    again(__nv_bfloat16());
}

TEST_CASE("rows and keys of one head past 2^31 elements", "[large][serial]") {
    // Graded first, so that what is not written yet says so, and is not skipped.
    const auto small = plain_attention(1, 1, 1, 1, 64);
    const auto stored = as_stored<__half>(wb::testing::random_attention(small, 1));
    Grader one("tensor_core_attention", "one query");
    const __half* d = one.input("q, k and v", rounded<__half>(stored.q));
    __half* d_o = one.output<__half>("o", {64});
    one.run([&](cudaStream_t s) {
        tensor_core_attention(small, d, d, d, d_o, nullptr, s);
    });
#ifdef SIMT_CPU
    WB_SKIP("sixteen million keys of 128 numbers are too much for the simulator");
#else
    const auto contract = [](auto... arguments) {
        tensor_core_attention(arguments...);
    };
    wb::testing::grade_far_keys<__half>("tensor_core_attention", contract);
    wb::testing::grade_far_rows<__half>("tensor_core_attention", contract);
#endif
}

TEST_CASE("keys of more than 2^31 elements", "[large]") {
    // What is not solved must fail here, too, and not be skipped.
    const auto small = plain_attention(1, 1, 1, 1, 64);
    grade(small);
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
    const auto none = [](auto zero) {
        using T = decltype(zero);
        for (const auto& [name, idea, attention] : implementations_of<T>()) {
            // A rung that is not written yet says so, and does not pass.
            const auto small = plain_attention(1, 1, 1, 1, 64);
            const auto stored = as_stored<T>(wb::testing::random_attention(small, 1));
            Grader one(name, "one query");
            const T* d = one.input("q, k and v", rounded<T>(stored.q));
            T* d_o = one.output<T>("o", {64});
            one.run([&, attention = attention](cudaStream_t s) {
                attention(small, d, d, d, d_o, nullptr, s);
            });
        }
        Grader grade("tensor_core_attention", "queries = 0, batch = 0, or no heads");
        grade.expect_no_work([](cudaStream_t s) {
            T* const null = nullptr;
            for (const auto& shape : {plain_attention(1, 1, 0, 7, 64),
                                      plain_attention(0, 2, 7, 7, 64),
                                      grouped(plain_attention(2, 0, 7, 7, 64), 1)}) {
                tensor_core_attention(shape, null, null, null, null, nullptr, s);
            }
        });
    };
    none(__half());
    none(__nv_bfloat16());
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    grade(plain_attention(1, 1, 1, 1, 64));  // what is not written is not right
    Grader memory("tensor_core_attention", "wrong arguments");
    __half* d = memory.output<__half>("d", {2 * 4 * 64 + 8});
    const auto good = plain_attention(1, 2, 4, 4, 64);
    const auto refused = [&](auto* p) {
        const auto call = [&](const AttentionShape& shape) {
            tensor_core_attention(shape, p, p, p, p, nullptr, nullptr);
        };
        expect_shapes_refused("tensor_core_attention", good, /*groups=*/true, call);
        for (const int64_t head_dim : {32, 96, 256}) {
            const auto shape = plain_attention(1, 2, 4, 4, head_dim);
            const std::string part = "shape.head_dim is " + std::to_string(head_dim);
            expect_refused(
                "tensor_core_attention", describe(shape), part, [&] { call(shape); });
        }
        expect_refused("tensor_core_attention", "heads", "kv_heads, which is 3", [&] {
            call(grouped(plain_attention(1, 4, 4, 4, 64), 3));
        });
    };
    refused(d);
    refused(reinterpret_cast<__nv_bfloat16*>(d));
    const wb::testing::OldGpu old(75);  // it does not have these instructions
    const std::string part = "compute capability";
    expect_refused("tensor_core_attention", "sm_75, fp16", part, [&] {
        tensor_core_attention(good, d, d, d, d, nullptr, nullptr);
    });
    expect_refused("tensor_core_attention", "sm_75, bf16", part, [&] {
        auto* const p = reinterpret_cast<__nv_bfloat16*>(d);
        tensor_core_attention(good, p, p, p, p, nullptr, nullptr);
    });
}

TEST_CASE("wrong pointers are refused by name") {
    grade(plain_attention(1, 1, 1, 1, 64));  // what is not written is not right
    const auto pointers = [&](auto zero) {
        wb::testing::expect_pointers_refused<decltype(zero)>(
            "tensor_core_attention",
            [](auto... arguments) { tensor_core_attention(arguments...); },
            plain_attention(1, 1, 4, 4, 64),
            true);
    };
    pointers(__half());
    pointers(__nv_bfloat16());
}
