// Grades day06-llm-attention/08-hopper-attention: packed sequences, and pages.
#include <wb/testing/simulator.h>
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
    // A single one is packed, too: head after head in each row.
    for (const int64_t D : {64, 128, 256}) {
        const auto one = make_batch<__nv_bfloat16>({{9, 21}}, 4, 2, D, true);
        grade_packed<__nv_bfloat16>(one);
        if (wb::testing::is_watched()) break;
        grade_packed<__half>(make_batch<__half>({{9, 21}}, 4, 2, D, false));
        if (D != 256) grade_paged(one, 16);
    }
}

TEST_CASE("packed and paged: more rows than a tile, however many those are") {
    NEEDS_HOPPER();
    // And tiles of which no row sees a key.
    using T = __nv_bfloat16;
    const std::vector<Lengths> lengths[] = {{{260, 270}, {5, 9}, {260, 3}},
                                            {{200, 3}, {5, 9}, {200, 210}},
                                            {{5, 9}, {140, 3}}};
    for (const int64_t D : {64, 128, 256}) {
        const auto& of_dim = lengths[D / 128];
        const auto batch = make_batch<T>(of_dim, 1, 1, D, true);
        grade_packed<T>(batch);
        if (D != 256) grade_paged(batch, 64);
        grade_packed<__half>(make_batch<__half>(of_dim, 1, 1, D, true));
    }
    // Nor are there as many keys as queries in all, or as the table has room for.
    const auto few_keys = make_batch<T>({{300, 3}}, 1, 1, 64, false);
    grade_packed<T>(few_keys);
    grade_paged(few_keys, 16);
    // Or there are, and sequences begin at other rows all the same.
    const std::vector<Lengths> turned = {{2, 70}, {70, 5}, {5, 2}};
    for (const int64_t D : {64, 128, 256}) {
        grade_packed<T>(make_batch<T>(turned, 1, 1, D, false));
        grade_packed<__half>(make_batch<__half>(turned, 1, 1, D, false));
    }
    // Few queries each, as when texts go on; with a mask.
    const std::vector<Lengths> few = {{2, 70}, {7, 5}, {5, 9}, {3, 140}};
    for (const int64_t D : {64, 128, 256}) {
        grade_packed<T>(make_batch<T>(few, 2, 1, D, true));
        grade_packed<__half>(make_batch<__half>(few, 2, 1, D, true));
    }
}

TEST_CASE("packed and paged: tile after tile, in whatever order the threads run") {
    NEEDS_HOPPER();
    // Warpgroups are at different tiles at times, and each tile ends within a block.
    const FewMultiprocessors few(1);
    const auto batch = make_batch<__nv_bfloat16>(
        {{5, 9}, {70, 20}, {3, 140}, {1, 3}, {66, 65}, {2, 100}}, 1, 1, 64, false);
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    wb::testing::shuffle_threads(seed);
    grade_packed<__nv_bfloat16>(batch);
    grade_paged(batch, 16);
    wb::testing::shuffle_threads(0);
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

TEST_CASE("packed and paged: no sequence has keys") {
    NEEDS_HOPPER();
    using T = __nv_bfloat16;
    const auto batch = make_batch<T>({{3, 0}, {70, 0}}, 2, 1, 64, true);
    grade_packed<T>(batch);
    grade_packed<T>(batch, 0, false);
    grade_paged(batch, 16);
    auto pages = in_pages(batch, 16, 7);  // and a table without entries
    pages.shape.spare_entries = 0;
    place_pages(pages, 7);
    const auto expected = expect_batch<T>(batch);
    run_paged(batch, pages, &expected);
    Grader grade("hopper_attention_packed", batch.text() + ", k = v = nullptr");
    const T* q = grade.input("q", pack_rows<T>(batch, &AttentionInputs::q, 2, 128));
    const int32_t* query_starts = grade.input("query_starts", batch.query_starts);
    const int32_t* key_starts = grade.input("key_starts", batch.key_starts);
    T* o = grade.output<T>("o", {73, 2, 64});
    const T* const none = nullptr;
    grade.run([&](cudaStream_t s) {
        hopper_attention_packed(
            batch.shape, q, none, none, query_starts, key_starts, o, nullptr, s);
    });
    expect_both(grade, expected, /*with_lse=*/false);
}

TEST_CASE("packed and paged: more sequences than a byte counts") {
    NEEDS_HOPPER();
    if (wb::testing::is_watched()) return;
    std::vector<Lengths> lengths(258, {0, 1});
    lengths[0] = {1, 2};
    lengths[130] = {2, 9};
    lengths[256] = {3, 5};
    lengths[257] = {2, 17};
    auto batch = make_batch<__nv_bfloat16>(lengths, 2, 1, 64, false);
    // It need not be near: so many tiles would be more than a launch may have.
    batch.shape.max_queries = int64_t{1} << 32;
    grade_packed<__nv_bfloat16>(batch);
    grade_paged(batch, 16);
}

TEST_CASE("packed: more sequences than 16 bits count") {
    NEEDS_HOPPER();
    if (wb::testing::is_watched()) return;
    // All are empty but the first and the last one.
    using T = __nv_bfloat16;
    auto batch = make_batch<T>({{3, 5}, {2, 7}}, 1, 1, 64, false);
    const auto expected = expect_batch<T>(batch);
    for (auto* const starts : {&batch.query_starts, &batch.key_starts})
        starts->insert(starts->begin() + 1, 65600, (*starts)[1]);
    batch.shape.sequences += 65600;
    Grader grade("hopper_attention_packed", batch.text() + ", 65600 empty between");
    const T* q = grade.input("q", pack_rows<T>(batch, &AttentionInputs::q, 1, 64));
    const T* k = grade.input("k", pack_rows<T>(batch, &AttentionInputs::k, 1, 64));
    const T* v = grade.input("v", pack_rows<T>(batch, &AttentionInputs::v, 1, 64));
    const int32_t* query_starts = grade.input("query_starts", batch.query_starts);
    const int32_t* key_starts = grade.input("key_starts", batch.key_starts);
    T* o = grade.output<T>("o", {5, 64});
    grade.run([&](cudaStream_t s) {
        hopper_attention_packed(
            batch.shape, q, k, v, query_starts, key_starts, o, nullptr, s);
    });
    expect_both(grade, expected, /*with_lse=*/false);
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
    // Only those of q have a stride, or only those of k and v.
    auto batch = make_batch<__nv_bfloat16>({{9, 12}, {5, 30}}, 1, 1, 64, true);
    grade_packed<__nv_bfloat16>(batch, 24, true, false, 0);
    grade_packed<__nv_bfloat16>(batch, 0, true, false, 24);
    // Or there is none between them, in so many words.
    batch.shape.query_stride = batch.shape.kv_stride = 64;
    grade_packed<__nv_bfloat16>(batch);
    // Groups in one projection: its rows are longer than those of k and v need.
    grade_packed<__nv_bfloat16>(
        make_batch<__nv_bfloat16>({{9, 12}, {5, 30}}, 4, 2, 64, true), 24, true, true);
}

TEST_CASE("packed rows of one projection: q, k and v in one array") {
    NEEDS_HOPPER();
    using T = __nv_bfloat16;
    auto batch = make_batch<T>({{20, 20}, {7, 7}}, 2, 1, 64, true);
    const auto q = pack_rows<T>(batch, &AttentionInputs::q, 2, 128);
    const auto k = pack_rows<T>(batch, &AttentionInputs::k, 1, 64);
    const auto v = pack_rows<T>(batch, &AttentionInputs::v, 1, 64);
    std::vector<T> all;
    for (int64_t row = 0; row < batch.shape.total_queries; ++row) {
        all.insert(all.end(), q.begin() + row * 128, q.begin() + (row + 1) * 128);
        for (const auto* values : {&k, &v})
            all.insert(all.end(),
                       values->begin() + row * 64,
                       values->begin() + (row + 1) * 64);
    }
    batch.shape.query_stride = batch.shape.kv_stride = 256;
    Grader grade("hopper_attention_packed", batch.text() + ", one projection");
    const T* d_all = grade.input("q, k and v", all, Begin::vectors);
    const int32_t* query_starts = grade.input("query_starts", batch.query_starts);
    const int32_t* key_starts = grade.input("key_starts", batch.key_starts);
    T* o = grade.output<T>("o", {27, 2, 64}, Begin::vectors);
    float* lse = grade.output<float>("lse", {2, 27});
    grade.run([&](cudaStream_t stream) {
        hopper_attention_packed(batch.shape,
                                d_all,
                                d_all + 128,
                                d_all + 192,
                                query_starts,
                                key_starts,
                                o,
                                lse,
                                stream);
    });
    expect_both(grade, expect_batch<T>(batch));
}

/// Of four sequences, the third holds NaN and infinity alone. The second has no keys.
template <class T>
static void grade_foreign_nan(int64_t queries, int64_t dim, bool causal) {
    auto batch =
        make_batch<T>({{40, 50}, {3, 0}, {queries, 20}, {30, 70}}, 1, 1, dim, causal);
    const auto clean = expect_batch<T>(batch);
    const auto bound = [&](int64_t i) { return clean.o_bound[static_cast<size_t>(i)]; };
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    for (auto* values : {&batch.inputs[2].q, &batch.inputs[2].v})
        std::fill(values->begin(), values->end(), kNaN);
    for (float& value : batch.inputs[2].k)
        value = std::numeric_limits<float>::infinity();
    Grader grade("hopper_attention_packed",
                 Format<T>::kName + (", " + batch.text()) + ", the third one NaN");
    const T* q = grade.input("q", pack_rows<T>(batch, &AttentionInputs::q, 1, dim));
    const T* k = grade.input("k", pack_rows<T>(batch, &AttentionInputs::k, 1, dim));
    const T* v = grade.input("v", pack_rows<T>(batch, &AttentionInputs::v, 1, dim));
    const int32_t* query_starts = grade.input("query_starts", batch.query_starts);
    const int32_t* key_starts = grade.input("key_starts", batch.key_starts);
    T* o = grade.output<T>("o", {73 + queries, 1, dim});
    grade.run([&](cudaStream_t s) {
        hopper_attention_packed(
            batch.shape, q, k, v, query_starts, key_starts, o, nullptr, s);
    });
    if (queries == 0) return grade.expect("o", clean.o, bound);
    const auto got = grade.read("o");
    for (size_t i = 0; i < got.size(); ++i) {
        const size_t row = i / static_cast<size_t>(dim);
        if (row >= 43 && row < 43 + static_cast<size_t>(queries)) continue;
        INFO("row " << row << ", column " << i % static_cast<size_t>(dim));
        REQUIRE(std::abs(got[i] - clean.o[i]) <= bound(static_cast<int64_t>(i)));
    }
}

TEST_CASE("a NaN stays in its own sequence") {
    NEEDS_HOPPER();
    // The rows behind a sequence are the next one's; with a weight of 0, too, they must
    // not be touched. With queries of its own, the next one's results are NaN.
    for (const int64_t queries : {0, 9})
        for (const int64_t dim : {64, 128, 256})
            for (const bool causal : {false, true}) {
                if (wb::testing::is_watched() && causal) continue;
                grade_foreign_nan<__nv_bfloat16>(queries, dim, causal);
            }
    for (const int64_t dim : {64, 128, 256})
        for (const bool causal : {false, true})
            if (!wb::testing::is_watched() || !causal)
                grade_foreign_nan<__half>(causal ? 9 : 0, dim, causal);
}

TEST_CASE("a paged cache: pages in any order, and NaN behind the last key") {
    NEEDS_HOPPER();
    const auto batch = make_batch<__nv_bfloat16>(
        {{1, 40}, {33, 33}, {5, 0}, {70, 300}}, 2, 1, 64, true);
    for (const int64_t page : {16, 64, 256})
        grade_paged(batch, page);
    grade_paged(make_batch<__nv_bfloat16>({{20, 150}, {3, 17}}, 4, 2, 128, false), 32);
}

/// Of four sequences, the second has a fault, which the report names. The results of
/// the others are right; so are its own, if it counts as empty.
static void grade_fault(const Batch& batch,
                        const PagedInputs& pages,
                        const std::vector<std::string>& parts,
                        bool counts_as_empty) {
    const auto result = run_paged(batch, pages, nullptr);
    for (const std::string& part : parts)
        wb::testing::expect_report(
            "hopper_attention_paged", batch.text(), result.fault, part);
    Batch counted = batch;
    if (counts_as_empty) {
        counted.parts[1].keys = 0;
        counted.inputs[1].k.clear();
        counted.inputs[1].v.clear();
    }
    const auto expected = expect_batch<__nv_bfloat16>(counted);
    const auto row_size = static_cast<size_t>(batch.shape.head_dim);
    const auto heads = static_cast<size_t>(batch.shape.query_heads);
    const auto is_graded = [&](size_t query) {
        const auto row = static_cast<int32_t>(query);
        return counts_as_empty || row < batch.query_starts[1] ||
               row >= batch.query_starts[2];
    };
    INFO("fault: " << result.fault);
    for (size_t i = 0; i < result.o.size(); ++i) {
        if (!is_graded(i / row_size / heads)) continue;
        INFO("row " << i / row_size << ", column " << i % row_size);
        REQUIRE(std::abs(result.o[i] - expected.o[i]) <= expected.o_bound[i]);
    }
    for (size_t row = 0; row < result.lse.size(); ++row) {
        if (!is_graded(row % (result.lse.size() / heads))) continue;
        INFO("lse of row " << row);
        const bool same = result.lse[row] == expected.lse[row];  // both infinite, too
        REQUIRE((same || std::abs(result.lse[row] - expected.lse[row]) <=
                             expected.lse_bound[row]));
    }
}

TEST_CASE("a length that fills the row of the table is right") {
    NEEDS_HOPPER();
    const auto batch = make_batch<__nv_bfloat16>({{10, 48}, {10, 40}}, 1, 1, 64, false);
    auto pages = in_pages(batch, 16, 7);
    pages.shape.spare_entries = 0;
    place_pages(pages, 7);
    const auto expected = expect_batch<__nv_bfloat16>(batch);
    run_paged(batch, pages, &expected);
}

TEST_CASE("paged: a table with room for more keys than the cache of a GPU holds") {
    NEEDS_HOPPER();
    // Heads may be taken in sections of as many as it holds: of 3 heads 2, then a
    // section of one head. All have two tiles.
    const auto batch =
        make_batch<__nv_bfloat16>({{140, 3}, {130, 7}, {131, 5}}, 1, 1, 64, true);
    auto pages = in_pages(batch, 256, 7);
    const auto expected = expect_batch<__nv_bfloat16>(batch);
    for (const int64_t spare : {93, 300}) {  // with 300, not even one head fits
        pages.shape.spare_entries = spare;
        place_pages(pages, 7);
        run_paged(batch, pages, &expected);
    }
}

TEST_CASE("a page that does not exist is reported, and nobody else suffers") {
    NEEDS_HOPPER();
    const FewMultiprocessors few(1);  // one may go through all sequences
    const auto graded = [](int64_t D, int64_t page, int64_t entry, auto wrong_of) {
        // The second one has several blocks of keys.
        const bool causal = entry % 4 == 2;
        const auto batch = make_batch<__nv_bfloat16>(
            {{10, 40}, {10, 300}, {3, 20}, {10, 40}}, causal ? 3 : 1, 1, D, causal);
        auto pages = in_pages(batch, page, 7);
        const int32_t wrong = wrong_of(static_cast<int32_t>(pages.num_pages));
        pages.table[static_cast<size_t>(pages.pages_per_sequence + entry)] = wrong;
        grade_fault(batch,
                    pages,
                    {"sequence 1",
                     "entry " + std::to_string(entry) + " ",
                     std::to_string(wrong)},
                    false);
    };
    constexpr auto kInt = std::numeric_limits<int32_t>();
    const auto past = [](int32_t pages) { return pages; };
    graded(64, 16, 1, past);
    graded(64, 16, 1, [](int32_t) { return -1; });
    graded(64, 16, 10, [&](int32_t) { return kInt.min(); });
    graded(64, 16, 18, [&](int32_t) { return kInt.max(); });
    for (const int64_t entry : {0, 2, 4})
        graded(128, 64, entry, past);
}

TEST_CASE("a length that the table has no room for is reported, and counts as 0") {
    NEEDS_HOPPER();
    const FewMultiprocessors few(1);
    constexpr auto kInt = std::numeric_limits<int32_t>();
    for (const bool causal : {false, true}) {
        const auto batch =
            make_batch<__nv_bfloat16>({{10, 40}, {10, 40}, {3, 20}, {10, 40}},
                                      causal ? 4 : 1,
                                      causal ? 2 : 1,
                                      causal ? 128 : 64,
                                      causal);
        const auto pages = in_pages(batch, 16, 7);
        const auto room = static_cast<int32_t>(pages.pages_per_sequence * 16);
        for (const int32_t wrong : {room + 1, -1, kInt.min(), kInt.max()}) {
            auto with_fault = pages;
            with_fault.lengths[1] = wrong;
            grade_fault(batch, with_fault, {"sequence 1", std::to_string(wrong)}, true);
        }
    }
}
