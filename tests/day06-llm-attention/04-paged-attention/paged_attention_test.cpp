// Grades day06-llm-attention/04-paged-attention.
#include "edges.h"
#include "paged_grading.h"
#include "paged_server.h"

#include <wb/arguments.h>
#include <wb/implementations.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/paged.h>
#include <wb/testing/simulator.h>

#include <cstring>

using namespace paged_grading;

TEST_CASE("a prompt goes into the pages of its sequence") {
    const auto page = GENERATE(as<int64_t>(), 16, 32, 64, 256);
    PagedShape shape{{1, page, page + 1, 2 * page + 3}, page};
    shape.kv_heads = 2;
    shape.head_dim = page == 32 ? 128 : 64;
    const PagedInputs inputs = random_paged(shape, 1, 5);
    std::vector<NewTokens> prompts;
    for (int64_t s = 0; s < inputs.batch(); ++s)
        prompts.push_back({s, 0, inputs.lengths[static_cast<size_t>(s)]});
    grade_append(inputs, tokens_of(inputs, prompts), with_seed(inputs, 1));
}

TEST_CASE("decoding appends one token to each sequence and changes nothing else") {
    PagedShape shape{{1, 16, 17, 40}};
    shape.kv_heads = 3;
    PagedInputs inputs = random_paged(shape, 2, 6);
    std::vector<NewTokens> last;
    for (int64_t s = 0; s < inputs.batch(); ++s)
        last.push_back({s, inputs.lengths[static_cast<size_t>(s)] - 1, 1});
    const Append append = tokens_of(inputs, last);
    // What was there before is stale here, so that only the new slots are filled.
    const auto table = inputs.table;
    const auto k_pool = inputs.k_pool;
    const auto v_pool = inputs.v_pool;
    std::fill(inputs.k_pool.begin(), inputs.k_pool.end(), wb::testing::stale_number());
    std::fill(inputs.v_pool.begin(), inputs.v_pool.end(), wb::testing::stale_number());
    for (int64_t s = 0; s < inputs.batch(); ++s) {
        const int64_t p = inputs.lengths[static_cast<size_t>(s)] - 1;
        const int64_t page =
            table[static_cast<size_t>(s * inputs.pages_per_sequence + p / 16)];
        for (int64_t h = 0; h < 3; ++h) {
            const int64_t at = ((page * 3 + h) * 16 + p % 16) * 64;
            std::copy_n(k_pool.begin() + at, 64, inputs.k_pool.begin() + at);
            std::copy_n(v_pool.begin() + at, 64, inputs.v_pool.begin() + at);
        }
    }
    grade_append(inputs, append, with_seed(inputs, 2));
}

TEST_CASE("a token without a place is reported, and the others are written") {
    const PagedInputs inputs = random_paged({{20, 5}}, 3, 8);
    Append append = tokens_of(inputs, {{0, 0, 20}, {1, 0, 5}});
    const auto add_token = [&](int32_t sequence, int32_t position) {
        append.sequences.push_back(sequence);
        append.positions.push_back(position);
        for (int i = 0; i < 64; ++i) {
            append.k.push_back(__float2bfloat16(1.0f));
            append.v.push_back(__float2bfloat16(1.0f));
        }
    };
    std::string part;
    SECTION("no such sequence") {
        add_token(2, 0);
        part = "token 25 is for sequence 2";
    }
    SECTION("a negative sequence") {
        add_token(-1, 0);
        part = "token 25 is for sequence -1";
    }
    SECTION("past the row of the table") {
        add_token(1, static_cast<int32_t>(inputs.pages_per_sequence * 16));
        part = "sequence 1: token 25 is for position 48";
    }
    SECTION("a negative position") {
        add_token(1, -1);
        part = "sequence 1: token 25 is for position -1";
    }
    SECTION("a page that the table does not have yet") {
        add_token(1, 16);
        part = "sequence 1: entry 1 of its block table is -1";
    }
    SECTION("a missing page, and the last slot of it") {
        // Written to page -1, it would be right before the pool.
        add_token(1, 31);
        part = "sequence 1: entry 1 of its block table is -1";
    }
    grade_append(inputs, append, "one token too many", part);
}

TEST_CASE("edges meet: tokens in any order, into pages of any size") {
    grade_append_edges();
}

TEST_CASE("a token at a position past 2^24") {
    grade_far_token();
}

TEST_CASE("no tokens, no work") {
    const PagedInputs inputs = random_paged({{3}}, 1, 0);
    const wb::PagedWorkspace workspace(1);
    Grader grade("append_kv", "tokens = 0");
    const wb::PagedCache cache = cache_on_device(grade, inputs);
    grade.expect_no_work([&](cudaStream_t s) {
        append_kv(cache, nullptr, nullptr, nullptr, nullptr, 0, workspace, s);
    });
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
    const auto page = GENERATE(as<int64_t>(), 16, 32, 64, 256);
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

TEST_CASE("nothing is kept from call to call") {
    PagedShape first{{5, 40}, 16};
    first.query_heads = 4;
    first.kv_heads = 2;
    const PagedShape other{{33, 1, 17}, 32};
    wb::testing::expect_independent([&] { grade_random(first, 1); },
                                    [&] { grade_random(other, 2); });
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
                                Heads{68, 68},     // two K/V heads a block of v5
                                Heads{136, 136});  // four
    PagedShape shape{{35, 0, 2}};
    shape.query_heads = heads.query;
    shape.kv_heads = heads.kv;
    grade_random(shape, 12);
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
    PagedShape shape{{48, 47, 33}};
    shape.spare_entries = 0;
    grade_random(shape, 30);
}

TEST_CASE("values past what a half can hold") {
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
    grade_far_pages();
}

TEST_CASE("more sequences than a warp has lanes") {
    wb::testing::Random random(14);
    PagedShape shape;
    for (int s = 0; s < 75; ++s)
        shape.lengths.push_back(random.below(4) == 0 ? 0 : random.below(50));
    shape.kv_heads = 2;
    shape.query_heads = 4;
    grade_random(shape, 14);
}

TEST_CASE("every key counts once") {
    // All scores are 0, so that all weights are the same: o is the mean, and a key that
    // is lost or counted twice shows in the log of their number.
    const auto length = GENERATE(as<int64_t>(), 1, 64, 1009, 4096);
    PagedShape shape{{length, 16}, 32};
    PagedInputs inputs = random_paged(shape, 15, 15);
    std::fill(inputs.q.begin(), inputs.q.end(), __float2bfloat16(0.0f));
    AttentionExpected expected = expect_paged(inputs);
    for (size_t i = 0; i < expected.lse.size(); ++i)
        expected.lse_bound[i] = wb::testing::float_bound(8, 1.0 + expected.lse[i]);
    for (const auto& [name, idea, function] : attentions())
        attend(name, function, inputs, &expected, "q = 0, " + with_seed(inputs, 15));
}

TEST_CASE("scores of ten thousand do not overflow") {
    PagedShape shape{{33, 50}};
    shape.scale = GENERATE(1e4f, -1e4f);
    grade_random(shape, 16);
}

TEST_CASE("pages in any order give the same bits") {
    PagedShape shape{{100, 37, 600}, 32};
    shape.query_heads = 4;
    shape.kv_heads = 2;
    const PagedInputs ordered = random_paged(shape, 17, 0);
    for (const auto& [name, idea, function] : attentions()) {
        const Result first = attend(name, function, ordered, nullptr, "pages in order");
        for (const uint64_t order : {1, 2}) {
            const PagedInputs shuffled = random_paged(shape, 17, order);
            REQUIRE(shuffled.table != ordered.table);
            AttentionExpected same;
            same.o = first.o;
            same.o_bound.assign(first.o.size(), 0.0);
            same.lse = first.lse;
            same.lse_bound.assign(first.lse.size(), 0.0);
            attend(name,
                   function,
                   shuffled,
                   &same,
                   "shuffled pages against pages in order, shuffle " +
                       std::to_string(order));
        }
    }
}

TEST_CASE("two sequences share their first pages") {
    PagedShape shape{{45, 40, 32}};
    PagedInputs inputs = random_paged(shape, 18, 18);
    // The first 32 tokens of all are those of the first, in two pages of it.
    for (const size_t s : {1, 2}) {
        for (const auto& [mine, first] : {std::pair{&inputs.k[s], &inputs.k[0]},
                                          std::pair{&inputs.v[s], &inputs.v[0]}})
            std::copy_n(first->begin(), 32 * shape.head_dim, mine->begin());
        const auto row = static_cast<std::ptrdiff_t>(s) * inputs.pages_per_sequence;
        std::copy_n(inputs.table.begin(), 2, inputs.table.begin() + row);
    }
    fill_pages(inputs, 0);
    fill_pages(inputs, 1);
    grade_inputs(inputs, "a shared prefix, " + with_seed(inputs, 18));
}

TEST_CASE("what lies past the end of a sequence is not looked at") {
    // Numbers that would win the softmax, in the slots; no page at all, in the table.
    PagedShape shape{{1, 17, 47}};
    shape.spare_entries = 3;
    PagedInputs inputs = random_paged(shape, 19, 19);
    const float stale = GENERATE(3e38f, -3e38f, 100.0f);
    for (auto* pool : {&inputs.k_pool, &inputs.v_pool})
        std::fill(pool->begin(), pool->end(), __float2bfloat16(stale));
    for (int64_t s = 0; s < inputs.batch(); ++s) {
        fill_pages(inputs, s);
        for (int64_t i = inputs.pages_of(s); i < inputs.pages_per_sequence; ++i)
            inputs.table[static_cast<size_t>(s * inputs.pages_per_sequence + i)] =
                0x7FFFFFFF;
    }
    grade_inputs(inputs, "stale numbers, " + with_seed(inputs, 19));
}

TEST_CASE("a table with room for far more tokens than there are") {
    // A kernel that splits by what the table has room for has parts without a key.
    PagedShape shape{{3, 0, 40, 300}, 256};
    shape.spare_entries = 30;
    grade_random(shape, 20);
}

/// Sequence 1, of two heads of 64, is not as it should be. The others are not harmed.
static void expect_others(const std::string& name,
                          const Result& result,
                          const AttentionExpected& expected,
                          bool counts_as_empty) {
    for (size_t i = 0; i < result.o.size(); ++i) {
        const bool bad = i / 128 == 1;
        if (bad && !counts_as_empty) continue;
        const double wanted = bad ? 0.0 : expected.o[i];
        if (std::abs(result.o[i] - wanted) <= expected.o_bound[i]) continue;
        wb::testing::Finding finding;
        finding.kind = wb::testing::Kind::wrong_result;
        finding.implementation = name;
        finding.inputs = "sequence 1 of 0 to 2 is not as it should be";
        finding.what = bad ? "its output is not 0" : "the output of another is wrong";
        finding.numbers.got = result.o[i];
        finding.numbers.expected = wanted;
        wb::testing::fail(std::move(finding));
    }
}

TEST_CASE("a page that does not exist is reported and not read") {
    static constexpr int32_t kFirstMissing = 0;  // stands for as many as there are
    auto bad =
        GENERATE(as<int32_t>(), -1, 0x7FFFFFFF, -0x7FFFFFFF, 1'000'000, kFirstMissing);
    PagedInputs inputs = random_paged({{20, 40, 20}}, 21, 21);
    if (bad == kFirstMissing) bad = static_cast<int32_t>(inputs.num_pages);
    const AttentionExpected expected = expect_paged(inputs);
    inputs.table[static_cast<size_t>(inputs.pages_per_sequence + 1)] = bad;
    const std::string part =
        "sequence 1: entry 1 of its block table is " + std::to_string(bad);
    for (const auto& [name, idea, function] : attentions()) {
        const Result result =
            attend(name, function, inputs, nullptr, "a page that is not", true, part);
        expect_others(name, result, expected, false);
    }
}

TEST_CASE("a length that the table has no room for is reported") {
    PagedInputs inputs = random_paged({{20, 40, 20}}, 22, 22);
    const AttentionExpected expected = expect_paged(inputs);
    const auto bad = GENERATE(as<int32_t>(), -1, 65, 0x7FFFFFFF);
    inputs.lengths[1] = bad;
    const std::string part = "sequence 1: its length is " + std::to_string(bad);
    for (const auto& [name, idea, function] : attentions()) {
        const Result result =
            attend(name, function, inputs, nullptr, "a length too long", true, part);
        expect_others(name, result, expected, true);
    }
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
        for (int call = 0; call < 3; ++call) {
            Grader grade(name, "call " + std::to_string(call));
            const wb::PagedCache cache = cache_on_device(grade, inputs);
            const auto* q = grade.input("q", inputs.q);
            auto* o = grade.output<__nv_bfloat16>("o", {2, 2, 64});
            grade.run([&, function = function](cudaStream_t s) {
                function(cache, q, o, nullptr, 2, inputs.scale(), workspace, s);
            });
            workspace.check(nullptr);
            grade.expect("o", expected.o, [&](int64_t i) {
                return expected.o_bound[static_cast<size_t>(i)];
            });
        }
    }
}

TEST_CASE("a conversation: a prompt, two answers to it, token by token") {
    constexpr int64_t kPrompt = 21;
    constexpr int64_t kAnswers = 14;  // past the end of the shared page
    PagedShape shape{{kPrompt + kAnswers, kPrompt + kAnswers}};
    shape.kv_heads = 2;
    shape.query_heads = 4;
    PagedInputs inputs = random_paged(shape, 26, 0);
    for (auto* numbers : {&inputs.k, &inputs.v}) {  // both begin with the same prompt
        for (int64_t h = 0; h < 2; ++h) {
            const int64_t head = h * (kPrompt + kAnswers) * 64;
            std::copy_n((*numbers)[0].begin() + head,
                        kPrompt * 64,
                        (*numbers)[1].begin() + head);
        }
    }
    const wb::PagedWorkspace workspace(kCounters);
    Grader grade("append_kv and paged_attention", "a prompt and two answers");
    const ServerMemory memory(grade, inputs);
    const auto* q = grade.input("q", inputs.q);
    auto* o = grade.output<__nv_bfloat16>("o", {2, 4, 64});
    // The server asks for the status of its kernels.
    grade.run_and_wait([&](cudaStream_t s) {
        Server server(memory, inputs, workspace, s);
        const int64_t parent = server.pages.add();
        server.append({{parent, 0, kPrompt}});
        const int64_t child = server.pages.fork(parent);
        for (int64_t i = 0; i < kAnswers; ++i)
            server.append({{child, kPrompt + i, 1}, {parent, kPrompt + i, 1}});
        REQUIRE(server.pages.owners(server.pages.block_table()[0]) == 2);
        server.attend(q, o);
    });
    workspace.check(nullptr);
    const AttentionExpected expected = expect_paged(inputs);
    grade.expect("o", expected.o, [&](int64_t i) {
        return expected.o_bound[static_cast<size_t>(i)];
    });
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
    const auto refused = [&](const std::string& part, auto&& change) {
        wb::PagedCache cache = good;
        change(cache);
        expect_refused(
            "paged_attention", part, part, [&] { attend_with(cache, 2, 1.0f); });
        expect_refused("append_kv", part, part, [&] {
            append_kv(cache, q, q, ids, ids, 1, workspace, nullptr);
        });
    };
    refused("cache.page_size is 24", [](auto& c) { c.page_size = 24; });
    refused("cache.page_size is 8", [](auto& c) { c.page_size = 8; });
    refused("cache.head_dim is 32", [](auto& c) { c.head_dim = 32; });
    refused("cache.batch is -1", [](auto& c) { c.batch = -1; });
    refused("cache.kv_heads is 0", [](auto& c) { c.kv_heads = 0; });
    refused("cache.num_pages is 0", [](auto& c) { c.num_pages = 0; });
    refused("pages_per_sequence * page_size is 1073741840",
            [](auto& c) { c.pages_per_sequence = (1 << 26) + 1; });
    refused("cache.k is a null pointer", [](auto& c) { c.k = nullptr; });
    refused("cache.v is a null pointer", [](auto& c) { c.v = nullptr; });
    refused("cache.block_table is a null", [](auto& c) { c.block_table = nullptr; });
    refused("cache.lengths is a null pointer", [](auto& c) { c.lengths = nullptr; });
    refused("cache.k is", [](auto& c) { c.k += 1; });
    expect_refused("paged_attention", "no heads", "query_heads is 0", [&] {
        attend_with(good, 0, 1.0f);
    });
    expect_refused("paged_attention", "scale", "scale is", [&] {
        attend_with(good, 2, std::numeric_limits<float>::quiet_NaN());
    });
    expect_refused("paged_attention", "counters", "workspace.num_counters is 2", [&] {
        attend_with(good, 3, 1.0f);
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
