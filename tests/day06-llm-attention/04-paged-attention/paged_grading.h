// paged_grading.h: runs append_kv and paged_attention on pages, and grades them.
#pragma once

#include "paged_attention.h"

#include <wb/implementations.h>
#include <wb/testing/attention_cases.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>
#include <wb/testing/paged.h>
#include <wb/testing/paged_workspace.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace paged_grading {

using wb::testing::AttentionExpected;
using wb::testing::Grader;
using wb::testing::PagedInputs;
using wb::testing::PagedShape;
using wb::testing::random_paged;

/// Counters of a workspace that is large enough for every test.
constexpr int64_t kCounters = 65'539;

inline std::string with_seed(const PagedInputs& inputs, uint64_t seed) {
    return inputs.text() + ", seed " + std::to_string(seed);
}

/// How pages lie, and what kernels are compiled for: what is tried in special places is
/// tried for both head dimensions, for pages that are not the smallest, and for query
/// heads that share their keys and for such that do not.
struct Layout {
    int64_t page;
    int64_t head_dim;

    PagedShape shape(std::vector<int64_t> lengths) const {
        PagedShape shape{std::move(lengths), page};
        shape.head_dim = head_dim;
        shape.query_heads = head_dim == 64 ? 3 : 1;
        return shape;
    }
};
inline constexpr Layout kLayouts[] = {{16, 64}, {64, 128}};

/// What one implementation gives, and what it reports.
struct Result {
    std::vector<double> o;
    std::vector<double> lse;
    std::string fault;
    size_t heads = 1;  ///< query heads of a sequence
};

/// A cache as contracts allow it: its pools begin at a multiple of 16 bytes, its tables
/// at any number of theirs.
inline wb::PagedCache cache_anywhere(Grader& grade, const PagedInputs& inputs) {
    using wb::testing::Begin;
    wb::PagedCache cache = sizes_of(inputs);
    const auto pool = [&](const char* name, const auto& numbers) {
        return const_cast<__nv_bfloat16*>(grade.input(name, numbers, Begin::vectors));
    };
    cache.k = pool("cache.k", inputs.k_pool);
    cache.v = pool("cache.v", inputs.v_pool);
    cache.block_table = grade.input("cache.block_table", inputs.table, Begin::anywhere);
    cache.lengths = grade.input("cache.lengths", inputs.lengths, Begin::anywhere);
    return cache;
}

/// Runs one implementation of paged_attention; checks it, unless nothing is expected.
///
/// @param report  what it must report of these inputs
template <class Function>
Result attend(const std::string& name,
              Function* function,
              const PagedInputs& inputs,
              const AttentionExpected* expected,
              const std::string& text,
              bool with_lse = true,
              const std::string& report = "") {
    const PagedShape& shape = inputs.shape;
    const wb::PagedWorkspace workspace(inputs.batch() * shape.query_heads);
    Grader grade(name, text);
    const wb::PagedCache cache = cache_anywhere(grade, inputs);
    using wb::testing::Begin;
    const auto* q = grade.input("q", inputs.q, Begin::vectors);
    auto* o = grade.output<__nv_bfloat16>(
        "o", {inputs.batch(), shape.query_heads, shape.head_dim}, Begin::vectors);
    float* lse = nullptr;
    if (with_lse)
        lse = grade.output<float>(
            "lse", {inputs.batch(), shape.query_heads}, Begin::anywhere);
    grade.run([&](cudaStream_t s) {
        function(cache, q, o, lse, shape.query_heads, inputs.scale(), workspace, s);
    });
    Result result;
    result.heads = static_cast<size_t>(shape.query_heads);
    wb::testing::expect_no_counts(name, text, workspace);
    try {
        workspace.check(nullptr);
    } catch (const wb::PagedCacheError& error) {
        result.fault = error.what();
    }
    wb::testing::expect_report(name, text, result.fault, report);
    if (expected != nullptr) {
        grade.expect("o", expected->o, [&](int64_t i) {
            return expected->o_bound[static_cast<size_t>(i)];
        });
        if (with_lse)
            grade.expect("lse", expected->lse, [&](int64_t i) {
                return expected->lse_bound[static_cast<size_t>(i)];
            });
    }
    result.o = grade.read("o");
    if (with_lse) result.lse = grade.read("lse");
    return result;
}

/// One sequence is not as it should be. The others are not harmed.
/// @param counts_as_empty  the wrong one gives zeros; else, whatever it is
inline void expect_others(const std::string& name,
                          const Result& result,
                          const AttentionExpected& expected,
                          int64_t wrong_sequence,
                          bool counts_as_empty) {
    const size_t rows = expected.lse.size();
    const size_t dim = result.o.size() / rows;
    const size_t batch = rows / result.heads;
    const auto fail = [&](bool bad, const char* array, double got, double wanted) {
        wb::testing::Finding finding;
        finding.kind = wb::testing::Kind::wrong_result;
        finding.implementation = name;
        finding.inputs = "sequence " + std::to_string(wrong_sequence) + " of 0 to " +
                         std::to_string(batch - 1) + " is not as it should be";
        finding.what = std::string(bad ? "its " : "the ") + array +
                       (bad ? " is not that of an empty one" : " of another is wrong");
        finding.numbers.got = got;
        finding.numbers.expected = wanted;
        wb::testing::fail(std::move(finding));
    };
    for (size_t row = 0; row < rows; ++row) {
        const bool bad = static_cast<int64_t>(row / result.heads) == wrong_sequence;
        if (bad && !counts_as_empty) continue;
        for (size_t i = row * dim; i < (row + 1) * dim; ++i) {
            const double wanted = bad ? 0.0 : expected.o[i];
            if (!(std::abs(result.o[i] - wanted) <= expected.o_bound[i]))
                fail(bad, "output", result.o[i], wanted);
        }
        if (result.lse.empty()) continue;
        const double lse = result.lse[row];
        const double wanted =
            bad ? -std::numeric_limits<double>::infinity() : expected.lse[row];
        if (lse != wanted && !(std::abs(lse - wanted) <= expected.lse_bound[row]))
            fail(bad, "log-sum-exp", lse, wanted);
    }
}

/// Every rung of paged_attention (or the learner's function).
inline auto attentions() {
    return wb::implementations("paged_attention", paged_attention);
}

/// Sums of equal weights are exact: o is rounded once, and one key too few shows.
inline void expect_exactly(AttentionExpected& expected) {
    for (size_t i = 0; i < expected.o.size(); ++i) {
        const double o = std::abs(expected.o[i]);
        expected.o_bound[i] = 0x1p-8 * o + wb::testing::float_bound(16, o) + 1e-12;
    }
    for (size_t r = 0; r < expected.lse.size(); ++r)
        if (std::isfinite(expected.lse[r]))
            expected.lse_bound[r] =
                wb::testing::float_bound(8, 1.0 + std::abs(expected.lse[r]));
}

inline void grade_inputs(const PagedInputs& inputs,
                         const AttentionExpected& expected,
                         const std::string& text) {
    for (const auto& [name, idea, function] : attentions())
        attend(name, function, inputs, &expected, text);
}
inline void grade_inputs(const PagedInputs& inputs, const std::string& text) {
    grade_inputs(inputs, expect_paged(inputs), text);
}

inline void grade_random(const PagedShape& shape, uint64_t seed, uint64_t order = 7) {
    const PagedInputs inputs = random_paged(shape, seed, order);
    grade_inputs(inputs, with_seed(inputs, seed));
}

/// The same for the last version alone, or the learner's function.
inline void grade_last(const PagedShape& shape, uint64_t seed, bool with_lse = true) {
    const PagedInputs inputs = random_paged(shape, seed, 7);
    const AttentionExpected expected = expect_paged(inputs);
    for (const auto& [name, idea, function] : wb::testing::last_of(attentions()))
        attend(name, function, inputs, &expected, with_seed(inputs, seed), with_lse);
}

/// A sequence as a problem of its own.
inline wb::AttentionShape problem_of(const PagedInputs& inputs, int64_t sequence) {
    return {1,
            inputs.shape.query_heads,
            inputs.shape.kv_heads,
            1,
            inputs.lengths[static_cast<size_t>(sequence)],
            inputs.shape.head_dim,
            false,
            inputs.scale()};
}

/// Gives a sequence these queries and keys, and these values if there are any.
inline void set_sequence(PagedInputs& inputs,
                         int64_t sequence,
                         const wb::testing::AttentionInputs& made) {
    const auto at = static_cast<size_t>(sequence);
    const auto rounded = [](float x) { return __float2bfloat16(x); };
    const int64_t first = sequence * static_cast<int64_t>(made.q.size());
    std::transform(made.q.begin(), made.q.end(), inputs.q.begin() + first, rounded);
    std::transform(made.k.begin(), made.k.end(), inputs.k[at].begin(), rounded);
    std::transform(made.v.begin(), made.v.end(), inputs.v[at].begin(), rounded);
    fill_pages(inputs, sequence);
}

/// Sequences whose ends are all around a page's.
inline std::vector<int64_t> around(int64_t page) {
    return {0, 1, page - 1, page, page + 1, 2 * page + 3};
}

/// Tokens for append_kv: of a sequence, from one position on.
struct NewTokens {
    int64_t sequence;
    int64_t first;
    int64_t count;
};

/// What append_kv is given, and the pools that it should leave behind.
struct Append {
    std::vector<__nv_bfloat16> k;
    std::vector<__nv_bfloat16> v;
    std::vector<int32_t> sequences;
    std::vector<int32_t> positions;

    int64_t tokens() const { return static_cast<int64_t>(sequences.size()); }
};

/// What may stand in a table where there is no page, in turn.
inline int32_t no_page(const PagedInputs& inputs, size_t turn) {
    const auto pages = static_cast<int32_t>(inputs.num_pages);
    const int32_t all[] = {pages,
                           -1,
                           pages + 1,
                           -7,
                           std::numeric_limits<int32_t>::max(),
                           std::numeric_limits<int32_t>::min()};
    return all[turn % std::size(all)];
}

/// The tokens as they come from a model: [tokens, kv_heads, head_dim].
inline Append tokens_of(const PagedInputs& inputs,
                        const std::vector<NewTokens>& pieces) {
    const PagedShape& shape = inputs.shape;
    Append append;
    for (const NewTokens& piece : pieces) {
        const auto at = static_cast<size_t>(piece.sequence);
        const int64_t length = inputs.lengths[at];
        for (int64_t p = piece.first; p < piece.first + piece.count; ++p) {
            append.sequences.push_back(static_cast<int32_t>(piece.sequence));
            append.positions.push_back(static_cast<int32_t>(p));
            for (int64_t h = 0; h < shape.kv_heads; ++h) {
                for (int64_t d = 0; d < shape.head_dim; ++d) {
                    const auto i =
                        static_cast<size_t>((h * length + p) * shape.head_dim + d);
                    append.k.push_back(inputs.k[at][i]);
                    append.v.push_back(inputs.v[at][i]);
                }
            }
        }
    }
    return append;
}

/// The bits of bfloat16 numbers, NaN among them, as numbers that can be compared.
inline std::vector<uint16_t> bits_of(const std::vector<__nv_bfloat16>& numbers) {
    std::vector<uint16_t> bits(numbers.size());
    std::memcpy(bits.data(), numbers.data(), bits.size() * sizeof(uint16_t));
    return bits;
}

/// Runs every append_kv on a pool of stale numbers, and expects those of the inputs.
///
/// @param report     what each must report of the tokens
/// @param one_array  k is v, too
inline void grade_append(const PagedInputs& inputs,
                         const Append& append,
                         const std::string& text,
                         const std::string& report = "",
                         bool one_array = false) {
    const std::vector<uint16_t> stale(inputs.k_pool.size(), 0xFFFF);
    const auto pool = static_cast<int64_t>(stale.size());
    for (const auto& [name, idea, function] :
         wb::implementations("append_kv", append_kv)) {
        const wb::PagedWorkspace workspace(1);
        Grader grade(name, text);
        using wb::testing::Begin;
        wb::PagedCache cache = sizes_of(inputs);
        cache.k = reinterpret_cast<__nv_bfloat16*>(
            grade.in_out<uint16_t>("cache.k", {pool}, stale, Begin::vectors));
        cache.v = reinterpret_cast<__nv_bfloat16*>(
            grade.in_out<uint16_t>("cache.v", {pool}, stale, Begin::vectors));
        const auto ids = [&](const char* array, const std::vector<int32_t>& numbers) {
            return grade.input(array, numbers, Begin::anywhere);
        };
        cache.block_table = ids("cache.block_table", inputs.table);
        cache.lengths = ids("cache.lengths", inputs.lengths);
        const auto* k = grade.input("k", append.k, Begin::vectors);
        const auto* v = one_array ? k : grade.input("v", append.v, Begin::vectors);
        const auto* sequences = ids("sequences", append.sequences);
        const auto* positions = ids("positions", append.positions);
        grade.run([&, function = function](cudaStream_t s) {
            function(cache, k, v, sequences, positions, append.tokens(), workspace, s);
            // What was wrong is still known after another call, which is right.
            if (!report.empty())
                function(cache, k, v, sequences, positions, 1, workspace, s);
        });
        std::string fault;
        try {
            workspace.check(nullptr);
        } catch (const wb::PagedCacheError& error) {
            fault = error.what();
        }
        const auto k_bits = bits_of(inputs.k_pool);
        const auto v_bits = bits_of(inputs.v_pool);
        grade.expect(
            "cache.k", {k_bits.begin(), k_bits.end()}, [](int64_t) { return 0.0; });
        grade.expect(
            "cache.v", {v_bits.begin(), v_bits.end()}, [](int64_t) { return 0.0; });
        wb::testing::expect_report(name, text, fault, report);
        wb::testing::expect_no_counts(name, text, workspace);
    }
}

}  // namespace paged_grading
