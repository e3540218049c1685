// Grades day06-llm-attention/05-sparse-attention: patterns of rows.
#include "sparse_attention.h"

#include <wb/testing/attention_grade.h>
#include <wb/testing/attention_sizes.h>
#include <wb/testing/catch.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/other_device.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_attention.h>

#include <algorithm>

#include "edges.h"
#include "grade.h"
#include "triples.h"

TEST_CASE("one query and one key: the output is the value", "[first]") {
    grade_rows(shape_of(rows_of(1, {{0}}), 64), rows_of(1, {{0}}), "key 0");
}

TEST_CASE("one key of many", "[first]") {
    const auto pattern = rows_of(9, {{4}, {8}, {0}, {4}});
    grade_rows(shape_of(pattern, 32), pattern, "rows 4, 8, 0, 4");
}

TEST_CASE("rows of every length around a warp", "[first]") {
    const auto pattern = rows_of_lengths(
        97, {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 97});
    grade_rows(shape_of(pattern, 32), pattern, "rows of 1 to 97 keys");
}

TEST_CASE("head dimensions 32, 64 and 128", "[first]") {
    for (const int64_t D : {32, 64, 128}) {
        const auto pattern = wb::random_pattern(37, 131, 29, 1);
        grade_rows(shape_of(pattern, D), pattern, "29 random keys a row");
    }
}

TEST_CASE("every pattern", "[first]") {
    for (const auto& [name, pattern] : wb::testing::all_patterns(97, 101))
        grade_rows(shape_of(pattern, 32), pattern, name);
}

TEST_CASE("batches and heads share the pattern, not the keys") {
    const auto pattern = wb::random_pattern(13, 19, 5, 1);
    grade_rows(shape_of(pattern, 32, 3, 5), pattern, "5 random keys a row");
    for (const int64_t D : {64, 128}) {
        grade_rows(shape_of(pattern, D, 3, 2), pattern, "5 random keys a row");
        grade_blocks(shape_of(pattern, D, 3, 2), pattern, "5 random keys a row");
    }
    const auto small = wb::random_pattern(2, 19, 5, 1);
    for (const auto& [batch, heads] : {std::pair{3, 35}, {35, 2}}) {
        grade_rows(shape_of(small, 32, batch, heads), small, "5 random keys a row");
        if (heads == 2)
            grade_blocks(shape_of(small, 32, batch, heads), small, "5 keys a row");
    }
}

TEST_CASE("nothing is kept from call to call", "[first]") {
    const auto first = wb::random_pattern(13, 19, 5, 1);
    const auto other = wb::random_pattern(35, 17, 3, 2);
    wb::testing::expect_independent(
        [&] { grade_rows(shape_of(first, 32, 2), first, "5 keys a row"); },
        [&] { grade_rows(shape_of(other, 64), other, "3 keys a row"); });
    if (wb::testing::is_watched()) return;  // there, accesses are no others
    wb::testing::on_another_device([] {
        const auto pattern = wb::dense_pattern(3, 5, true);
        for (const int64_t D : kHeadDims) {
            grade_rows(shape_of(pattern, D, 1, 2), pattern, "causal");
            grade_blocks(shape_of(pattern, D, 1, 2), pattern, "causal");
        }
    });
}

TEST_CASE("an empty row gives zeros and minus infinity", "[first]") {
    const auto pattern = rows_of(8, {{}, {1, 5}, {}, {}, {0, 1, 2, 3, 4, 5, 6, 7}, {}});
    grade_rows(shape_of(pattern, 32, 2), pattern, "rows 0, 2, 3 and 5 are empty");
    grade_rows(shape_of(rows_of(3, {{}}), 64), rows_of(3, {{}}), "no index at all");
}

TEST_CASE("no keys at all: zeros and minus infinity, and they are written") {
    const auto none = rows_of(0, std::vector<std::vector<int32_t>>(150));
    for (const int64_t D : kHeadDims) {
        const auto shape = shape_of(none, D, 2, 2);
        const auto inputs = random_attention(shape, 1);
        const auto expected = expect_sparse(shape, none, inputs);
        for (const bool with_lse : {false, true}) {
            grade_rows(shape, none, inputs, expected, "no keys", {}, with_lse);
            grade_blocks(
                shape, to_blocks(none), inputs, expected, "no keys", {}, with_lse);
        }
    }
}

TEST_CASE("a window as long as the sequence is full attention", "[first]") {
    for (const auto [queries, keys] : wb::testing::unequal_lengths()) {
        auto shape = wb::testing::plain_attention(1, 2, queries, keys, 32);
        const auto inputs = random_attention(shape, 1);
        const auto full = wb::testing::expect_attention(shape, inputs);
        const int64_t far = queries + keys;
        grade_rows(shape,
                   wb::local_pattern(queries, keys, far, far),
                   inputs,
                   full,
                   "a window to both sides");
        shape.causal = true;
        const auto causal = wb::testing::expect_attention(shape, inputs);
        shape.causal = false;
        grade_rows(shape,
                   wb::local_pattern(queries, keys, far, 0),
                   inputs,
                   causal,
                   "a window to the left: causal attention");
    }
}

TEST_CASE("the order of a row's keys does not matter", "[first]") {
    const auto sorted = wb::random_pattern(21, 200, 77, 3);
    for (const int64_t D : kHeadDims) {
        const auto shape = shape_of(sorted, D, 1, D == 32 ? 2 : 1);
        const auto inputs = random_attention(shape, 1);
        const auto expected = expect_sparse(shape, sorted, inputs);
        grade_rows(shape,
                   shuffled(sorted, static_cast<uint64_t>(D)),
                   inputs,
                   expected,
                   "keys shuffled");
    }
}

TEST_CASE("a key that is listed twice counts twice", "[first]") {
    std::vector<int32_t> many(70, 1);
    many.insert(many.end(), {3, 3, 0, 4});
    const auto pattern =
        rows_of(5, {{3, 3}, {0, 4, 0}, {1, 2, 1, 2, 1}, {2}, {3, 3, 3, 1, 1}, many});
    for (const int64_t D : kHeadDims)
        grade_rows(shape_of(pattern, D, 1, 2),
                   pattern,
                   "keys 3 3, 0 4 0, 1 2 1 2 1, 2, 3 3 3 1 1, 1 70 times");
}

TEST_CASE("equal weights: whole numbers add up exactly", "[first][values]") {
    grade_equal(wb::random_pattern(9, 1000, 500, 1), false, "500 random keys a row");
}

TEST_CASE("logits from -10000 to 10000 neither overflow nor vanish", "[values]") {
    const auto pattern = wb::dense_pattern(9, 131, false);
    for (const int64_t D : kHeadDims)
        for (const bool rising : {true, false}) {
            const auto shape = shape_of(pattern, D);
            const auto inputs = wb::testing::large_logits(shape, 1e4, rising, 1);
            grade_both(
                shape, pattern, inputs, rising ? "logits rising" : "logits falling");
        }
}

TEST_CASE("edges meet: dense patterns") {
    edges::grade_all(0);
}

TEST_CASE("edges meet: causal patterns") {
    edges::grade_all(1);
}

TEST_CASE("edges meet: windows with sinks") {
    edges::grade_all(2);
}

TEST_CASE("edges meet: random patterns") {
    edges::grade_all(3);
}

TEST_CASE("any three edges meet: rows", "[long]") {
    triples::grade_all(false);
}

TEST_CASE("any three edges meet: blocks", "[long]") {
    triples::grade_all(true);
}

TEST_CASE("a NaN reaches the rows that list it, and no others") {
    for (const int64_t D : kHeadDims) {
        const auto [queries, keys] = wb::testing::NotFinite::sides(D);
        const wb::testing::NotFinite numbers(2, 2, D, queries, keys);
        const auto pattern =
            wb::dense_pattern(numbers.shape.queries, numbers.shape.keys, true);
        auto shape = numbers.shape;
        shape.causal = false;
        const auto inputs = random_attention(shape, 1);
        const auto spoilt = numbers.spoilt(inputs);
        const auto expected = numbers.spoilt(expect_sparse(shape, pattern, inputs));
        grade_rows(shape, pattern, spoilt, expected, "causal with NaN");
        grade_blocks(shape, to_blocks(pattern), spoilt, expected, "causal with NaN");
    }
}

TEST_CASE("a NaN counts where scores seem not to matter") {
    // In a query and a value, which blocks do not allow; or in keys.
    for (const uint64_t turn : {0, 2})
        for (const int64_t keys : {1, 40}) {
            const auto pattern = wb::dense_pattern(3, keys, false);
            for (const int64_t D : kHeadDims) {
                auto shape = shape_of(pattern, D, 1, 2);
                if (keys > 1) shape.scale = 0.0f;
                const wb::testing::NotFinite numbers(shape, turn);
                const auto inputs = random_attention(shape, 1);
                const auto spoilt = numbers.spoilt(inputs);
                const auto expected =
                    numbers.spoilt(expect_sparse(shape, pattern, inputs));
                const std::string text = "scale 0 or a single key, NaN";
                grade_rows(shape, pattern, spoilt, expected, text);
                if (turn == 2)
                    grade_blocks(shape, to_blocks(pattern), spoilt, expected, text);
            }
        }
}

TEST_CASE("a NaN in a value counts, even with a weight of 0", "[values]") {
    const auto pattern = wb::dense_pattern(3, 150, false);
    for (const int64_t D : kHeadDims)
        for (const bool first : {false, true}) {
            const auto shape = shape_of(pattern, D);
            auto inputs = wb::testing::weightless_keys(shape, first);
            auto expected = expect_sparse(shape, pattern, inputs);
            wb::testing::spoil_weightless(shape, first, inputs, expected);
            const auto text = wb::testing::weightless_text(first);
            grade_rows(shape, pattern, inputs, expected, text);
            grade_blocks(shape, to_blocks(pattern), inputs, expected, text);
        }
}

TEST_CASE("keys that no row lists are not read") {
    const auto pattern = wb::local_pattern(9, 300, 5, 0);
    const auto shape = shape_of(pattern, 32, 1, 2);
    auto inputs = random_attention(shape, 1);
    const auto expected = expect_sparse(shape, pattern, inputs);
    const int64_t block = wb::BlockPattern::kKeys;
    const int64_t first_block = pattern.indices.front() / block * block;
    const auto spoil = [&](int64_t begin, int64_t end) {
        for (int64_t i = 0; i < shape.kv_elements(); ++i) {
            const int64_t key = i / shape.head_dim % shape.keys;
            if (key < begin || key >= end) continue;
            inputs.k[static_cast<size_t>(i)] = NAN;
            inputs.v[static_cast<size_t>(i)] = NAN;
        }
    };
    spoil(0, first_block);
    grade_blocks(shape, to_blocks(pattern), inputs, expected, "NaN in other blocks");
    spoil(0, pattern.indices.front());
    grade_rows(shape, pattern, inputs, expected, "NaN in other keys");
}

TEST_CASE("values below the smallest number with all its digits keep the rest",
          "[values]") {
    constexpr double kUnit = 0x1p-136;  // of float: 2^13 steps
    const auto pattern = wb::dense_pattern(5, 70, false);
    const auto longer = wb::dense_pattern(5, 150, false);
    for (const int64_t D : kHeadDims) {
        const auto shape = shape_of(pattern, D);
        const auto inputs = wb::testing::subnormal_values(shape, kUnit);
        const auto expected = wb::testing::expect_subnormal(
            shape, inputs, kUnit, wb::testing::expect_attention);
        grade_rows(shape, pattern, inputs, expected, "subnormal v");
        grade_blocks(shape, to_blocks(pattern), inputs, expected, "subnormal v");
        const auto rising = shape_of(longer, D);
        grade_both(
            rising, longer, wb::testing::huge_values(rising), "huge v, rising logits");
    }
}

TEST_CASE("the scale may be anything finite", "[values]") {
    const auto pattern = wb::random_pattern(33, 33, 7, 1);
    for (const float scale : {1.0f, 0.0f, -0.3f}) {
        auto shape = shape_of(pattern, 32);
        shape.scale = scale;
        grade_rows(shape, pattern, "scale " + std::to_string(scale));
        grade_blocks(shape, pattern, "scale " + std::to_string(scale));
    }
}

TEST_CASE("right whatever order the threads run in") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2);
    wb::testing::shuffle_threads(seed);
    const auto pattern = wb::window_with_sinks(140, 140, 50, 4);
    grade_rows(shape_of(pattern, 32), pattern, "threads shuffled");
    grade_blocks(shape_of(pattern, 32), pattern, "threads shuffled");
    wb::testing::shuffle_threads(0);
}

TEST_CASE("sizes past 4096, along each dimension", "[long]") {
    // Rows with all keys of many, some twice; many rows of one key.
    const auto long_rows = rows_of_lengths(4100, {8193, 1, 4097});
    grade_equal(long_rows, false, "rows of 8193, 1 and 4097 keys");
    // More rows than 16 bits hold, and more rows of blocks than nine bits; of the other
    // head dimensions, more rows than twelve bits.
    for (const int64_t D : kHeadDims) {
        std::vector<std::vector<int32_t>> rows(D == 32 ? 65'541 : 4133, {0});
        rows.back() = {1, 2};
        for (const bool blocks : {false, true})
            grade_equal(rows_of(3, rows),
                        blocks,
                        "rows of one key, the last sees others",
                        D,
                        /*last_only=*/true,
                        /*with_fault=*/!blocks);
    }
    for (const int64_t D : {64, 128}) {
        // Keys past 2^16, few of which are listed; more places than 16 bits count.
        const auto far = rows_of(70'001, {{70'000, 3, 65'536 + 3}, {65'535, 16'384}});
        grade_equal(far, false, "few of 70001 keys", D, /*last_only=*/true);
        grade_equal(far, true, "few of 70001 keys", D, /*last_only=*/true);
        grade_equal(rows_of_lengths(97, {40'000, 3, 26'000}),
                    false,
                    "rows of 40000, 3 and 26000 keys",
                    D,
                    /*last_only=*/true);
        const auto wide = wb::dense_pattern(1, 1091, false);  // 17 full blocks, and 3
        const auto shape = shape_of(wide, D, D / 64, D == 64 ? 3 : 1);
        const auto inputs = wb::testing::chosen_keys(shape, 1);
        const auto expected = expect_sparse(shape, wide, inputs);
        const bool with_lse = D == 64;
        grade_rows(shape, wide, inputs, expected, "1091 keys", {}, with_lse);
        grade_blocks(
            shape, to_blocks(wide), inputs, expected, "1091 keys", {}, with_lse);
    }
    const auto narrow = wb::local_pattern(4099, 4099, 3, 1);
    auto two_heads = shape_of(narrow, 32, 1, 2);
    two_heads.scale = -0.3f;
    const auto inputs = random_attention(two_heads, 1);
    grade_both(two_heads, narrow, inputs, "4099 rows, window 3 + 1, scale -0.3");
    grade_equal(
        wb::dense_pattern(2, 4230, true), true, "65 full blocks and a partial one");
}

TEST_CASE("rows of many keys, of each head dimension", "[long]") {
    for (const int64_t D : kHeadDims) {
        // More than 48 KB have floats, or 140 full blocks; or 66.
        const int32_t keys = D == 32 ? 12'301 : 4243;
        const auto all = wb::dense_pattern(1, keys, false);
        std::vector<int32_t> some;  // as many partial ones, and one
        for (int32_t key = 0; key < keys; ++key)
            if (key % 64 != 5) some.push_back(key);
        const std::string text = std::to_string(keys) + " keys";
        grade_equal(all, false, "all of " + text, D, /*last_only=*/true);
        grade_equal(all, true, "all of " + text, D, /*last_only=*/true);
        grade_equal(rows_of(keys, {some}),
                    true,
                    "all but one of each 64 of " + text,
                    D,
                    /*last_only=*/true);
    }
}

TEST_CASE("more batches or heads than blocks run at once", "[long]") {
    using Sizes = std::vector<std::pair<int64_t, int64_t>>;
#ifdef SIMT_CPU
    const Sizes sizes = {{7, 37}};
#else
    const Sizes sizes = {{65'539, 1}, {1, 65'539}};  // more than a grid is high or deep
#endif
    const auto pattern = wb::dense_pattern(3, 5, true);
    const auto graded = [&](int64_t D, int64_t batch, int64_t heads) {
        auto shape = shape_of(pattern, D, batch, heads);
        shape.scale = -0.3f;
        const auto inputs = wb::testing::uneven_rows(shape, 1);
        const auto expected = expect_sparse(shape, pattern, inputs);
        const std::string text = "rows of scores far from each other";
        grade_rows(shape, pattern, inputs, expected, text);
        grade_blocks(shape, to_blocks(pattern), inputs, expected, text);
    };
    for (const auto& [batch, heads] : sizes)
        graded(32, batch, heads);
    graded(64, 7, 37);  // more than eight bits hold
    graded(128, 37, 7);
}

TEST_CASE("many of two sizes at once", "[long]") {
    const std::string text = "rows of scores far from each other";
    for (const auto& sizes : wb::testing::shapes_of_pairs({32, 64, 128}, false)) {
        const auto pattern = wb::dense_pattern(sizes.queries, sizes.keys, sizes.causal);
        const auto shape =
            shape_of(pattern, sizes.head_dim, sizes.batch, sizes.query_heads);
        const auto inputs = wb::testing::uneven_rows(shape, 1);
        const auto expected = expect_sparse(shape, pattern, inputs);
        const auto graded = [&](const auto& all, const auto& host) {
            wb::testing::grade_sparse(
                wb::testing::last_of(all), shape, host, inputs, expected, text, {});
        };
        graded(wb::implementations("sparse_attention", sparse_attention), pattern);
        graded(wb::implementations("block_sparse_attention", block_sparse_attention),
               to_blocks(pattern));
    }
}

TEST_CASE("keys beyond 2^31 elements", "[large]") {
    const auto near = rows_of(128, {{0, 64}, {65, 127}, {3, 66, 1}});
    HostCsr far = near;
    far.keys = FarKeys::kKeys;
    for (int32_t& key : far.indices)
        if (key >= 64) key += static_cast<int32_t>(FarKeys::kFar) - 64;
    auto inputs = random_attention(shape_of(near, FarKeys::kDim), 1);
    inputs.v = inputs.k;
    const FarKeys keys(inputs.k);
    if (keys.memory == nullptr) WB_SKIP("8.6 GB of device memory are not to be had");
    grade_far("sparse_attention", sparse_attention, near, far, inputs, keys);
    grade_far("block_sparse_attention",
              block_sparse_attention,
              near,
              to_blocks(far),
              inputs,
              keys);
}

TEST_CASE("no queries: nothing is launched") {
    Grader grade("sparse_attention", "queries = 0, batch = 0, or no heads");
    grade.expect_no_work([](cudaStream_t s) {
        for (const auto& shape : {wb::testing::plain_attention(1, 1, 0, 7, 32),
                                  wb::testing::plain_attention(0, 2, 7, 7, 32),
                                  wb::testing::plain_attention(2, 0, 7, 7, 32)}) {
            float* const none = nullptr;
            sparse_attention(shape, {}, none, none, none, none, none, nullptr, s);
            block_sparse_attention(shape, {}, none, none, none, none, none, nullptr, s);
        }
    });
}
