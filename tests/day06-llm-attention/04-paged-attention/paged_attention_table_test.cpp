// Grades day06-llm-attention/04-paged-attention: the table that says where pages are.
#include "paged_grading.h"
#include "paged_server.h"
#include "special.h"

#include <wb/implementations.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>
#include <wb/testing/paged.h>

#include <algorithm>

using namespace paged_grading;

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
    constexpr int64_t kPages = 18;
    constexpr int64_t kShared = kPages * 16;
    PagedShape shape{{kShared + 13, kShared + 8, kShared}};
    PagedInputs inputs = random_paged(shape, 18, 18);
    // The first tokens of all are those of the first, in pages of it.
    for (const size_t s : {1, 2}) {
        for (const auto& [mine, first] : {std::pair{&inputs.k[s], &inputs.k[0]},
                                          std::pair{&inputs.v[s], &inputs.v[0]}})
            std::copy_n(first->begin(), kShared * shape.head_dim, mine->begin());
        const auto row = static_cast<std::ptrdiff_t>(s) * inputs.pages_per_sequence;
        std::copy_n(inputs.table.begin(), kPages, inputs.table.begin() + row);
    }
    fill_pages(inputs, 0);
    fill_pages(inputs, 1);
    grade_inputs(inputs, "a shared prefix, " + with_seed(inputs, 18));
}

TEST_CASE("a page that a sequence lists twice counts twice") {
    for (const auto& layout : kLayouts)
        grade_repeated_page(layout);
}

TEST_CASE("more sequences than a block has threads") {
    for (const auto& layout : kLayouts)
        grade_many_sequences(layout);
}

TEST_CASE("a workspace serves calls with faults, and without keys") {
    for (const auto& layout : kLayouts)
        grade_one_workspace(layout);
}

TEST_CASE("scores of a million, all alike, of either sign", "[values]") {
    for (const auto& layout : kLayouts)
        grade_far_scores(layout);
}

TEST_CASE("more than 4096 keys, the largest score in the middle") {
    for (const auto& layout : kLayouts)
        grade_far_peak(layout);
}

TEST_CASE("small weights count: thousands of keys, each next to nothing", "[values]") {
    for (const auto& layout : kLayouts)
        grade_small_weights(layout);
}

TEST_CASE("queries and keys below the smallest number with all its digits",
          "[values]") {
    for (const auto& layout : kLayouts)
        grade_subnormal_scores(layout);
}

TEST_CASE("what lies past the end of a sequence is not looked at") {
    // Numbers that would win the softmax, in the slots; no page at all, in the table.
    struct Stale {
        float number;
        Layout layout;
    };
    const auto [stale, layout] = GENERATE(
        Stale{3e38f, {16, 64}}, Stale{-3e38f, {64, 128}}, Stale{100.0f, {128, 64}});
    PagedShape shape = layout.shape({1, 17, 47});
    shape.spare_entries = 3;
    PagedInputs inputs = random_paged(shape, 19, 19);
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

TEST_CASE("a table with room for more keys of all heads than 32 bits count") {
    PagedShape shape{{5, 40}, 256, 64, 64};
    shape.spare_entries = 1 << 19;  // 2^27 keys of each sequence, 64 heads: 2^34
    grade_random(shape, 23);
}

/// One K/V head, and two where rows have 128 numbers.
static PagedShape with_kv_heads(const Layout& layout, std::vector<int64_t> lengths) {
    PagedShape shape = layout.shape(std::move(lengths));
    shape.kv_heads = layout.head_dim / 64;
    shape.query_heads *= shape.kv_heads;
    return shape;
}

TEST_CASE("a page that does not exist is reported and not read") {
    static constexpr int32_t kFirstMissing = 0;  // stands for as many as there are
    struct Missing {
        int32_t page;
        int64_t entry;
        Layout layout;
    };
    auto [bad, entry, layout] = GENERATE(Missing{-1, 1, {16, 64}},
                                         Missing{-1, 0, {64, 128}},
                                         Missing{0x7FFFFFFF, 2, {16, 128}},
                                         Missing{-0x7FFFFFFF, 0, {256, 64}},
                                         Missing{1'000'000, 1, {32, 128}},
                                         Missing{kFirstMissing, 0, {16, 64}},
                                         Missing{kFirstMissing, 2, {64, 64}},
                                         Missing{-7, 18, {16, 64}},
                                         Missing{-7, 258, {16, 64}},
                                         Missing{kFirstMissing, 2, {128, 128}});
    const int64_t length = std::max(entry, int64_t{2}) * layout.page + 8;
    PagedInputs inputs = random_paged(with_kv_heads(layout, {20, length, 20}), 21, 21);
    if (bad == kFirstMissing) bad = static_cast<int32_t>(inputs.num_pages);
    const AttentionExpected expected = expect_paged(inputs);
    inputs.table[static_cast<size_t>(inputs.pages_per_sequence + entry)] = bad;
    const std::string part = "sequence 1: entry " + std::to_string(entry) +
                             " of its block table is " + std::to_string(bad);
    for (const auto& [name, idea, function] : attentions()) {
        const Result result =
            attend(name, function, inputs, nullptr, "a page that is not", true, part);
        expect_others(name, result, expected, 1, false);
    }
}

TEST_CASE("a length that the table has no room for is reported") {
    static constexpr int32_t kOneTooMany = 0;  // stands for one past the table
    struct Length {
        int32_t length;
        Layout layout;
    };
    auto [bad, layout] = GENERATE(Length{-1, {16, 64}},
                                  Length{-1, {256, 128}},
                                  Length{kOneTooMany, {16, 64}},
                                  Length{kOneTooMany, {32, 128}},
                                  Length{0x7FFFFFFF, {128, 128}},
                                  Length{0x7FFFFFFF, {64, 64}});
    PagedInputs inputs = random_paged(with_kv_heads(layout, {20, 40, 20}), 22, 22);
    const AttentionExpected expected = expect_paged(inputs);
    if (bad == kOneTooMany)
        bad = static_cast<int32_t>(inputs.pages_per_sequence * layout.page + 1);
    inputs.lengths[1] = bad;
    const std::string part = "sequence 1: its length is " + std::to_string(bad);
    for (const auto& [name, idea, function] : attentions()) {
        const Result result =
            attend(name, function, inputs, nullptr, "a length too long", true, part);
        expect_others(name, result, expected, 1, true);
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
