// Grades day06-llm-attention/08-hopper-attention: more tiles than multiprocessors, and
// tiles that these share out.
#include <wb/testing/attention_grade.h>
#include <wb/testing/attention_triples.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_attention.h>

#include "hopper_grading.h"

using namespace hopper_grading;

TEST_CASE("more tiles than multiprocessors: each block computes several", "[slow]") {
    NEEDS_HOPPER();
    const FewMultiprocessors few(6);
    const int64_t heads = FewMultiprocessors::count() / 2 + 4;
    grade_bf16(plain_attention(2, heads, 9, 20, 64, true));
    grade_bf16(plain_attention(2, heads, 9, 100, 256, true));
}

TEST_CASE("more tiles than multiprocessors, of each type and head dimension") {
    NEEDS_HOPPER();
    // Of rows that end in the middle, and of more than a tile has.
    const FewMultiprocessors few(2);
    const auto graded = [](auto zero) {
        using T = decltype(zero);
        for (const int64_t D : {64, 128, 256})
            for (const bool causal : {false, true}) {
                if (is_watched() && causal == (D == 128)) continue;
                const auto shape = plain_attention(1, 2, 270, 290, D, causal);
                const auto stored = as_stored<T>(random_attention(shape, 1));
                grade_these<T>(last_of(implementations_of<T>()),
                               shape,
                               stored,
                               expect_half<T>(shape, stored),
                               ", seed 1",
                               true);
            }
    };
    wb::testing::shuffle_threads(1);
    graded(__half());
    graded(__nv_bfloat16());
    wb::testing::shuffle_threads(0);
}

TEST_CASE("whole tiles without a mask, more of them than multiprocessors") {
    NEEDS_HOPPER();
    // All take the same time: a kernel may hand them out in another way than above.
    const FewMultiprocessors few(1);
    for (const auto& [rows, D] : {std::pair{256, 64}, {192, 128}, {128, 256}})
        grade_bf16(plain_attention(1, FewMultiprocessors::count() + 1, rows, 8, D));
}

/// The last version alone: it is the one that may share out a tile.
static void grade_last_version(const AttentionShape& shape, uint64_t seed) {
    using T = __nv_bfloat16;
    const auto stored = as_stored<T>(random_attention(shape, seed));
    grade_these<T>(last_of(implementations_of<T>()),
                   shape,
                   stored,
                   expect_half<T>(shape, stored),
                   ", seed " + std::to_string(seed),
                   true);
}

TEST_CASE("one tile of many keys more than multiprocessors") {
    NEEDS_HOPPER();
    // Nobody need wait for the one that computes it: others may take some of its keys.
    const FewMultiprocessors few(3);
    const int64_t heads = FewMultiprocessors::count() + 1;
    const auto seed = GENERATE(as<unsigned>(), 0, 1, 2);
    if (is_watched() && seed > 1) return;  // the checker needs no luck with an order
    wb::testing::shuffle_threads(seed);
    grade_last_version(plain_attention(1, heads, 70, 1630, 128), seed);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("tiles more than multiprocessors: few keys, then many, then more tiles") {
    NEEDS_HOPPER();
    // A plan for the one is none for the next. First tiles whose rows are all there.
    const FewMultiprocessors few(3);
    const int64_t heads = FewMultiprocessors::count() + 1;
    grade_last_version(plain_attention(1, heads, 256, 8, 64), 0);
    grade_last_version(plain_attention(1, heads, 256, 1200, 64), 0);
    if (wb::testing::is_watched()) return;
    grade_last_version(plain_attention(1, heads + 1, 70, 1200, 64), 0);
}

TEST_CASE("tiles more than multiprocessors: of the last sequence, head and rows") {
    NEEDS_HOPPER();
    // Who shares them out must know whose they are.
    const FewMultiprocessors few(6);
    grade_last_version(grouped(plain_attention(2, 2, 257, 1060, 64), 1), 0);
    if (wb::testing::is_watched()) return;
    grade_last_version(grouped(plain_attention(2, 2, 193, 1060, 128), 1), 0);
}

TEST_CASE("tiles more than multiprocessors: a NaN among the keys of some") {
    NEEDS_HOPPER();
    const FewMultiprocessors few(6);
    using T = __nv_bfloat16;
    for (const uint64_t turn : {1, 2}) {
        const int64_t D = turn == 1 ? 64 : 128;
        const NotFinite numbers(plain_attention(1, 2, 9, 1100, D), turn);
        const auto inputs = as_stored<T>(random_attention(numbers.shape, 1));
        grade_these<T>(last_of(implementations_of<T>()),
                       numbers.shape,
                       numbers.spoilt(inputs),
                       numbers.spoilt(expect_half<T>(numbers.shape, inputs)),
                       NotFinite::kText,
                       true);
    }
}

TEST_CASE("many queries of many keys, more than 16 bits count, and large groups",
          "[long]") {
    NEEDS_HOPPER();
    if (is_watched()) return;
    // With a mask, half of the rows see nothing of the later keys.
    grade_last_version(plain_attention(1, 1, 1100, 1060, 64, true), 0);
    grade_last_version(plain_attention(1, 1, 65600, 1, 64), 0);
    grade_last_version(plain_attention(1, 1, 1, 65600, 64), 0);
    grade_last_version(grouped(plain_attention(1, 142, 2, 40, 64), 2), 0);
}

TEST_CASE("as many tiles as multiprocessors, and many keys: none is left over") {
    NEEDS_HOPPER();
    const FewMultiprocessors few(2);
    const int64_t heads = FewMultiprocessors::count();
    grade_last_version(plain_attention(1, heads, 1, 1200, 64), 0);
    grade_last_version(plain_attention(1, 2 * heads, 1, 1200, 128), 0);
}

TEST_CASE("one tile, after a call with three") {
    NEEDS_HOPPER();
    const FewMultiprocessors few(6);
    grade_last_version(plain_attention(1, 3, 1, 8, 64), 0);
    grade_last_version(plain_attention(1, 1, 70, 1200, 64), 0);
}

TEST_CASE("one tile of many keys in fp16: sums of parts are as exact", "[values]") {
    NEEDS_HOPPER();
    // Weights are equal, and sums exact in float, but not in 16 bits.
    const FewMultiprocessors few(6);
    using T = __half;
    for (const int64_t D : {64, 128}) {
        const auto shape = plain_attention(1, 1, 70, 1200, D);
        auto inputs = equal_weights(shape, 1);
        for (float& v : inputs.v)
            v = 1.0f + std::abs(v) / 16.0f;
        inputs = as_stored<T>(inputs);
        grade_these<T>(last_of(implementations_of<T>()),
                       shape,
                       inputs,
                       InType<T>::chosen(shape, inputs),
                       ", q = 0",
                       true);
    }
}

TEST_CASE("calls at once, each of more tiles than multiprocessors") {
    NEEDS_HOPPER();
    // Who hands out tiles, and who knows which parts have come, does so for one call.
    const FewMultiprocessors few(2);
    const int64_t heads = FewMultiprocessors::count() + 1;
    wb::testing::expect_independent(
        [&] { grade_last_version(plain_attention(1, heads + 2, 5, 9, 64, true), 0); },
        [&] { grade_last_version(plain_attention(1, heads, 5, 1200, 64), 0); },
        [&] { grade_last_version(plain_attention(1, heads + 2, 5, 9, 64, true), 1); });
}

TEST_CASE("one tile of 258 blocks of keys, for two multiprocessors") {
    NEEDS_HOPPER();
    // Each may take 129 of them.
    const FewMultiprocessors few(2);
    grade_last_version(plain_attention(1, 1, 1, 257 * 96 + 1, 64), 0);
}

TEST_CASE("the scores of the first thousand keys are past the largest float",
          "[values]") {
    NEEDS_HOPPER();
    // And negative: these keys weigh nothing, not even where nothing else is computed.
    const FewMultiprocessors few(3);
    // The result is that of the others alone.
    using T = __nv_bfloat16;
    constexpr size_t kWeightless = 1000;
    auto shape = plain_attention(1, 1, 3, 1200, 64);
    shape.scale = 0x1p127f;
    auto inputs = random_attention(shape, 1);
    std::fill(inputs.q.begin(), inputs.q.end(), 0.0f);
    std::fill(inputs.k.begin(), inputs.k.end(), 0.0f);
    for (size_t row = 0; row < 3; ++row)
        inputs.q[row * 64] = 1.0f;
    for (size_t key = 0; key < kWeightless; ++key)
        inputs.k[key * 64] = -4.0f;
    inputs = as_stored<T>(inputs);
    auto others = plain_attention(1, 1, 3, 1200 - kWeightless, 64);
    AttentionInputs of_others = inputs;
    for (auto* values : {&of_others.k, &of_others.v})
        values->erase(values->begin(), values->begin() + kWeightless * 64);
    grade_stored<T>(shape,
                    inputs,
                    expect_half<T>(others, of_others),
                    ", scores -2^129, and 200 of 0",
                    true);
}

TEST_CASE("two heads of 41 tiles each, or of 82") {
    NEEDS_HOPPER();
    if (is_watched()) return;
    // 41 times the float that is nearest to 1 / 41 is less than 1: by a reciprocal, the
    // first tile of the second head is one more of the first head.
    grade_last_version(plain_attention(1, 2, 41 * 128, 1, 64), 0);
}
