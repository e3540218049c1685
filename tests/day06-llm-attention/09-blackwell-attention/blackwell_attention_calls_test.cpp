// Grades day06-llm-attention/09-blackwell-attention: what is refused, and calls that
// have something in common with an earlier one.
#include "grade_attention.h"

#include <wb/testing/attention_again.h>
#include <wb/testing/attention_arguments.h>
#include <wb/testing/attention_cases.h>
#include <wb/testing/attention_memory.h>
#include <wb/testing/attention_traps.h>
#include <wb/testing/catch.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

#include <string>

using namespace blackwell_grading;

TEST_CASE("attention: each number of a shape that is wrong is refused by name") {
    Grader memory("blackwell_attention", "wrong arguments");
    Stored* const d = memory.output<Stored>("d", {2 * 4 * 64});
    const auto good = plain_attention(1, 2, 4, 4, 64);
    const auto call = [&](const AttentionShape& shape) {
        blackwell_attention(shape, d, d, d, d, nullptr, nullptr);
    };
    expect_shapes_refused("blackwell_attention", good, /*groups=*/true, call);
    for (const int64_t head_dim : {32, 96, 256}) {
        const auto shape = plain_attention(1, 2, 4, 4, head_dim);
        const std::string part = "shape.head_dim is " + std::to_string(head_dim);
        expect_refused(
            "blackwell_attention", describe(shape), part, [&] { call(shape); });
    }
    auto negative = good;
    negative.scale = -0x1p-149f;
    expect_refused("blackwell_attention", "a negative scale", "shape.scale is ", [&] {
        call(negative);
    });
}

TEST_CASE("attention: each pointer that is wrong is refused by name") {
    const auto shape = plain_attention(1, 1, 4, 4, 64);
    if (!has_tensor_memory()) return expect_refusal(shape, "sm_100a");
    expect_pointers_refused<Stored>(
        "blackwell_attention",
        [](auto... arguments) { blackwell_attention(arguments...); },
        shape,
        /*vectors=*/true);
}

TEST_CASE("attention: no queries, no work") {
    const auto shape = plain_attention(1, 1, 0, 7, 64);
    if (!has_tensor_memory()) return expect_refusal(shape, "sm_100a");
    grade(plain_attention(1, 1, 1, 1, 64), 1);  // what is not written says so
    Grader grader("blackwell_attention", "queries = 0, batch = 0, or no heads");
    grader.expect_no_work([](cudaStream_t s) {
        Stored* const null = nullptr;
        const auto no_kv_heads = plain_attention(2, 0, 7, 7, 64);
        auto no_heads = no_kv_heads;
        no_heads.kv_heads = 1;
        for (const auto& none : {plain_attention(1, 1, 0, 7, 64),
                                 plain_attention(0, 2, 7, 7, 64),
                                 no_kv_heads,
                                 no_heads})
            blackwell_attention(none, null, null, null, null, nullptr, s);
    });
}

TEST_CASE("attention: without keys all rows are zeros, and k and v may be null") {
    if (!has_tensor_memory())
        return expect_refusal(plain_attention(1, 1, 1, 0, 64), "sm_100a");
    for_each_without_keys(
        {64, 128},
        [](const AttentionShape& shape, bool with_lse) {
            const auto stored = as_stored<Stored>(random_attention(shape, 1));
            grade_stored(shape,
                         stored,
                         expect_stored(shape, stored),
                         ", k = v = nullptr",
                         with_lse,
                         /*null_keys=*/true);
        },
        /*group=*/3);
}

TEST_CASE("attention: no memory beyond the arguments", "[serial]") {
    const auto small = plain_attention(1, 1, 1, 1, 64);
    if (!has_tensor_memory()) return expect_refusal(small, "sm_100a");
    grade(small, 1);  // what is not written says so, also where nothing is watched
    expect_no_memory<Stored>(attentions(), {64, 128}, /*group=*/1);
}

TEST_CASE("attention: nothing is kept with many keys and heads", "[long]") {
    for (const auto& shape :
         {plain_attention(1, 1, 7, 1301, 64), plain_attention(1, 66, 1, 2, 64)}) {
        if (!has_tensor_memory()) return expect_refusal(shape, "sm_100a");
        expect_independent([&] { grade(shape, 1); }, [&] { grade(shape, 3); });
    }
}

TEST_CASE("attention: nothing is kept of calls of one size, whatever it is") {
    for (const int64_t D : {64, 128})
        for (const bool causal : {false, true}) {
            auto shape = plain_attention(2, 2, 17, 33, D, causal);
            shape.kv_heads = D == 64 ? 1 : 2;
            if (!has_tensor_memory()) return expect_refusal(shape, "sm_100a");
            const bool with_lse = (D == 64) == causal;
            expect_independent([&] { grade(shape, 1, with_lse); },
                               [&] { grade(shape, 3, with_lse); });
        }
}

TEST_CASE("attention: no block waits for one that may not have begun") {
    for (const bool last_first : {true, false}) {
        const FewBlocks few(2, last_first);
        grade(plain_attention(1, 3, 130, 67, 64), 1);
    }
}

TEST_CASE("attention: right whatever order the threads run in") {
    if (!has_tensor_memory())
        return expect_refusal(plain_attention(1, 1, 1, 1, 64), "sm_100a");
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    wb::testing::shuffle_threads(seed);
    grade(plain_attention(1, 5, 140, 300, seed == 2 ? 128 : 64, seed != 3), seed);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("attention: once more in the same arrays, but for one thing") {
    if (!has_tensor_memory())
        return expect_refusal(plain_attention(1, 1, 1, 1, 64), "sm_100a");
    grade_again<Stored>(
        attentions(), /*groups=*/true, [](const auto& shape, const auto& inputs) {
            return expect_stored(shape, inputs);
        });
}
