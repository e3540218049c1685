// Grades day06-llm-attention/08-hopper-attention: packed sequences and pages that have
// more tiles than multiprocessors, or more rows, keys and heads than usual.
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_attention.h>

#include <algorithm>

#include "hopper_grading.h"
#include "packed_grading.h"

using namespace hopper_grading;

/// Packed, and in pages where there are such.
template <class T>
static void grade_both(const Batch& batch, int64_t page_size) {
    grade_packed<T>(batch);
    if constexpr (std::is_same_v<T, __nv_bfloat16>)
        if (batch.shape.head_dim != 256) grade_paged(batch, page_size);
}

TEST_CASE("packed and paged: tile after tile, of each type and head dimension") {
    NEEDS_HOPPER();
    // One after the other: of one block and of several, of rows that end in the middle,
    // and of more than a tile has.
    const FewMultiprocessors few(1);
    const auto graded = [](auto zero) {
        using T = decltype(zero);
        for (const int64_t D : {64, 128, 256})
            for (const bool causal : {false, true}) {
                if (wb::testing::is_watched() && causal == (D == 128)) continue;
                grade_both<T>(
                    make_batch<T>({{5, 9}, {270, 290}, {0, 3}, {66, 65}, {3, 140}},
                                  1,
                                  1,
                                  D,
                                  causal),
                    32);
            }
    };
    wb::testing::shuffle_threads(1);
    graded(__half());
    graded(__nv_bfloat16());
    wb::testing::shuffle_threads(0);
}

TEST_CASE(
    "packed and paged: warpgroups that need fewer blocks of keys than their tile") {
    NEEDS_HOPPER();
    using T = __nv_bfloat16;
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    if (is_watched() && seed > 1) return;  // the checker needs no luck with an order
    wb::testing::shuffle_threads(seed);
    for (const int64_t D : {64, 128, 256}) {
        grade_both<T>(make_batch<T>({{200, 420}, {65, 300}}, 1, 1, D, true), 64);
        if (!is_watched())
            grade_both<T>(make_batch<T>({{65, 420}, {65, 300}}, 1, 1, D, false), 64);
    }
    wb::testing::shuffle_threads(0);
}

TEST_CASE("packed and paged: calls at once, each of more tiles than multiprocessors") {
    NEEDS_HOPPER();
    const FewMultiprocessors few(1);
    using T = __nv_bfloat16;
    const auto first = make_batch<T>({{3, 40}, {20, 30}, {1, 2}}, 2, 1, 64, true);
    const auto other = make_batch<T>({{7, 9}, {5, 4}}, 1, 1, 64, true);
    const auto like_first = make_batch<T>({{20, 30}, {3, 40}, {1, 2}}, 2, 1, 64, true);
    wb::testing::expect_independent([&] { grade_packed<T>(first); },
                                    [&] { grade_packed<T>(other); },
                                    [&] { grade_packed<T>(like_first); });
    wb::testing::expect_independent([&] { grade_paged(first, 16); },
                                    [&] { grade_paged(other, 16); },
                                    [&] { grade_paged(like_first, 16); });
}

TEST_CASE("packed and paged: sizes past 4096, along each dimension", "[long]") {
    NEEDS_HOPPER();
    const auto graded = [](auto zero, const std::vector<Lengths>& lengths, int64_t D) {
        using T = decltype(zero);
        auto batch = make_batch<T>(lengths, 1, 1, D, false);
        for (size_t s = 0; s < batch.parts.size(); ++s)
            batch.inputs[s] = as_stored<T>(chosen_keys(batch.parts[s], s + 1));
        grade_both<T>(batch, 16);
    };
    // Others follow, in k and v and in o.
    graded(__nv_bfloat16(), {{4099, 2}, {3, 5}}, 64);
    graded(__nv_bfloat16(), {{4099, 2}, {3, 5}}, 128);
    graded(__nv_bfloat16(), {{2, 4131}, {1, 5}}, 64);
    graded(__nv_bfloat16(), {{2, 4131}, {1, 5}}, 128);
    graded(__half(), {{2, 4131}, {1, 5}}, 64);
    graded(__half(), {{2, 1131}, {1, 5}}, 128);
    graded(__half(), {{2, 1131}, {1, 5}}, 256);
}

TEST_CASE("packed and paged: more heads than a byte counts") {
    NEEDS_HOPPER();
    if (wb::testing::is_watched()) return;
    using T = __nv_bfloat16;
    const std::vector<Lengths> lengths = {{1, 2}, {0, 3}};
    grade_packed<T>(make_batch<T>(lengths, 270, 90, 128, true));
    grade_paged(make_batch<T>(lengths, 270, 270, 64, true), 16);
}

TEST_CASE("paged: sequences share pages, and behind the last one the table holds any") {
    NEEDS_HOPPER();
    using T = __nv_bfloat16;
    auto batch = make_batch<T>({{5, 40}, {3, 35}, {2, 32}}, 2, 1, 64, true);
    // The first 32 keys of all are those of the first.
    for (size_t s = 1; s < 3; ++s)
        for (auto values : {&AttentionInputs::k, &AttentionInputs::v})
            std::copy_n((batch.inputs[0].*values).begin(),
                        32 * 64,
                        (batch.inputs[s].*values).begin());
    auto pages = in_pages(batch, 16, 7);
    const auto row = [&](size_t s) {
        return pages.table.begin() +
               static_cast<std::ptrdiff_t>(s) * pages.pages_per_sequence;
    };
    std::copy_n(row(0), 2, row(1));
    std::copy_n(row(0), 2, row(2));
    row(0)[3] = row(1)[2];  // of another
    row(1)[3] = static_cast<int32_t>(pages.num_pages);
    row(2)[2] = row(2)[3] = 2147483647;
    const auto expected = expect_batch<T>(batch);
    run_paged(batch, pages, &expected);
}
