// Grades day06-llm-attention/08-hopper-attention: packed sequences and pages that have
// more tiles than multiprocessors, or more rows, keys and heads than usual.
#include <wb/scratch.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_attention.h>

#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

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

TEST_CASE("packed and paged: numbers of rows and keys around the tiles' sizes") {
    NEEDS_HOPPER();
    using T = __nv_bfloat16;
    std::vector<Lengths> one_query;  // each, or none
    for (const int64_t n : {63, 64, 80, 95, 96, 127, 128, 160, 176, 191, 192, 256}) {
        one_query.push_back({1, n});
        one_query.push_back({0, 3});
        one_query.push_back({1, n + 1});
    }
    std::vector<Lengths> two_keys;
    for (const int64_t n : {63, 64, 127, 128, 191, 192, 255, 256})
        for (const int64_t more : {0, 1})
            two_keys.push_back({n + more, 2});
    for (const int64_t D : {64, 128, 256})
        for (const auto& lengths : {one_query, two_keys}) {
            if (is_watched() && D > 64) break;
            grade_both<T>(make_batch<T>(lengths, 1, 1, D, false), 16);
            grade_packed<__half>(make_batch<__half>(lengths, 1, 1, D, true));
        }
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

/// Shuffles of warps so far; 0 where nobody counts them.
static uint64_t shuffles() {
#ifdef SIMT_CPU
    return simt::check::counters("").shuffles;
#else
    return 0;
#endif
}

TEST_CASE("each layout: with a mask, half of the work") {
    NEEDS_HOPPER();
    if (!is_watched()) return;
    using T = __nv_bfloat16;
    // Each block of scores takes some shuffles; those of one block are not the mask's.
    const auto graded = [](const char* name, auto grade_batch) {
        const auto work = [&](int64_t keys, bool causal) {
            const uint64_t before = shuffles();
            grade_batch(make_batch<T>({{600, keys}}, 1, 1, 64, causal));
            return static_cast<double>(shuffles() - before);
        };
        const double one_block = work(64, false);
        if (work(600, true) - one_block <= 0.75 * (work(600, false) - one_block))
            return;
        wb::testing::fail(
            wb::testing::Kind::contract,
            std::string(name) + ": 600 queries of 600 keys, with a causal mask",
            "it computes as many blocks of scores as without, and half would do");
    };
    graded("hopper_attention", [](const Batch& batch) {
        grade_these<T>(last_of(implementations_of<T>()),
                       batch.parts[0],
                       batch.inputs[0],
                       expect_half<T>(batch.parts[0], batch.inputs[0]),
                       "",
                       true);
    });
    graded("hopper_attention_packed",
           [](const Batch& batch) { grade_packed<T>(batch); });
    graded("hopper_attention_paged",
           [](const Batch& batch) { grade_paged(batch, 64); });
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

TEST_CASE("packed and paged: many queries of many keys, with a mask", "[long]") {
    NEEDS_HOPPER();
    if (is_watched()) return;
    // The first rows see nothing, and half of the others nothing of the later keys.
    grade_both<__nv_bfloat16>(
        make_batch<__nv_bfloat16>({{1100, 1060}, {3, 5}}, 1, 1, 64, true), 64);
    grade_both<__half>(make_batch<__half>({{2, 3}, {600, 1060}}, 1, 1, 128, true), 0);
}

TEST_CASE("packed and paged: more rows than 16 bits count", "[long]") {
    NEEDS_HOPPER();
    if (is_watched()) return;
    using T = __nv_bfloat16;
    grade_both<T>(make_batch<T>({{65600, 1}, {1, 3}}, 1, 1, 64, false), 256);
}

TEST_CASE("packed and paged: more keys than 16 bits count", "[long]") {
    NEEDS_HOPPER();
    if (is_watched()) return;
    using T = __nv_bfloat16;
    grade_both<T>(make_batch<T>({{1, 65600}, {1, 3}}, 1, 1, 64, false), 16);
}

TEST_CASE("packed and paged: many heads share keys and values") {
    NEEDS_HOPPER();
    if (is_watched()) return;
    using T = __nv_bfloat16;
    grade_both<T>(make_batch<T>({{1, 2}, {3, 40}}, 142, 2, 64, true), 16);
}

TEST_CASE("packed and paged: more heads than a byte counts") {
    NEEDS_HOPPER();
    if (wb::testing::is_watched()) return;
    using T = __nv_bfloat16;
    const std::vector<Lengths> lengths = {{1, 2}, {0, 3}};
    grade_packed<T>(make_batch<T>(lengths, 270, 90, 128, true));
    grade_paged(make_batch<T>(lengths, 270, 270, 64, true), 16);
}

TEST_CASE("paged: more sequences than 16 bits count, and more pages") {
    NEEDS_HOPPER();
    if (is_watched()) return;
    using T = __nv_bfloat16;
    // All sequences are empty but the first and the last one.
    auto batch = make_batch<T>({{3, 5}, {2, 37}}, 1, 1, 64, false);
    const auto expected = expect_batch<T>(batch);
    auto pages = in_pages(batch, 16, 0);
    constexpr int32_t kEmpty = 65600;
    auto& starts = batch.query_starts;
    starts.insert(starts.begin() + 1, kEmpty, starts[1]);
    batch.shape.sequences += kEmpty;
    pages.lengths.insert(pages.lengths.begin() + 1, kEmpty, 0);
    pages.table.insert(pages.table.begin() + pages.pages_per_sequence,
                       static_cast<size_t>(kEmpty * pages.pages_per_sequence),
                       -1);
    // Theirs are the last pages of a pool, of which nothing else is written.
    for (int32_t& page : pages.table)
        if (page >= 0) page += kEmpty;
    const auto written = static_cast<int64_t>(pages.k_pool.size());
    const int64_t before = kEmpty * 16 * 64;
    const wb::Scratch<T> k(before + written, nullptr);
    const wb::Scratch<T> v(before + written, nullptr);
    const auto fill = [&](const wb::Scratch<T>& pool, const std::vector<T>& numbers) {
        CUDA_CHECK(cudaMemcpy(pool.data() + before,
                              numbers.data(),
                              numbers.size() * sizeof(T),
                              cudaMemcpyHostToDevice));
    };
    fill(k, pages.k_pool);
    fill(v, pages.v_pool);
    Grader grade("hopper_attention_paged", batch.text() + ", 65600 empty between");
    const wb::PagedWorkspace workspace(1);
    wb::PagedCache cache = sizes_of(pages);
    cache.num_pages += kEmpty;
    cache.k = k.data();
    cache.v = v.data();
    cache.block_table = grade.input("block_table", pages.table);
    cache.lengths = grade.input("lengths", pages.lengths);
    const T* q = grade.input("q", pack_rows<T>(batch, &AttentionInputs::q, 1, 64));
    const int32_t* query_starts = grade.input("query_starts", starts);
    T* o = grade.output<T>("o", {5, 64});
    grade.run([&](cudaStream_t s) {
        hopper_attention_paged(
            batch.shape, cache, q, query_starts, o, nullptr, workspace, s);
    });
    workspace.check(nullptr);
    expect_both(grade, expected, /*with_lse=*/false);
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
