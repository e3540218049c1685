// Grades day06-llm-attention/04-paged-attention: attention over pages.
#include "edges.h"
#include "far_pages.h"
#include "paged_grading.h"
#include "special.h"
#include "triples.h"

#include <wb/implementations.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/other_device.h>
#include <wb/testing/paged.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <limits>
#include <vector>

using namespace paged_grading;

TEST_CASE("a NaN reaches the rows that see it, and no others") {
    // Of every page size.
    for (const auto& layout :
         {Layout{16, 64}, {32, 128}, {64, 64}, {128, 128}, {256, 64}})
        grade_not_finite(layout);
}

TEST_CASE("a NaN in a value counts, even with a weight of 0", "[values]") {
    for (const auto& layout : kLayouts)
        for (const bool first : {false, true})
            grade_weightless(layout, first);
}

TEST_CASE("values below the smallest number with all its digits keep the rest",
          "[values]") {
    for (const auto& layout : kLayouts)
        grade_subnormal(layout);
}

TEST_CASE("with one token, attention gives back its value") {
    PagedShape shape{{1, 1}};
    shape.head_dim = GENERATE(as<int64_t>(), 64, 128);
    const PagedInputs inputs = random_paged(shape, 1, 3);
    AttentionExpected expected = expect_paged(inputs);
    for (double& bound : expected.o_bound)
        bound = 0.0;  // its weight is 1, and v is a bfloat16
    for (const auto& [name, idea, function] : attentions())
        attend(name, function, inputs, &expected, with_seed(inputs, 1));
}

TEST_CASE("sequences end before, at and after the end of a page") {
    const auto page = GENERATE(as<int64_t>(), 16, 32, 64, 128, 256);
    PagedShape shape{around(page), page};
    shape.query_heads = 4;
    shape.kv_heads = 2;
    grade_random(shape, static_cast<uint64_t>(page));
}

TEST_CASE("rows of 128 numbers") {
    PagedShape shape{around(16)};
    shape.head_dim = 128;
    shape.query_heads = 4;
    shape.kv_heads = 2;
    grade_random(shape, 11);
}

TEST_CASE("edges meet: pages, head dimensions, logits, heads") {
    grade_attention_edges();
}

TEST_CASE("any three edges meet", "[long]") {
    grade_triples(false);
}

TEST_CASE("any three edges meet, and one sequence is not as it should be", "[long]") {
    grade_triples(true);
}

TEST_CASE("nothing is kept from call to call") {
    PagedShape first{{5, 40}, 16};
    first.query_heads = 4;
    first.kv_heads = 2;
    const PagedShape other{{33, 1, 17}, 32};
    wb::testing::expect_independent([&] { grade_random(first, 1); },
                                    [&] { grade_random(other, 2); },
                                    [&] { grade_random(first, 3); });
    if (wb::testing::is_watched()) return;  // there, accesses are no others
    wb::testing::on_another_device([] {
        for (const auto& layout : kLayouts)
            grade_random(layout.shape({5, 33}), 4);
    });
}

TEST_CASE("nothing is kept from call to call with many keys and heads", "[long]") {
    if (wb::testing::is_watched()) return;  // there, accesses are no others
    PagedShape many_keys{{2'101}, 64};
    PagedShape many_heads{{20}};
    many_heads.query_heads = many_heads.kv_heads = 66;
    for (const PagedShape& shape : {many_keys, many_heads}) {
        const auto graded = [&](uint64_t seed) {
            const PagedInputs inputs = random_paged(shape, seed, 7);
            const AttentionExpected expected = expect_paged(inputs);
            for (const auto& [name, idea, function] :
                 wb::testing::last_of(attentions()))
                attend(name, function, inputs, &expected, with_seed(inputs, seed));
        };
        const auto appended = [&](uint64_t seed) {
            const PagedInputs inputs = random_paged(shape, seed, seed);
            const Append append = tokens_of(inputs, {{0, 0, inputs.lengths[0]}});
            grade_append(inputs, append, with_seed(inputs, seed));
        };
        wb::testing::expect_independent([&] { graded(1); }, [&] { graded(3); });
        wb::testing::expect_independent([&] { appended(1); }, [&] { appended(3); });
    }
}

TEST_CASE("no block waits for one that may not have begun") {
    // A workspace's counters say who is last: whoever that is does the rest.
    PagedShape shape{{700, 20, 0, 130}};
    shape.query_heads = 4;
    shape.kv_heads = 2;
    for (const bool last_first : {true, false}) {
        const wb::testing::FewBlocks few(2, last_first);
        grade_random(shape, 24);
    }
}

TEST_CASE("a group of query heads shares a K/V head") {
    struct Heads {
        int64_t query;
        int64_t kv;
    };
    const auto heads = GENERATE(Heads{1, 1},
                                Heads{4, 4},
                                Heads{4, 1},
                                Heads{6, 2},
                                Heads{16, 2},
                                Heads{8, 8},
                                Heads{12, 1},
                                Heads{17, 1},
                                Heads{5, 5},
                                Heads{7, 1},
                                Heads{15, 1},
                                Heads{82, 2},      // 41 * (1.0f / 41) < 1
                                Heads{68, 68},     // two K/V heads a block of v5
                                Heads{136, 136});  // four
    for (const auto& layout : kLayouts) {
        PagedShape shape = layout.shape({35, 0, 2});
        shape.query_heads = heads.query;
        shape.kv_heads = heads.kv;
        const PagedInputs inputs = random_paged(shape, 12, 7);
        const AttentionExpected expected = expect_paged(inputs);
        for (const auto& [name, idea, function] : wb::testing::whose_turn(
                 attentions(), static_cast<uint64_t>(heads.query / heads.kv)))
            attend(name, function, inputs, &expected, with_seed(inputs, 12));
    }
}

TEST_CASE("a sequence of ten thousand tokens beside short ones", "[large]") {
    PagedShape shape{{0, 10'240, 1, 15, 16, 17}};
    shape.query_heads = 2;
    grade_random(shape, 13);
}

TEST_CASE("more keys than all multiprocessors take at once", "[large]") {
    // Each has several pieces, of several heads, and some are only part of a head's.
    PagedShape shape{{1'030, 17}};
    shape.query_heads = 33;
    shape.kv_heads = 33;
    const PagedInputs inputs = random_paged(shape, 28, 28);
    const AttentionExpected expected = expect_paged(inputs);
    for (const auto& [name, idea, function] : wb::testing::whose_turn(attentions(), 2))
        attend(name, function, inputs, &expected, with_seed(inputs, 28));
}

TEST_CASE("a sequence of many heads alone") {
    PagedShape shape{{20}};
    shape.query_heads = 130;
    shape.kv_heads = 130;
    grade_random(shape, 29);
}

TEST_CASE("sequences that fill their row of the table") {
    for (const auto& layout : kLayouts) {
        PagedShape shape = layout.shape({48, 47, 33});
        if (layout.page > 16) shape.lengths = {2 * layout.page, 2 * layout.page - 1};
        shape.spare_entries = 0;
        grade_random(shape, 30);
    }
}

TEST_CASE("values past what a half can hold", "[values]") {
    PagedInputs inputs = random_paged({{300, 7}}, 31, 31);
    for (int64_t s = 0; s < inputs.batch(); ++s) {
        for (__nv_bfloat16& x : inputs.v[static_cast<size_t>(s)])
            x = __float2bfloat16(1e6f * __bfloat162float(x));
        fill_pages(inputs, s);
    }
    grade_inputs(inputs, "v up to 10^6, " + with_seed(inputs, 31));
}

TEST_CASE("room for the parts of a sequence is as large as each call needs") {
    PagedShape small{{300}};
    small.query_heads = 1;
    PagedShape large{{2'320, 20}};
    large.query_heads = 8;
    large.head_dim = 128;
    std::vector<std::pair<PagedInputs, AttentionExpected>> calls;
    for (const PagedShape& shape : {small, large, small}) {
        const PagedInputs inputs = random_paged(shape, 32, 32);
        calls.emplace_back(inputs, expect_paged(inputs));
    }
    for (const auto& [name, idea, function] : attentions())
        for (const auto& [inputs, expected] : calls)
            attend(name, function, inputs, &expected, with_seed(inputs, 32));
}

TEST_CASE("pages past 2^31 numbers of the pool", "[large]") {
    const FarPools pools{{128, 128}, 2, 65'537};  // 65,536 pages are 2^31 numbers
    grade_far_page(pools, "the second page past 2^31 numbers of the pool");
}

TEST_CASE("more sequences than a warp has lanes") {
    wb::testing::Random random(14);
    PagedShape shape;
    for (int s = 0; s < 75; ++s)
        shape.lengths.push_back(random.below(4) == 0 ? 0 : random.below(50));
    shape.kv_heads = 3;
    shape.query_heads = 6;
    shape.spare_entries = 2;
    grade_random(shape, 14);
}

TEST_CASE("every key counts once") {
    // All scores are 0, so that all weights are the same: o is the mean, and a key that
    // is lost or counted twice shows in the log of their number.
    struct Size {
        int64_t length;
        Layout layout;
    };
    const auto size = GENERATE(Size{1, {32, 64}},
                               Size{64, {128, 128}},
                               Size{1009, {256, 64}},
                               Size{4096, {32, 64}},
                               Size{4131, {64, 128}});
    PagedShape shape = size.layout.shape({size.length, 16});
    shape.kv_heads = size.layout.head_dim / 64;  // one, two
    shape.query_heads *= shape.kv_heads;
    PagedInputs inputs = random_paged(shape, 15, 15);
    std::fill(inputs.q.begin(), inputs.q.end(), __float2bfloat16(0.0f));
    AttentionExpected expected = expect_paged(inputs);
    for (size_t i = 0; i < expected.lse.size(); ++i)
        expected.lse_bound[i] = wb::testing::float_bound(8, 1.0 + expected.lse[i]);
    for (const auto& [name, idea, function] : attentions())
        attend(name, function, inputs, &expected, "q = 0, " + with_seed(inputs, 15));
}

TEST_CASE("more than 256 pages of several K/V heads", "[long]") {
    PagedShape shape{{4'097}, 16};
    shape.kv_heads = shape.query_heads = 2;
    PagedInputs inputs = random_paged(shape, 18, 7);
    set_sequence(inputs, 0, wb::testing::chosen_keys(problem_of(inputs, 0), 18));
    AttentionExpected expected = expect_paged(inputs);
    expect_exactly(expected);
    for (const auto& [name, idea, function] : wb::testing::last_of(attentions()))
        attend(name, function, inputs, &expected, "chosen keys");
}

TEST_CASE("many keys in pages of each size and head dimension", "[long]") {
    struct Size {
        int64_t length;
        Layout layout;
    };
    for (const auto& [length, layout] : {Size{9'011, {16, 128}},
                                         {4'243, {32, 64}},
                                         {4'243, {64, 128}},
                                         {4'243, {128, 64}},
                                         {4'243, {256, 128}}}) {
        PagedShape shape{{length}, layout.page};
        shape.query_heads = 1;
        shape.head_dim = layout.head_dim;
        PagedInputs inputs = random_paged(shape, 19, 9);
        set_sequence(inputs, 0, wb::testing::chosen_keys(problem_of(inputs, 0), 19));
        AttentionExpected expected = expect_paged(inputs);
        expect_exactly(expected);
        for (const auto& [name, idea, function] : wb::testing::last_of(attentions()))
            attend(name, function, inputs, &expected, "chosen keys, " + inputs.text());
    }
}

TEST_CASE("more than 65536 keys: none of them is lost", "[long]") {
    // One page holds them all, so to speak: the table has it again and again.
    constexpr int64_t kPage = 256;
    constexpr int64_t kPages = 257;
    PagedShape shape{{kPage}, kPage};
    shape.query_heads = 1;
    PagedInputs inputs = random_paged(shape, 17, 0);
    std::fill(inputs.q.begin(), inputs.q.end(), __float2bfloat16(0.0f));
    AttentionExpected expected = expect_paged(inputs);
    expected.lse[0] += std::log(double{kPages});
    expected.lse_bound[0] = wb::testing::float_bound(8, 1.0 + expected.lse[0]);
    inputs.table.assign(kPages, inputs.table[0]);
    inputs.pages_per_sequence = kPages;
    inputs.lengths[0] = static_cast<int32_t>(kPages * kPage);
    for (const auto& [name, idea, function] : wb::testing::last_of(attentions()))
        attend(name, function, inputs, &expected, "65792 keys");
}

TEST_CASE("scores of ten thousand do not overflow", "[values]") {
    PagedShape shape{{33, 50}};
    shape.scale = GENERATE(1e4f, -1e4f);
    grade_random(shape, 16);
}

TEST_CASE("a scale of 0: all keys weigh the same") {
    PagedShape shape{{33, 5}};
    shape.scale = 0.0f;
    grade_random(shape, 36);
}

TEST_CASE("the log-sum-exp is optional") {
    const PagedInputs inputs = random_paged({{0, 33}}, 23, 23);
    const AttentionExpected expected = expect_paged(inputs);
    for (const auto& [name, idea, function] : attentions())
        attend(name, function, inputs, &expected, "lse = null", false);
}

TEST_CASE("whatever order threads and blocks run in, the result is the same") {
    PagedShape shape{{700, 20, 0, 130}};
    shape.query_heads = 4;
    shape.kv_heads = 2;
    const PagedInputs inputs = random_paged(shape, 24, 24);
    const AttentionExpected expected = expect_paged(inputs);
    for (const auto& [name, idea, function] : attentions()) {
        std::vector<double> first;
        for (const unsigned seed : {0u, 1u, 2u}) {
            wb::testing::shuffle_threads(seed);
            const Result result =
                attend(name, function, inputs, &expected, with_seed(inputs, 24));
            if (seed == 0) first = result.o;
            REQUIRE(result.o == first);
        }
        wb::testing::shuffle_threads(0);
    }
}

TEST_CASE("a workspace serves one call after the other") {
    PagedShape shape{{300, 5}};
    const PagedInputs inputs = random_paged(shape, 25, 25);
    const AttentionExpected expected = expect_paged(inputs);
    for (const auto& [name, idea, function] : attentions()) {
        const wb::PagedWorkspace workspace(kCounters);
        for (int call = 0; call < 4; ++call) {
            const std::string text = "call " + std::to_string(call);
            // A fault of an earlier call stays until the host has asked for it.
            const bool has_fault = call == 3;
            if (has_fault) {
                const wb::PagedStatus fault{int32_t(wb::PagedFault::length), 1, 0, -7};
                CUDA_CHECK(cudaMemcpy(
                    workspace.status(), &fault, sizeof fault, cudaMemcpyHostToDevice));
            }
            Grader grade(name, text);
            const wb::PagedCache cache = cache_on_device(grade, inputs);
            const auto* q = grade.input("q", inputs.q);
            auto* o = grade.output<__nv_bfloat16>("o", {2, 2, 64});
            grade.run([&, function = function](cudaStream_t s) {
                function(cache, q, o, nullptr, 2, inputs.scale(), workspace, s);
            });
            std::string report;
            try {
                workspace.check(nullptr);
            } catch (const wb::PagedCacheError& error) {
                report = error.what();
            }
            wb::testing::expect_report(
                name, text, report, has_fault ? "sequence 1: its length is -7" : "");
            grade.expect("o", expected.o, [&](int64_t i) {
                return expected.o_bound[static_cast<size_t>(i)];
            });
        }
    }
}

TEST_CASE("no sequences, no work") {
    const PagedInputs inputs = random_paged({{3}}, 1, 0);
    const wb::PagedWorkspace workspace(1);
    Grader grade("paged_attention", "batch = 0");
    wb::PagedCache cache = cache_on_device(grade, inputs);
    cache.batch = 0;
    grade.expect_no_work([&](cudaStream_t s) {
        paged_attention(cache, nullptr, nullptr, nullptr, 2, 1.0f, workspace, s);
    });
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    const PagedInputs inputs = random_paged({{3}}, 1, 0);
    const wb::PagedWorkspace workspace(2);
    Grader grade("paged_attention", "wrong arguments");
    const wb::PagedCache good = cache_on_device(grade, inputs);
    auto* q = grade.output<__nv_bfloat16>("q", {2, 64});
    auto* lse = grade.output<float>("lse", {2});
    auto* ids = grade.output<int32_t>("ids", {1});
    const auto attend_with = [&](wb::PagedCache cache, int64_t heads, float scale) {
        paged_attention(cache, q, q, lse, heads, scale, workspace, nullptr);
    };
    // Without sequences, or without tokens, a cache is no other.
    const auto refused = [&](const std::string& part, auto&& change) {
        for (const int64_t batch : {1, 0}) {
            wb::PagedCache cache = good;
            cache.batch = batch;
            change(cache);
            expect_refused(
                "paged_attention", part, part, [&] { attend_with(cache, 2, 1.0f); });
            expect_refused("append_kv", part, part, [&] {
                append_kv(cache, q, q, ids, ids, batch, workspace, nullptr);
            });
        }
    };
    for (const int64_t size : {0, 8, 24, 48, 512, -16})
        refused("cache.page_size is " + std::to_string(size),
                [size](auto& c) { c.page_size = size; });
    for (const int64_t dim : {0, 32, 96, 192, 256, -64})
        refused("cache.head_dim is " + std::to_string(dim),
                [dim](auto& c) { c.head_dim = dim; });
    refused("cache.batch is -1", [](auto& c) { c.batch = -1; });
    refused("cache.kv_heads is 0", [](auto& c) { c.kv_heads = 0; });
    refused("cache.kv_heads is -1", [](auto& c) { c.kv_heads = -1; });
    refused("cache.num_pages is 0", [](auto& c) { c.num_pages = 0; });
    refused("cache.num_pages is 2147483648",
            [](auto& c) { c.num_pages = int64_t{1} << 31; });
    refused("cache.pages_per_sequence is -1",
            [](auto& c) { c.pages_per_sequence = -1; });
    refused("pages_per_sequence * page_size is 1073741840",
            [](auto& c) { c.pages_per_sequence = (1 << 26) + 1; });
    refused("cache.k is a null pointer", [](auto& c) { c.k = nullptr; });
    refused("cache.v is a null pointer", [](auto& c) { c.v = nullptr; });
    refused("cache.block_table is a null", [](auto& c) {
        c.batch = 1;  // of none, there is no table either
        c.block_table = nullptr;
    });
    refused("cache.lengths is a null pointer", [](auto& c) {
        c.batch = 1;
        c.lengths = nullptr;
    });
    refused("cache.k is", [](auto& c) { c.k += 1; });
    expect_refused("paged_attention", "no heads", "query_heads is 0", [&] {
        attend_with(good, 0, 1.0f);
    });
    using Limits = std::numeric_limits<float>;
    for (const float scale : {Limits::quiet_NaN(),
                              Limits::infinity(),
                              -Limits::infinity(),
                              0x1.8p127f,
                              -0x1.8p127f})
        expect_refused("paged_attention", "scale", "scale is", [&] {
            attend_with(good, 2, scale);
        });
    expect_refused("paged_attention", "counters", "workspace.num_counters is 2", [&] {
        attend_with(good, 3, 1.0f);
    });
    Grader more("paged_attention", "too few counters for two sequences");
    const wb::PagedCache two = cache_on_device(more, random_paged({{3, 3}}, 1, 0));
    auto* two_q = more.output<__nv_bfloat16>("q", {2, 2, 64});
    expect_refused("paged_attention", "counters", "workspace.num_counters is 2", [&] {
        paged_attention(two, two_q, two_q, nullptr, 2, 1.0f, workspace, nullptr);
    });
    expect_refused("paged_attention", "q null", "q is a null pointer", [&] {
        paged_attention(good, nullptr, q, lse, 2, 1.0f, workspace, nullptr);
    });
    expect_refused("append_kv", "tokens", "tokens is -1", [&] {
        append_kv(good, q, q, ids, ids, -1, workspace, nullptr);
    });
    expect_refused("append_kv", "positions", "positions is a null pointer", [&] {
        append_kv(good, q, q, ids, nullptr, 1, workspace, nullptr);
    });
    wb::PagedCache two_heads = good;
    two_heads.kv_heads = 2;
    two_heads.num_pages = 1;
    expect_refused("paged_attention", "heads", "query_heads is 3", [&] {
        attend_with(two_heads, 3, 1.0f);
    });
}
