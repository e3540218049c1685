// Grades day06-llm-attention/04-paged-attention: append_kv(), which fills the pages.
#include "edges.h"
#include "paged_grading.h"
#include "special.h"

#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/paged.h>

#include <algorithm>
#include <numeric>
#include <vector>

using namespace paged_grading;

TEST_CASE("a prompt goes into the pages of its sequence") {
    const auto page = GENERATE(as<int64_t>(), 16, 32, 64, 128, 256);
    PagedShape shape{{1, page, page + 1, 2 * page + 3}, page};
    shape.kv_heads = 2;
    shape.head_dim = page == 32 ? 128 : 64;
    const PagedInputs inputs = random_paged(shape, 1, 5);
    std::vector<NewTokens> prompts;
    for (int64_t s = 0; s < inputs.batch(); ++s)
        prompts.push_back({s, 0, inputs.lengths[static_cast<size_t>(s)]});
    grade_append(inputs, tokens_of(inputs, prompts), with_seed(inputs, 1));
}

TEST_CASE("a token of more than 4096 numbers") {
    PagedShape shape{{2, 17}};
    shape.kv_heads = 33;
    shape.head_dim = 128;
    const PagedInputs inputs = random_paged(shape, 4, 5);
    grade_append(
        inputs, tokens_of(inputs, {{0, 0, 2}, {1, 0, 17}}), with_seed(inputs, 4));
}

TEST_CASE("more than 4096 tokens at once") {
    const auto layout = GENERATE(Layout{256, 64}, Layout{256, 128});
    PagedShape shape = layout.shape({4'131, 3});
    shape.kv_heads = shape.query_heads = layout.head_dim == 64 ? 2 : 1;
    const PagedInputs inputs = random_paged(shape, 7, 7);
    grade_append(
        inputs, tokens_of(inputs, {{1, 0, 3}, {0, 0, 4'131}}), with_seed(inputs, 7));
}

TEST_CASE("tokens of many sequences") {
#ifdef SIMT_CPU
    constexpr size_t kMany = 259;
    constexpr int64_t kMostHeads = 2;
    constexpr Layout kLargest{32, 128};
#else
    // A grid has 65,535 blocks along y and z. The host compares a page of each
    // sequence.
    constexpr size_t kMany = 65'539;
    constexpr int64_t kMostHeads = 1;
    constexpr Layout kLargest{16, 128};
#endif
    for (const Layout& layout : {Layout{16, 64}, kLargest}) {
        PagedShape shape = layout.shape(std::vector<int64_t>(kMany, 1));
        shape.kv_heads = shape.query_heads = std::min(layout.head_dim / 64, kMostHeads);
        const PagedInputs inputs = random_paged(shape, 5, 6);
        std::vector<NewTokens> first;
        for (int64_t s = 0; s < inputs.batch(); ++s)
            first.push_back({s, 0, 1});
        grade_append(inputs, tokens_of(inputs, first), with_seed(inputs, 5));
    }
}

TEST_CASE("more sequences than 16 bits count, two of which get tokens") {
    PagedShape shape{std::vector<int64_t>(66'003, 0)};
    shape.lengths[3] = 20;
    shape.lengths[66'000] = 17;
    shape.query_heads = 1;
    const PagedInputs inputs = random_paged(shape, 8, 7);
    grade_append(
        inputs, tokens_of(inputs, {{66'000, 0, 17}, {3, 0, 20}}), with_seed(inputs, 8));
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
    const auto layout = GENERATE(Layout{16, 64},
                                 Layout{32, 128},
                                 Layout{64, 64},
                                 Layout{128, 128},
                                 Layout{256, 64});
    PagedShape shape = layout.shape({20, 5});
    shape.kv_heads = layout.head_dim / 64;  // one, two
    shape.query_heads = shape.kv_heads;
    const PagedInputs inputs = random_paged(shape, 3, 8);
    Append append = tokens_of(inputs, {{0, 0, 20}, {1, 0, 5}});
    const auto add_token = [&](int32_t sequence, int32_t position) {
        append.sequences.push_back(sequence);
        append.positions.push_back(position);
        for (int64_t i = 0; i < shape.kv_heads * shape.head_dim; ++i) {
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
        const int64_t past = inputs.pages_per_sequence * layout.page;
        add_token(1, static_cast<int32_t>(past));
        part = "sequence 1: token 25 is for position " + std::to_string(past);
    }
    SECTION("a negative position") {
        add_token(1, -1);
        part = "sequence 1: token 25 is for position -1";
    }
    SECTION("a page that the table does not have yet") {
        add_token(1, static_cast<int32_t>(layout.page));
        part = "sequence 1: entry 1 of its block table is -1";
    }
    SECTION("a missing page, and the last slot of it") {
        // Written to page -1, it would be right before the pool.
        add_token(1, static_cast<int32_t>(2 * layout.page - 1));
        part = "sequence 1: entry 1 of its block table is -1";
    }
    // In front of the others, too: who gives up there loses those that follow.
    const int64_t place = layout.head_dim == 64 ? 25 : 0;
    if (const auto at = part.find("token 25"); at != std::string::npos)
        part.replace(at, 8, "token " + std::to_string(place));
    std::vector<size_t> order(static_cast<size_t>(append.tokens()));
    std::iota(order.begin(), order.end(), size_t{0});
    std::rotate(order.begin() + place, order.end() - 1, order.end());
    grade_append(inputs,
                 in_order(append, order, shape.kv_heads * shape.head_dim),
                 "one token too many",
                 part);
}

TEST_CASE("edges meet: tokens in any order, into pages of any size") {
    grade_append_edges();
}

TEST_CASE("a token at a position past 2^24") {
    grade_far_token();
}

TEST_CASE("appending: nothing is kept from call to call") {
    grade_append_again();
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
