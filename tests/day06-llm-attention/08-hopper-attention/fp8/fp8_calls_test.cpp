// Tests v6 of Hopper attention, on e4m3 numbers: calls one after the other and at once,
// their memory, and what is refused.
#include <wb/testing/attention_arguments.h>
#include <wb/testing/attention_sizes.h>
#include <wb/testing/attention_traps.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/memory_watch.h>
#include <wb/testing/other_device.h>
#include <wb/testing/simulator.h>

#include <cstdint>
#include <limits>
#include <string>

#include "fp8_grading.h"

using namespace fp8_grading;

TEST_CASE("e4m3: the arrays of an earlier call, which was of other sizes") {
    NEEDS_FP8();
    const auto shape = plain_attention(1, 2, 20, 33, 128);
    const auto inputs = as_stored<T>(random_attention(shape, 1));
    Grader grade("hopper_attention_fp8", "in the arrays of another call");
    const T* q = grade.input("q", rounded<T>(inputs.q));
    const T* k = grade.input("k", rounded<T>(inputs.k));
    const T* v = grade.input("v", rounded<T>(inputs.v));
    T* o = grade.output<T>("o", {1, 2, 20, 128});
    grade.run([&](cudaStream_t stream) {
        const auto before = plain_attention(1, 1, 7, 5, 128, true);
        hopper_attention_fp8(before, q, k, v, o, nullptr, stream);
        hopper_attention_fp8(shape, q, k, v, o, nullptr, stream);
    });
    Result result;
    result.o = grade.read("o");
    result.expected = expect_half<T>(shape, inputs);
    expect_small_errors(shape, result);
    grade.expect("o", result.o, [](int64_t) { return 0.0; });
}

TEST_CASE("e4m3: a byte for each number, and scales", "[serial]") {
    NEEDS_FP8();
    if (wb::testing::is_watched()) return;  // memory is counted without the checker
    for (const auto& shape : {grouped(plain_attention(1, 4, 64, 512, 128), 1),
                              plain_attention(1, 2, 100, 512, 128, true),
                              plain_attention(2, 1, 600, 16, 128)}) {
        const auto inputs = random_attention(shape, 1);
        run(plain_attention(1, 1, 1, 1, 128), inputs);  // the first launch loads code
        const wb::testing::MemoryWatch watch;
        run(shape, inputs);
        watch.expect_at_most(
            static_cast<uint64_t>(shape.query_elements() + 2 * shape.kv_elements()) +
                4096,
            "hopper_attention_fp8, " + describe(shape));
    }
}

TEST_CASE("e4m3: nothing is kept from call to call") {
    NEEDS_FP8();
    const auto small = [](uint64_t seed, bool causal = false) {
        const auto shape = plain_attention(1, 2, 5, 33, 128, causal);
        auto inputs = random_attention(shape, seed);
        // One head's scales are far from the other's, and those of the next seed are
        // the other way round: a scale that was kept shows.
        for (auto* const numbers : {&inputs.q, &inputs.k, &inputs.v}) {
            const size_t half = numbers->size() / 2;
            for (size_t i = 0; i < half; ++i)
                (*numbers)[i + seed % 2 * half] *=
                    numbers == &inputs.q ? 0x1p-12f : 0x1p12f;
        }
        expect_small_errors(shape, run(shape, inputs, /*with_lse=*/!causal));
    };
    wb::testing::expect_independent([&] { small(1, true); }, [&] { small(2, true); });
    wb::testing::expect_independent(
        [&] { small(1); },
        [] { grade_random(plain_attention(1, 1, 70, 170, 128, true)); },
        [&] { small(2); });
    wb::testing::on_another_device([&] { small(1); });
}

TEST_CASE("e4m3: without keys every row is zeros, without queries nothing is done") {
    NEEDS_FP8();
    const auto shape = plain_attention(1, 2, 170, 0, 128);
    for (const bool with_lse : {true, false}) {
        const auto result = run(shape, random_attention(shape, 1), with_lse);
        for (const double o : result.o)
            REQUIRE(o == 0.0);
        for (const double lse : result.lse)
            REQUIRE(lse == -std::numeric_limits<double>::infinity());
    }
    Grader grader("hopper_attention_fp8", "queries = 0, batch = 0");
    T* const none = nullptr;
    grader.expect_no_work([&](cudaStream_t s) {
        for (const auto& empty :
             {plain_attention(1, 1, 0, 5, 128), plain_attention(0, 1, 5, 5, 128)})
            hopper_attention_fp8(empty, none, none, none, none, nullptr, s);
    });
}

TEST_CASE("e4m3: rows and keys of one head past 2^31 elements", "[large][serial]") {
    NEEDS_FP8();
#ifdef SIMT_CPU
    WB_SKIP("sixteen million keys of 128 numbers are too much for the simulator");
#else
    constexpr double kRounding = 0x1p-4;  // of an e4m3 number
    wb::testing::grade_far_keys<T>(
        "hopper_attention_fp8", hopper_attention_fp8, kRounding);
    wb::testing::grade_far_rows<T>(
        "hopper_attention_fp8", hopper_attention_fp8, kRounding);
#endif
}

TEST_CASE("e4m3: wrong arguments are refused by name") {
    NEEDS_FP8();
    Grader memory("hopper_attention_fp8", "wrong arguments");
    T* d = memory.output<T>("d", {2 * 4 * 128 + 8});
    const auto with = [&](const std::string& part, auto change) {
        auto wrong = plain_attention(1, 2, 4, 4, 128);
        change(wrong);
        expect_refused("hopper_attention_fp8", part, part, [&] {
            hopper_attention_fp8(wrong, d, d, d, d, nullptr, nullptr);
        });
    };
    with("shape.head_dim is 64", [](auto& s) { s.head_dim = 64; });
    with("shape.head_dim is 256", [](auto& s) { s.head_dim = 256; });
    with("shape.batch * heads is 65536", [](auto& s) { s.batch = 32768; });
    with("shape.batch * heads is 65536", [](auto& s) { s.kv_heads = 65536; });
    with("shape.scale is -", [](auto& s) { s.scale = -0x1p-149f; });
    expect_shapes_refused("hopper_attention_fp8",
                          plain_attention(1, 2, 4, 4, 128),
                          /*groups=*/true,
                          [&](const AttentionShape& shape) {
                              hopper_attention_fp8(shape, d, d, d, d, nullptr, nullptr);
                          });
    wb::testing::expect_pointers_refused<T>("hopper_attention_fp8",
                                            hopper_attention_fp8,
                                            plain_attention(1, 1, 2, 2, 128),
                                            true);
}
