// Grades day06-llm-attention/05-sparse-attention: what is multiplied with 0, rows far
// from each other, bits of keys that do not exist, and pointers that are wrong.
#include "sparse_attention.h"

#include <wb/testing/attention_sizes.h>
#include <wb/testing/attention_traps.h>
#include <wb/testing/catch.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/special_attention.h>

#include <string>

#include "grade.h"

/// Those of wb::testing::grade_plain_traps().
static void grade_plain_traps(const AttentionShape& shape) {
    auto scaled = shape;
    for (const float scale : {0.0f, -2.5f}) {
        scaled.scale = scale;
        grade_both(scaled,
                   wb::dense_pattern(shape.queries, shape.keys, true),
                   random_attention(scaled, 1),
                   "scale " + std::to_string(scale));
    }
    const auto many = wb::dense_pattern(2, wb::testing::kOfLargeSum, false);
    auto of_many = shape_of(many, shape.head_dim, 1, 2);
    of_many.scale = 1.0f;
    const auto inputs = wb::testing::far_scores(of_many, wb::testing::kOfLargeExp);
    auto expected = expect_sparse(of_many, many, inputs);
    wb::testing::bound_far_scores(of_many, expected);
    const std::string text = "every score 84: exp() of it is a float, the sum is not";
    grade_rows(of_many, many, inputs, expected, text);
    grade_blocks(of_many, to_blocks(many), inputs, expected, text);
}

TEST_CASE("what counts is neither skipped nor shared nor hidden") {
    using wb::testing::BesideZeros;
    const auto dense = wb::dense_pattern(5, 7, false);
    for (const int64_t D : kHeadDims) {
        auto shape = shape_of(dense, D, 1, 2);
        auto inputs = BesideZeros::zeros(shape);
        auto expected = expect_sparse(shape, dense, inputs);
        BesideZeros::spoil(shape, inputs, expected);
        grade_rows(shape, dense, inputs, expected, BesideZeros::kText);
        grade_blocks(shape, to_blocks(dense), inputs, expected, BesideZeros::kText);

        inputs = wb::testing::uneven_rows(shape, 1);
        for (const bool causal : {false, true})
            grade_both(shape,
                       wb::dense_pattern(5, 7, causal),
                       inputs,
                       "rows of scores far from each other");

        if (!wb::testing::is_watched()) {  // its accesses are those of other cases
            const auto larger = wb::dense_pattern(33, 40, false);
            const auto of_larger = shape_of(larger, D, 1, 2);
            grade_both(of_larger,
                       larger,
                       wb::testing::steps_of_rows(of_larger, 1),
                       "each row's scores rise at another key");
        }

        if (!wb::testing::is_watched()) grade_plain_traps(shape);

        shape.scale = wb::testing::kFarthestScale;
        for (const float product : {-0x1p20f, 0x1p20f}) {
            inputs = wb::testing::far_scores(shape, product);
            expected = expect_sparse(shape, dense, inputs);
            wb::testing::bound_far_scores(shape, expected);
            const std::string text = "every score 10^38 or -10^38";
            grade_rows(shape, dense, inputs, expected, text);
            grade_blocks(shape, to_blocks(dense), inputs, expected, text);
        }
    }
}

TEST_CASE("blocks: bits of queries and keys that do not exist") {
    const auto pattern = wb::local_pattern(5, 70, 30, 0);  // the last block has 6 keys
    HostBlocks blocks = to_blocks(pattern);
    constexpr auto kRows = static_cast<std::size_t>(wb::BlockPattern::kRows);
    for (std::size_t i = 0; i < blocks.masks.size(); ++i) {
        if (i % kRows >= 5) blocks.masks[i] = ~uint64_t{0};
        if (blocks.partial.blocks[i / kRows] == 1) blocks.masks[i] |= ~uint64_t{0} << 6;
    }
    for (const int64_t D : kHeadDims) {
        const auto shape = shape_of(pattern, D, 1, 2);
        const auto inputs = random_attention(shape, 1);
        const auto expected = expect_sparse(shape, pattern, inputs);
        grade_blocks(shape, blocks, inputs, expected, "bits of keys past the last");
    }
}

namespace {

/// The first rows of a pattern, in the same arrays: its lists are shorter.
/// @returns how many queries these are
int64_t take_first_rows(wb::CsrPattern& pattern, const HostCsr& host) {
    pattern.num_indices = host.offsets[1];
    return 1;
}
int64_t take_first_rows(wb::BlockPattern& pattern, const HostBlocks& host) {
    pattern.full.num_blocks = host.full.offsets[1];
    pattern.partial.num_blocks = host.partial.offsets[1];
    return wb::BlockPattern::kRows;
}

/// A call whose arrays earlier ones had: one of fewer queries and keys, and another
/// pattern; and one of the first rows of the same pattern.
template <class Host, class Pattern>
void grade_same_arrays(const std::string& exercise,
                       wb::testing::SparseAttentionFunction<Pattern>* contract,
                       const HostCsr& before,
                       const HostCsr& now,
                       const Host& host_before,
                       const Host& host_now) {
    const auto first = shape_of(before, 32, 1, 2);
    const auto shape = shape_of(now, 32, 1, 2);
    const auto inputs = random_attention(shape, 1);
    const auto expected = expect_sparse(shape, now, inputs);
    const wb::PatternCheck check;
    for (const auto& [name, idea, attention] :
         wb::implementations(exercise, contract)) {
        Grader grade(name, describe(shape) + ", in the arrays of another call");
        const Pattern d_before = upload(grade, host_before);
        const Pattern d_now = upload(grade, host_now);
        Pattern d_less = d_now;
        AttentionShape less = shape;
        less.queries = take_first_rows(d_less, host_now);
        const float* q = grade.input("q", inputs.q);
        const float* k = grade.input("k", inputs.k);
        const float* v = grade.input("v", inputs.v);
        float* o = grade.output<float>("o", {2, now.queries, 32});
        grade.run([&, attention = attention](cudaStream_t s) {
            attention(first, d_before, q, k, v, o, nullptr, check.status(), s);
            attention(less, d_less, q, k, v, o, nullptr, check.status(), s);
            attention(shape, d_now, q, k, v, o, nullptr, check.status(), s);
        });
        grade.expect("o", expected.o, [&](int64_t i) {
            return expected.o_bound[static_cast<size_t>(i)];
        });
    }
}

/// A call in which one pointer can be wrong.
struct Pointers {
    wb::CsrPattern rows;
    wb::BlockPattern blocks;
    const float* q;
    const float* k;
    const float* v;
    float* o;
    float* lse;
};

}  // namespace

TEST_CASE("nothing belongs to an address") {
    const auto before = wb::dense_pattern(3, 5, true);
    const auto now = wb::dense_pattern(131, 70, false);
    grade_same_arrays("sparse_attention", sparse_attention, before, now, before, now);
    grade_same_arrays("block_sparse_attention",
                      block_sparse_attention,
                      before,
                      now,
                      to_blocks(before),
                      to_blocks(now));
}

TEST_CASE("small queries and small keys have all their digits", "[values]") {
    wb::testing::for_each_small_numbers([](const AttentionShape& shape,
                                           const AttentionInputs& inputs,
                                           const std::string& text) {
        grade_both(
            shape, wb::dense_pattern(shape.queries, shape.keys, false), inputs, text);
    });
}

TEST_CASE("many keys, of which few have all the weight", "[long]") {
    for (const int64_t D : kHeadDims)
        for (const int64_t keys : {203, 4243, 65'601}) {
            if (keys > 5000 && D > 32) continue;
            const auto pattern = wb::dense_pattern(1, keys, false);
            const auto shape = shape_of(pattern, D);
            auto inputs = wb::testing::two_of_many(shape, 1);
            auto expected = wb::testing::expect_two_of_many(shape, inputs);
            if (keys == 4243) {
                constexpr double kUnit = 0x1p-136;
                inputs.v = wb::testing::subnormal_values(shape, kUnit).v;
                expected = wb::testing::expect_subnormal(
                    shape, inputs, kUnit, wb::testing::expect_two_of_many);
            }
            std::vector<int32_t> some;  // another block's mask would hide what counts
            for (int32_t key = 0; key < keys; ++key)
                if (key % 8 != 0 || wb::testing::is_of_two(shape, key))
                    some.push_back(key);
            const auto graded = [&](const auto& versions, const auto& host) {
                wb::testing::grade_sparse(wb::testing::last_of(versions),
                                          shape,
                                          host,
                                          inputs,
                                          expected,
                                          "few keys have all the weight");
            };
            graded(wb::implementations("sparse_attention", sparse_attention), pattern);
            graded(
                wb::implementations("block_sparse_attention", block_sparse_attention),
                to_blocks(keys == 65'601 ? rows_of(keys, {some}) : pattern));
        }
}

TEST_CASE("nothing is kept from call to call of long rows and many heads", "[long]") {
    if (wb::testing::is_watched()) return;  // there, accesses are no others
    // Of the other head dimensions, a small one; a kernel may have memory of its own.
    struct Sizes {
        int64_t D, queries, keys, heads;
    };
    for (const auto& [D, queries, keys, heads] : {Sizes{32, 3, 1301, 1},
                                                  Sizes{32, 3, 5, 130},
                                                  Sizes{32, 300, 5, 1},
                                                  Sizes{64, 5, 19, 2},
                                                  Sizes{128, 5, 19, 2}}) {
        const auto pattern = wb::dense_pattern(queries, keys, true);
        const auto shape = shape_of(pattern, D, 1, heads);
        const auto host = to_blocks(pattern);
        const auto graded = [&](uint64_t seed) {
            const auto inputs = random_attention(shape, seed);
            const auto expected = expect_sparse(shape, pattern, inputs);
            const std::string text = "causal, seed " + std::to_string(seed);
            wb::testing::grade_sparse(wb::testing::last_of(wb::implementations(
                                          "sparse_attention", sparse_attention)),
                                      shape,
                                      pattern,
                                      inputs,
                                      expected,
                                      text);
            wb::testing::grade_sparse(
                wb::testing::last_of(wb::implementations("block_sparse_attention",
                                                         block_sparse_attention)),
                shape,
                host,
                inputs,
                expected,
                text);
        };
        wb::testing::expect_independent([&] { graded(1); }, [&] { graded(3); });
    }
}

TEST_CASE("where nothing is listed, arrays of nothing may be null") {
    const auto none = rows_of(0, {{}, {}, {}});
    const auto shape = shape_of(none, 32, 1, 2);
    const std::vector<double> zeros(2 * 3 * 32);
    const auto graded = [&](const auto& versions, const auto& host, auto forget) {
        for (const auto& [name, idea, attention] : versions) {
            Grader grade(name, describe(shape) + ", arrays of nothing are null");
            auto pattern = upload(grade, host);
            forget(pattern);
            const wb::PatternCheck check;
            const float* q = grade.input("q", random_attention(shape, 1).q);
            float* o = grade.output<float>("o", {2, 3, 32});
            grade.run([&, attention = attention](cudaStream_t s) {
                attention(
                    shape, pattern, q, nullptr, nullptr, o, nullptr, check.status(), s);
            });
            grade.expect("o", zeros, [](int64_t) { return 0.0; });
        }
    };
    graded(wb::implementations("sparse_attention", sparse_attention),
           none,
           [](wb::CsrPattern& pattern) { pattern.indices = nullptr; });
    graded(wb::implementations("block_sparse_attention", block_sparse_attention),
           to_blocks(none),
           [](wb::BlockPattern& pattern) {
               pattern.full.blocks = pattern.partial.blocks = nullptr;
               pattern.masks = nullptr;
           });
}

TEST_CASE("one array is q and k and v") {
    const auto pattern = wb::dense_pattern(7, 7, true);
    auto shape = shape_of(pattern, 32, 1, 2);
    shape.scale = -0.3f;
    auto inputs = random_attention(shape, 1);
    inputs.q = inputs.k = inputs.v;
    const auto expected = expect_sparse(shape, pattern, inputs);
    const wb::PatternCheck check;
    const auto graded = [&](const auto& versions, const auto& host) {
        for (const auto& [name, idea, attention] : versions) {
            Grader grade(name, describe(shape) + ", q, k and v are one array");
            const auto d_pattern = upload(grade, host);
            const float* all = grade.input("q, k and v", inputs.v);
            float* o = grade.output<float>("o", {2, 7, 32});
            grade.run([&, attention = attention](cudaStream_t s) {
                attention(
                    shape, d_pattern, all, all, all, o, nullptr, check.status(), s);
            });
            grade.expect("o", expected.o, [&](int64_t i) {
                return expected.o_bound[static_cast<size_t>(i)];
            });
        }
    };
    graded(wb::implementations("sparse_attention", sparse_attention), pattern);
    graded(wb::implementations("block_sparse_attention", block_sparse_attention),
           to_blocks(pattern));
}

TEST_CASE("each pointer that is wrong is refused by name") {
    const auto pattern = wb::dense_pattern(140, 140, true);  // full blocks and partial
    const auto shape = shape_of(pattern, 32);
    Grader memory("sparse_attention", "wrong pointers");
    std::vector<float> numbers(140 * 32 + 4);
    for (size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<float>(i % 7);
    const auto count = static_cast<int64_t>(numbers.size());
    float* const d = memory.in_out<float>("d", {count}, numbers);
    const wb::PatternCheck check;
    Grader more("block_sparse_attention", "wrong pointers");
    const Pointers good = {
        upload(memory, pattern), upload(more, to_blocks(pattern)), d, d, d, d, nullptr};
    float host_floats[4] = {};
    int64_t host_words[4] = {};
    const auto rows_refused = [&](const std::string& part, auto change) {
        Pointers p = good;
        change(p);
        wb::testing::expect_refused("sparse_attention", part, part, [&] {
            sparse_attention(
                shape, p.rows, p.q, p.k, p.v, p.o, p.lse, check.status(), nullptr);
        });
    };
    const auto blocks_refused = [&](const std::string& part, auto change) {
        Pointers p = good;
        change(p);
        wb::testing::expect_refused("block_sparse_attention", part, part, [&] {
            block_sparse_attention(
                shape, p.blocks, p.q, p.k, p.v, p.o, p.lse, check.status(), nullptr);
        });
    };
    const auto both_refused = [&](const std::string& part, auto change) {
        rows_refused(part, change);
        blocks_refused(part, change);
    };
    const auto tensor_refused = [&](const std::string& name, auto set) {
        both_refused(name + " is a null pointer", [&](auto& p) { set(p, nullptr); });
        both_refused(name + " is a host pointer",
                     [&](auto& p) { set(p, host_floats); });
        both_refused(name + " is not aligned", [&](auto& p) { set(p, d + 1); });
        both_refused(name + " is not aligned", [&](auto& p) { set(p, d + 2); });
    };
    tensor_refused("q", [](Pointers& p, float* x) { p.q = x; });
    tensor_refused("k", [](Pointers& p, float* x) { p.k = x; });
    tensor_refused("v", [](Pointers& p, float* x) { p.v = x; });
    tensor_refused("o", [](Pointers& p, float* x) { p.o = x; });
    both_refused("lse is a host pointer", [&](auto& p) { p.lse = host_floats; });
    // Each array of a pattern, by the member that it is.
    const auto array_refused =
        [&](const auto& refused, const std::string& name, auto member) {
            refused(name + " is a null pointer", [&](auto& p) { member(p) = nullptr; });
            refused(name + " is a host pointer", [&](auto& p) {
                using Array = std::remove_reference_t<decltype(member(p))>;
                member(p) = reinterpret_cast<Array>(host_words);
            });
        };
    array_refused(
        rows_refused, "pattern.offsets", [](Pointers & p) -> auto& {
            return p.rows.offsets;
        });
    array_refused(
        rows_refused, "pattern.indices", [](Pointers & p) -> auto& {
            return p.rows.indices;
        });
    array_refused(
        blocks_refused, "pattern.full.offsets", [](Pointers & p) -> auto& {
            return p.blocks.full.offsets;
        });
    array_refused(
        blocks_refused, "pattern.full.blocks", [](Pointers & p) -> auto& {
            return p.blocks.full.blocks;
        });
    array_refused(
        blocks_refused, "pattern.partial.offsets", [](Pointers & p) -> auto& {
            return p.blocks.partial.offsets;
        });
    array_refused(
        blocks_refused, "pattern.partial.blocks", [](Pointers & p) -> auto& {
            return p.blocks.partial.blocks;
        });
    array_refused(
        blocks_refused, "pattern.masks", [](Pointers & p) -> auto& {
            return p.blocks.masks;
        });
    array_refused(
        blocks_refused, "pattern.order", [](Pointers & p) -> auto& {
            return p.blocks.order;
        });
    blocks_refused("pattern.full.num_blocks is -1",
                   [](auto& p) { p.blocks.full.num_blocks = -1; });
    blocks_refused("pattern.partial.num_blocks is -1",
                   [](auto& p) { p.blocks.partial.num_blocks = -1; });
    CUDA_CHECK(cudaDeviceSynchronize());  // and nothing has been written
    memory.expect("d", {numbers.begin(), numbers.end()}, [](int64_t) { return 0.0; });
}
