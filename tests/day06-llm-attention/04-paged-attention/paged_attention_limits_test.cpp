// Grades day06-llm-attention/04-paged-attention: many of two things at once, tables
// with many entries, and what is kept from one call to the next.
#include "edges.h"
#include "paged_grading.h"

#include <wb/testing/attention_sizes.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

#include <cmath>
#include <vector>

using namespace paged_grading;

namespace {

/// Appends the first half of each sequence.
void append_halves(PagedShape shape, uint64_t seed) {
    for (int64_t& length : shape.lengths)
        length /= 2;
    const PagedInputs inputs = random_paged(shape, seed, seed);
    std::vector<NewTokens> all;
    for (int64_t s = 0; s < inputs.batch(); ++s)
        all.push_back({s, 0, inputs.lengths[static_cast<size_t>(s)]});
    grade_append(inputs, tokens_of(inputs, all), with_seed(inputs, seed));
}

}  // namespace

TEST_CASE("nothing is kept from call to call, whatever kernel it is", "[long]") {
    if (wb::testing::is_watched()) return;  // there, accesses are no others
    // Of calls at once, sizes are the same: the lengths of the sequences are not.
    const auto calls = [](const auto& shape_of) {
        wb::testing::expect_independent([&] { grade_last(shape_of(1), 1); },
                                        [&] { grade_last(shape_of(3), 3); });
        wb::testing::expect_independent([&] { append_halves(shape_of(1), 1); },
                                        [&] { append_halves(shape_of(3), 3); });
    };
    for (const Layout& layout : {Layout{16, 128}, {256, 64}, {64, 128}})
        calls([&](int64_t seed) {
            return layout.shape({3 + 10 * seed, 36, 50 - 10 * seed});
        });
    calls([](int64_t seed) {
        PagedShape shape;
        for (int64_t s = 0; s < 70; ++s)
            shape.lengths.push_back((7 * s + 5 * seed) % 23);
        shape.query_heads = 1;
        return shape;
    });
}

TEST_CASE("many heads of a group, or many K/V heads, and many keys", "[long]") {
    for (const Layout& layout : kLayouts) {
        PagedShape shape = layout.shape({300, 20});
        for (const auto& [kv_heads, group] :
             {std::pair{1, 17}, std::pair{20, 1}, std::pair{9, 9}}) {
            shape.kv_heads = kv_heads;
            shape.query_heads = kv_heads * group;
            for (const bool with_lse : {true, false})
                grade_last(shape, 61, with_lse);
            // One maximum for several heads would not do.
            PagedInputs inputs = random_paged(shape, 68, 7);
            for (int64_t s = 0; s < inputs.batch(); ++s)
                set_sequence(
                    inputs, s, wb::testing::uneven_rows(problem_of(inputs, s), 68));
            const AttentionExpected expected = expect_paged(inputs);
            for (const auto& [name, idea, function] :
                 wb::testing::last_of(attentions()))
                attend(name,
                       function,
                       inputs,
                       &expected,
                       inputs.text() + ", heads of scores far from each other");
        }
    }
}

TEST_CASE("many sequences, each of several pages", "[long]") {
    for (const int64_t D : {64, 128}) {
        PagedShape shape;
        for (int64_t s = 0; s < 300; ++s)
            shape.lengths.push_back(37 * s % 41);
        shape.head_dim = D;
        shape.query_heads = 3;
        grade_last(shape, 62);
    }
}

TEST_CASE("more sequences than 16 bits count, two of which have keys", "[long]") {
    const wb::testing::FewMultiprocessors few(1);  // else it takes the simulator long
    PagedShape shape{std::vector<int64_t>(66'003, 0)};
    shape.lengths[464] = 20;  // 2^16 less than the other one
    shape.lengths[66'000] = 17;
    shape.query_heads = 1;
    grade_last(shape, 65);
}

TEST_CASE("more tokens than 16 bits count are appended", "[long]") {
    PagedShape shape{{3, 65'601}, 256};
    shape.query_heads = 1;
    const PagedInputs inputs = random_paged(shape, 66, 0);
    const Append append = tokens_of(inputs, {{0, 0, 3}, {1, 0, 65'601}});
    grade_append(inputs, append, with_seed(inputs, 66));
}

TEST_CASE("one of thousands of tokens has no place") {
    const auto wrong = GENERATE(1, 2, 3);  // a sequence, a position, a page
    PagedShape shape{{4'131}, 64};
    shape.query_heads = 1;
    PagedInputs inputs = random_paged(shape, 67, 7);
    Append append = tokens_of(inputs, {{0, 0, 4'131}});
    const auto report =
        add_wrong_token(append, inputs, wrong, append.tokens() - 2, no_page(inputs, 0));
    grade_append(inputs, append, "4131 tokens, and one that has no place", report);
}

TEST_CASE("a table of more than 4096 entries for a sequence", "[long]") {
    // Two pages of 16 tokens, one after the other; three entries of 4112 are those of
    // the second one, whose scores are 8 more than those of the first.
    constexpr int64_t kEntries = 4112;
    constexpr int64_t kFew = 3;
    constexpr int64_t kPage = 16;
    const size_t few[kFew] = {1'030, 2'051, kEntries - 1};
    PagedShape shape{{2 * kPage}, kPage};
    shape.query_heads = 1;
    shape.scale = 1.0f;
    PagedInputs inputs = random_paged(shape, 63, 0);
    const auto dim = static_cast<size_t>(shape.head_dim);
    std::fill(inputs.q.begin(), inputs.q.end(), __float2bfloat16(0.0f));
    inputs.q[0] = __float2bfloat16(1.0f);
    for (size_t token = 0; token < 2 * kPage; ++token)
        inputs.k[0][token * dim] = __float2bfloat16(token < kPage ? 0.0f : 8.0f);
    fill_pages(inputs, 0);
    const double high = kFew * std::exp(8.0);
    const double low = kEntries - kFew;
    const double sum = kPage * (high + low);
    AttentionExpected expected{
        std::vector<double>(dim), std::vector<double>(dim), {std::log(sum)}, {0.01}};
    for (size_t i = 0; i < 2 * kPage * dim; ++i) {
        const double v = static_cast<double>(__bfloat162float(inputs.v[0][i]));
        const double weight = (i < kPage * dim ? low : high) / sum;
        expected.o[i % dim] += weight * v;
        expected.o_bound[i % dim] += 0x1p-8 * weight * std::abs(v);
    }
    for (size_t d = 0; d < dim; ++d)  // 66,000 sums of floats, besides
        expected.o_bound[d] += 0x1p-7 * std::abs(expected.o[d]) + 1e-3;
    const int32_t pages[] = {inputs.table[0], inputs.table[1]};
    inputs.table.assign(kEntries, pages[0]);
    for (const size_t entry : few)
        inputs.table[entry] = pages[1];
    inputs.pages_per_sequence = kEntries;
    inputs.lengths[0] = kEntries * kPage;
    for (const auto& [name, idea, function] : wb::testing::last_of(attentions()))
        attend(name, function, inputs, &expected, "4112 entries of two pages");
    inputs.table[3'001] = -7;
    for (const auto& [name, idea, function] : wb::testing::last_of(attentions()))
        attend(name,
               function,
               inputs,
               nullptr,
               "4112 entries, of which one is no page",
               true,
               "sequence 0: entry 3001 of its block table is -7");
}

TEST_CASE("other tokens for the arrays of an earlier call are appended") {
    // Decoding has the same arrays for each step; what is in them is another each time.
    PagedShape shape{{7, 17}};
    shape.kv_heads = 2;
    const PagedInputs inputs = random_paged(shape, 64, 7);
    const int64_t pool = static_cast<int64_t>(inputs.k_pool.size());
    const Append before = tokens_of(inputs, {{1, 0, 12}});
    const Append now = tokens_of(inputs, {{0, 0, 7}, {1, 12, 5}});
    std::vector<int32_t> table_before =
        inputs.table;  // the second page is not there yet
    table_before[static_cast<size_t>(inputs.pages_per_sequence + 1)] = -1;
    const std::vector<uint16_t> stale(inputs.k_pool.size(), 0xFFFF);
    for (const auto& [name, idea, function] :
         wb::implementations("append_kv", append_kv)) {
        const wb::PagedWorkspace workspace(1);
        Grader grade(name, inputs.text() + ", 12 tokens and then 12 others");
        wb::PagedCache cache = sizes_of(inputs);
        cache.k = reinterpret_cast<__nv_bfloat16*>(
            grade.in_out<uint16_t>("cache.k", {pool}, stale));
        cache.v = reinterpret_cast<__nv_bfloat16*>(
            grade.in_out<uint16_t>("cache.v", {pool}, stale));
        cache.lengths = grade.input("cache.lengths", inputs.lengths);
        // An array of the calls, and what is to be in it for each.
        const auto filled = [&](const char* array, auto first, auto second) {
            using T = typename decltype(first)::value_type;
            const auto count = static_cast<int64_t>(first.size());
            const std::string text = array;
            const T* const of_first = grade.input(text + " before", first);
            const T* const of_second = grade.input(text + " now", second);
            T* const to = grade.in_out<T>(text, {count}, first);
            return std::pair{
                to, [=](bool is_second, cudaStream_t stream) {
                    CUDA_CHECK(cudaMemcpyAsync(to,
                                               is_second ? of_second : of_first,
                                               first.size() * sizeof(T),
                                               cudaMemcpyDeviceToDevice,
                                               stream));
                }};
        };
        const auto [k, fill_k] = filled("k", before.k, now.k);
        const auto [v, fill_v] = filled("v", before.v, now.v);
        const auto [table, fill_table] = filled("table", table_before, inputs.table);
        const auto [sequences, fill_sequences] =
            filled("sequences", before.sequences, now.sequences);
        const auto [positions, fill_positions] =
            filled("positions", before.positions, now.positions);
        cache.block_table = table;
        grade.run([&, function = function](cudaStream_t stream) {
            for (const bool is_second : {false, true}) {
                fill_k(is_second, stream);
                fill_v(is_second, stream);
                fill_table(is_second, stream);
                fill_sequences(is_second, stream);
                fill_positions(is_second, stream);
                function(cache, k, v, sequences, positions, 12, workspace, stream);
            }
        });
        workspace.check(nullptr);
        const auto exactly = [](int64_t) { return 0.0; };
        const auto k_bits = bits_of(inputs.k_pool);
        const auto v_bits = bits_of(inputs.v_pool);
        grade.expect("cache.k", {k_bits.begin(), k_bits.end()}, exactly);
        grade.expect("cache.v", {v_bits.begin(), v_bits.end()}, exactly);
    }
}
