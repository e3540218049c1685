// Grades day06-llm-attention/08-hopper-attention: packed sequences, and pages.
#include <wb/testing/special_attention.h>

#include <limits>

#include "hopper_grading.h"
#include "packed_edges.h"
#include "packed_grading.h"

using namespace hopper_grading;

TEST_CASE("packed sequences of different lengths") {
    NEEDS_HOPPER();
    const std::vector<Lengths> lengths = {
        {3, 3}, {0, 5}, {130, 130}, {65, 1}, {1, 200}};
    for (const bool causal : {false, true}) {
        grade_packed<__nv_bfloat16>(
            make_batch<__nv_bfloat16>(lengths, 2, 1, 64, causal));
    }
}

TEST_CASE("packed and paged: edges meet") {
    NEEDS_HOPPER();
    grade_packed_edges();
}

TEST_CASE("packed and paged: nothing is kept from call to call") {
    NEEDS_HOPPER();
    using T = __nv_bfloat16;
    const auto first = make_batch<T>({{3, 40}, {20, 30}}, 2, 1, 64, true);
    const auto other = make_batch<T>({{7, 9}}, 1, 1, 128, false, 0.05f);
    const auto like_first = make_batch<T>({{20, 30}, {3, 40}}, 2, 1, 64, true);
    wb::testing::expect_independent([&] { grade_packed<T>(first); },
                                    [&] { grade_packed<T>(other, 24, false); },
                                    [&] { grade_packed<T>(like_first); });
    wb::testing::expect_independent([&] { grade_paged(first, 16); },
                                    [&] { grade_paged(other, 64, false); },
                                    [&] { grade_paged(like_first, 16); });
}

TEST_CASE("packed: as many sequences without queries as multiprocessors, then others") {
    NEEDS_HOPPER();
    // A block that finds nothing to do must not stop there.
    const FewMultiprocessors few(2);
    std::vector<Lengths> lengths(static_cast<size_t>(FewMultiprocessors::count()),
                                 {0, 1});
    lengths.push_back({20, 30});
    lengths.push_back({3, 40});
    for (int64_t keys = 1; keys <= 15; ++keys)
        lengths.push_back({1, keys});
    grade_packed<__nv_bfloat16>(make_batch<__nv_bfloat16>(lengths, 1, 1, 64, false));
}

TEST_CASE("packed and paged: more sequences than a byte counts") {
    NEEDS_HOPPER();
    if (wb::testing::is_watched()) return;
    std::vector<Lengths> lengths(258, {0, 1});
    lengths[0] = {1, 2};
    lengths[130] = {2, 9};
    lengths[256] = {3, 5};
    lengths[257] = {2, 17};
    const auto batch = make_batch<__nv_bfloat16>(lengths, 1, 1, 64, false);
    grade_packed<__nv_bfloat16>(batch);
    grade_paged(batch, 16);
}

TEST_CASE("packed: many heads, and more keys than 12 bits count") {
    NEEDS_HOPPER();
    if (wb::testing::is_watched()) return;
    using T = __nv_bfloat16;
    grade_packed<T>(make_batch<T>({{1, 2}, {2, 1}}, 20, 5, 64, true));
    // The second sequence's keys begin behind the 4096th.
    auto batch = make_batch<T>({{1, 4099}, {1, 5}}, 1, 1, 64, false);
    for (size_t s = 0; s < batch.parts.size(); ++s)
        batch.inputs[s] = as_stored<T>(chosen_keys(batch.parts[s], s + 1));
    grade_packed<T>(batch);
}

TEST_CASE("packed rows with other numbers between them") {
    NEEDS_HOPPER();
    grade_packed<__nv_bfloat16>(
        make_batch<__nv_bfloat16>({{20, 30}, {7, 140}}, 2, 2, 64, true), 24);
    grade_packed<__half>(make_batch<__half>({{20, 30}, {7, 40}}, 2, 1, 64, false), 24);
    // Groups in one projection: its rows are longer than those of k and v need.
    grade_packed<__nv_bfloat16>(
        make_batch<__nv_bfloat16>({{9, 12}, {5, 30}}, 4, 2, 64, true), 24, true, true);
}

TEST_CASE("a NaN stays in its own sequence") {
    NEEDS_HOPPER();
    // The rows behind a sequence are the next one's; with a weight of 0, too, they must
    // not be touched. With queries of its own, the next one's results are NaN.
    using T = __nv_bfloat16;
    const struct {
        int64_t queries;
        int64_t dim;
        bool causal;
    } cases[] = {
        {0, 64, false}, {9, 64, false}, {9, 64, true}, {9, 128, true}, {9, 256, false}};
    for (const auto& [queries, dim, causal] : cases) {
        if (wb::testing::is_watched() && dim > 64) continue;
        auto batch =
            make_batch<T>({{40, 50}, {queries, 20}, {30, 70}}, 1, 1, dim, causal);
        const auto clean = expect_batch<T>(batch);
        const auto bound = [&](int64_t i) {
            return clean.o_bound[static_cast<size_t>(i)];
        };
        for (float& value : batch.inputs[1].v)
            value = std::numeric_limits<float>::quiet_NaN();
        for (float& value : batch.inputs[1].k)
            value = std::numeric_limits<float>::infinity();
        Grader grade("hopper_attention_packed", batch.text() + ", the second one NaN");
        const T* q = grade.input("q", pack_rows<T>(batch, &AttentionInputs::q, 1, dim));
        const T* k = grade.input("k", pack_rows<T>(batch, &AttentionInputs::k, 1, dim));
        const T* v = grade.input("v", pack_rows<T>(batch, &AttentionInputs::v, 1, dim));
        const int32_t* query_starts = grade.input("query_starts", batch.query_starts);
        const int32_t* key_starts = grade.input("key_starts", batch.key_starts);
        T* o = grade.output<T>("o", {70 + queries, 1, dim});
        grade.run([&](cudaStream_t s) {
            hopper_attention_packed(
                batch.shape, q, k, v, query_starts, key_starts, o, nullptr, s);
        });
        if (queries == 0) {
            grade.expect("o", clean.o, bound);
            continue;
        }
        const auto got = grade.read("o");
        for (size_t i = 0; i < got.size(); ++i) {
            const size_t row = i / static_cast<size_t>(dim);
            if (row >= 40 && row < 49) continue;
            INFO("row " << row << ", column " << i % static_cast<size_t>(dim));
            REQUIRE(std::abs(got[i] - clean.o[i]) <= bound(static_cast<int64_t>(i)));
        }
    }
}

TEST_CASE("a paged cache: pages in any order, and NaN behind the last key") {
    NEEDS_HOPPER();
    const auto batch = make_batch<__nv_bfloat16>(
        {{1, 40}, {33, 33}, {5, 0}, {70, 300}}, 2, 1, 64, true);
    for (const int64_t page : {16, 64, 256})
        grade_paged(batch, page);
    grade_paged(make_batch<__nv_bfloat16>({{20, 150}, {3, 17}}, 4, 2, 128, false), 32);
}

TEST_CASE("packed and paged: small weights count") {
    NEEDS_HOPPER();
    using T = __nv_bfloat16;
    for (const int64_t D : {64, 128, 256}) {
        auto batch = make_batch<T>({{1, 203}, {2, 67}}, 1, 1, D, false, 1.0f);
        for (size_t s = 0; s < batch.parts.size(); ++s)
            batch.inputs[s] =
                as_stored<T>(wb::testing::small_weights(batch.parts[s], 87.0f));
        grade_packed<T>(batch);
        if (D != 256) grade_paged(batch, 64);
    }
}

TEST_CASE("packed and paged: scores of a million, all alike, of either sign") {
    NEEDS_HOPPER();
    using T = __nv_bfloat16;
    for (const int64_t D : {64, 128, 256})
        for (const float score : {-0x1p20f, 0x1p20f}) {
            auto batch = make_batch<T>({{1, 203}, {13, 67}}, 1, 1, D, true, 1.0f);
            for (size_t s = 0; s < batch.parts.size(); ++s) {
                batch.inputs[s] = far_scores(batch.parts[s], score);
                batch.expected.push_back(
                    expect_far_half<T>(batch.parts[s], batch.inputs[s]));
            }
            grade_packed<T>(batch);
            if (D != 256) grade_paged(batch, 64);
        }
}

TEST_CASE("a page that does not exist is reported, and nobody else suffers") {
    NEEDS_HOPPER();
    using T = __nv_bfloat16;
    const auto batch = make_batch<T>({{10, 40}, {10, 40}}, 1, 1, 64, false);
    auto pages = in_pages(batch, 16, 7);
    pages.table[1] = static_cast<int32_t>(pages.num_pages) + 5;
    const std::string fault = run_paged(batch, pages, nullptr);
    for (const std::string& part :
         {std::string("sequence 0"), std::to_string(pages.num_pages + 5)})
        wb::testing::expect_report("hopper_attention_paged", batch.text(), fault, part);
}
