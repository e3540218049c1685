// Grades day02-memory/04-embedding-lookup: sums and means of bags.
#include "embedding_lookup.h"

#include <wb/testing/covering.h>
#include <wb/testing/goal.h>
#include <wb/testing/independent_calls.h>

#include <cmath>
#include <limits>

#include "embedding_cases.h"

using namespace embedding_cases;
using wb::testing::Goal;

namespace {

/// How the contract's function for a type of element is called, and how far its result
/// may be from what is exact, after the bound of the sum.
template <class T>
struct Bag;
template <>
struct Bag<float> {
    static constexpr const char* kName = "embedding_bag";
    static constexpr auto* kFunction = &embedding_bag;
    static double stored(double, double bound) { return bound; }
};
template <>
struct Bag<__half> {
    static constexpr const char* kName = "embedding_bag_fp16";
    static constexpr auto* kFunction = &embedding_bag_fp16;
    static double stored(double exact, double bound) {
        return wb::testing::stored_bound<__half>(exact, bound);
    }
};
template <>
struct Bag<__nv_bfloat16> {
    static constexpr const char* kName = "embedding_bag_bf16";
    static constexpr auto* kFunction = &embedding_bag_bf16;
    static double stored(double exact, double bound) {
        return wb::testing::stored_bound<__nv_bfloat16>(exact, bound);
    }
};

/// Bags of these lengths, one behind the other.
struct BagProblem {
    std::vector<int64_t> lengths;
    int64_t num_rows, cols;
    Pool pool = Pool::sum;
    int64_t padding = -1;
    Spread spread = uniform;
    int64_t table_from = 0;
    int64_t out_from = 0;

    Indices offsets() const {
        Indices offsets = {0};
        for (const int64_t length : lengths)
            offsets.push_back(offsets.back() + length);
        return offsets;
    }
    std::string text() const {
        std::string text = "bags of";
        for (std::size_t i = 0; i < lengths.size() && i < 8; ++i)
            text += " " + std::to_string(lengths[i]);
        if (lengths.size() > 8) text += " ...";
        text += pool == Pool::mean ? ", mean" : ", sum";
        text += ", padding " + std::to_string(padding) + ", ";
        return text +
               Sizes{offsets().back(), num_rows, cols, spread, table_from, out_from}
                   .text();
    }
};

/// All versions for elements of one type, on given values, indices and offsets.
template <class T>
void grade_values(const BagProblem& p,
                  const std::vector<T>& table,
                  const Indices& indices,
                  const Indices& offsets,
                  const std::string& text) {
    const auto num_bags = static_cast<int64_t>(offsets.size()) - 1;
    auto expected = wb::reference::embedding_bag(
        table, p.num_rows, p.cols, indices, offsets, p.padding, p.pool == Pool::mean);
    for (int64_t i = 0; i < num_bags * p.cols; ++i)
        if (expected.terms[at(i / p.cols)] < 0) expected.sums[at(i)] = kUntouched;
    for (const auto& [name, idea, launcher] :
         wb::implementations(Bag<T>::kName, Bag<T>::kFunction)) {
        Grader grade(name, text);
        const T* d_table = input_from(grade, "table", p.table_from, table);
        std::vector<double> sums = expected.sums;
        sums.insert(sums.begin(), at(p.out_from), double{kUntouched});
        wb::testing::Shape shape = {num_bags, p.cols};
        if (p.out_from > 0) shape = {static_cast<int64_t>(sums.size())};
        const std::vector<T> before(sums.size(), static_cast<T>(kUntouched));
        T* d_out = grade.in_out("out", shape, before) + p.out_from;
        const Lookup lookup = {input_indices(grade, "indices", indices),
                               static_cast<int64_t>(indices.size()),
                               p.num_rows,
                               p.cols,
                               bad_counter(grade)};
        const Bags bags = {
            input_indices(grade, "offsets", offsets), num_bags, p.pool, p.padding};
        grade.run([&, launcher = launcher](cudaStream_t stream) {
            launcher(d_table, d_out, lookup, bags, stream);
        });
        grade.expect("out", sums, [&](int64_t i) {
            if (i < p.out_from) return 0.0;
            const std::size_t place = at(i - p.out_from);
            const auto terms = expected.terms[place / at(p.cols)];
            if (terms <= 0 || !std::isfinite(expected.sums[place])) return 0.0;
            // One rounding for each addition but the first, one for the division.
            const double roundings = static_cast<double>(terms);
            return Bag<T>::stored(
                expected.sums[place],
                wb::testing::float_bound(roundings, expected.magnitudes[place]));
        });
        expect_bad(grade, expected.bad);
    }
}

template <class T>
void grade_bags(const BagProblem& p, uint64_t seed = 1) {
    const Indices offsets = p.offsets();
    grade_values<T>(
        p,
        wb::testing::rounded<T>(wb::testing::random_normal(p.num_rows * p.cols, seed)),
        make_indices(p.spread, offsets.back(), p.num_rows, seed),
        offsets,
        p.text() + ", seed " + std::to_string(seed));
}

void grade_types(const BagProblem& p, uint64_t seed = 1) {
    grade_bags<float>(p, seed);
    grade_bags<__half>(p, seed);
    grade_bags<__nv_bfloat16>(p, seed);
}

/// Bags of 0 to `most` indices.
std::vector<int64_t> random_lengths(int64_t bags, int64_t most) {
    wb::testing::Random random(3);
    std::vector<int64_t> lengths;
    for (int64_t i = 0; i < bags; ++i)
        lengths.push_back(random.below(most + 1));
    return lengths;
}

}  // namespace

TEST_CASE("bags: sum and mean of a few rows") {
    const Pool pool = GENERATE(Pool::sum, Pool::mean);
    grade_types({{2, 3, 1}, 4, 3, pool});
    grade_types({{5}, 9, 8, pool});
}

TEST_CASE("bags: an empty bag gives zeros") {
    const Pool pool = GENERATE(Pool::sum, Pool::mean);
    grade_types({{0, 2, 0, 0, 1, 0}, 4, 5, pool});
    grade_types({{0, 0}, 4, 8, pool});
    grade_types({{0}, 0, 4, pool});  // a table without rows
}

TEST_CASE("bags: padding is left out, also of the mean's divisor") {
    const Pool pool = GENERATE(Pool::sum, Pool::mean);
    const int64_t padding = GENERATE(0, 1, 2);
    grade_types({{4, 3, 5, 9}, 3, 8, pool, padding});
    grade_types({{4, 1, 2}, 3, 3, pool, padding, one_row});  // some of nothing else
}

TEST_CASE("bags: an index that is no row is counted once and left out") {
    const Pool pool = GENERATE(Pool::sum, Pool::mean);
    const int64_t cols = GENERATE(1, 40, 64, 260);
    grade_types({{4, 3, 5, 9}, 3, cols, pool, 1, with_bad});
    grade_bags<float>({{4, 3, 1}, 2, cols, pool, -1, only_bad});
}

TEST_CASE("bags: rows of more than 1024 loads") {
    grade_types({{1, 2}, 3, GENERATE(8200, 1031), Pool::mean});  // of 16 bytes, of one
}

TEST_CASE("bags: wrong offsets are counted, and nothing is written for them") {
    const BagProblem p = {{}, 3, GENERATE(3, 8), Pool::sum};
    // Bags 1, 3, 5 and 6 are wrong: they end before they begin, or not among the nine.
    const Indices offsets = {0, 2, 1, 9, 10, 9, -1, 0, 9};
    grade_values<float>(p,
                        wb::testing::random_normal(3 * p.cols, 1),
                        make_indices(uniform, 9, 3),
                        offsets,
                        "wrong offsets, cols = " + std::to_string(p.cols));
}

TEST_CASE("bags: offsets whose lower 32 bits are right are wrong") {
    const BagProblem p = {{}, 3, 4, GENERATE(Pool::sum, Pool::mean)};
    constexpr int64_t kBeyond = int64_t{1} << 32;
    grade_values<float>(p,
                        wb::testing::random_normal(3 * p.cols, 1),
                        make_indices(uniform, 9, 3),
                        {0, 2, kBeyond + 4, 5, 7 - kBeyond, 9},
                        "offsets of 4 + 2^32 and 7 - 2^32");
}

TEST_CASE("bags: indices before the first bag and behind the last are in none") {
    const BagProblem p = {{}, 5, GENERATE(3, 8), GENERATE(Pool::sum, Pool::mean)};
    const int64_t first = GENERATE(0, 2);
    const int64_t last = GENERATE(7, 9);
    grade_values<float>(p,
                        wb::testing::random_normal(5 * p.cols, 1),
                        make_indices(uniform, 9, 5),
                        {first, 4, last},
                        "two bags, indices " + std::to_string(first) + " to " +
                            std::to_string(last) + " of 9, cols " +
                            std::to_string(p.cols));
}

TEST_CASE("bags: edges meet") {
    static const auto cases =
        wb::testing::Covering()
            .factor("bags", {1, 7, 8, 9, 33})
            .factor("longest", {1, 3, 4, 5, 9})
            .factor("rows", {1, 2, 31})
            .factor("cols", {1, 2, 4, 8, 12, 31, 32, 33, 64, 136, 264})
            .factor("pool", {"sum", "mean"})
            .factor("padding", {-1, 0})
            .factor("indices", {"uniform", "one row", "skewed", "rising", "bad"})
            .factor("table from", {0, 1, 4, 8})
            .factor("out from", {0, 1, 4, 8})
            .factor("elements", {"float", "fp16", "bf16"})
            .forbid({"bags", "cols"},
                    [](const std::vector<int64_t>& v) { return v[0] * v[1] > 1'500; })
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            const BagProblem p = {random_lengths(c["bags"], c["longest"]),
                                  c["rows"],
                                  c["cols"],
                                  c.words("pool") == "sum" ? Pool::sum : Pool::mean,
                                  c["padding"],
                                  static_cast<Spread>(c["indices"]),
                                  c["table from"],
                                  c["out from"]};
            const std::string& elements = c.words("elements");
            if (elements == "float") grade_bags<float>(p);
            if (elements == "fp16") grade_bags<__half>(p);
            if (elements == "bf16") grade_bags<__nv_bfloat16>(p);
        }
}

TEST_CASE("bags: sums are made in float, and rounded once") {
    // 1 + 600 * 2^-11: each addition in half precision would lose the small one.
    std::vector<__half> table = {__half(1.0f), __half(0x1p-11f)};
    Indices indices(601, 1);
    indices[0] = 0;
    grade_values<__half>(
        {{}, 2, 1, Pool::sum}, table, indices, {0, 601}, "1 + 600 * 2^-11 in fp16");
    // Sums near the largest half, and means of numbers whose sum is past it.
    const std::vector<__half> large = {__half(40000.0f), __half(-24000.0f)};
    grade_values<__half>({{}, 2, 1, Pool::sum},
                         large,
                         {0, 0, 1, 1, 1},
                         {0, 3, 5},
                         "sums of 56000 and -48000 in fp16");
    grade_values<__half>(
        {{}, 2, 1, Pool::mean}, large, {0, 0, 0}, {0, 3}, "a mean of 40000 in fp16");
    // Subnormal halves are numbers like others.
    grade_values<__half>({{}, 2, 1, GENERATE(Pool::sum, Pool::mean)},
                         {__half(0x1p-16f), __half(0x3p-20f)},
                         {0, 1, 1, 0},
                         {0, 3, 4},
                         "subnormal numbers in fp16");
    std::vector<__nv_bfloat16> wide(16, __nv_bfloat16(1.0f));
    for (std::size_t i = 8; i < 16; ++i)
        wide[i] = __nv_bfloat16(0x1p-8f);
    grade_values<__nv_bfloat16>(
        {{}, 2, 8, Pool::sum}, wide, indices, {0, 601}, "1 + 600 * 2^-8 in bf16");
}

TEST_CASE("bags: NaN and infinity reach their bag and their column, and no other") {
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const int64_t cols = GENERATE(2, 4);
    std::vector<float> table = wb::testing::random_normal(5 * cols, 1);
    table[0] = nan;
    table[at(cols)] = inf;
    table[at(2 * cols + 1)] = -inf;
    // NaN alone, NaN as padding, infinity, infinity of both signs, none of them.
    const Indices indices = {0, 3, 1, 4, 1, 2, 2, 1, 2, 3, 4};
    grade_values<float>({{}, 5, cols, Pool::mean},
                        table,
                        indices,
                        {0, 2, 4, 8, 9, 11},
                        "NaN and infinities");
    grade_values<float>({{}, 5, cols, Pool::sum, 0},
                        table,
                        indices,
                        {0, 2, 4, 8, 9, 11},
                        "NaN is padding");
    // An index that is no row must not be taken for one whose numbers count 0 times.
    grade_values<float>({{}, 5, cols, Pool::sum},
                        table,
                        {3, -1, 4, 5},
                        {0, 2, 4},
                        "NaN in the first row, and indices of none");
}

TEST_CASE("bags: nothing is kept from call to call") {
    wb::testing::expect_independent(
        [] {
            grade_types({{3, 0, 2}, 4, 8, Pool::mean});
        },
        [] {
            grade_types({{1, 5}, 3, 3, Pool::sum, 1, with_bad}, 2);
        });
}

TEST_CASE("bags: many bags, and a long one", "[long]") {
    grade_types({random_lengths(300, 6), 61, 8, Pool::mean, 5, skewed}, 2);
    grade_types({{1, 1031, 2}, 61, 24, Pool::sum});
    grade_types({{1, 2101, 2}, 61, 8, Pool::mean});  // no half is 2101
    grade_types({std::vector<int64_t>(4099, 1), 61, 2, Pool::sum});
}

TEST_CASE("bags: more of all than 16 bits count", "[long]") {
    std::vector<int64_t> lengths(65'539, 0);
    lengths.back() = 2;
    grade_bags<float>({lengths, 3, 1, Pool::sum});
    grade_types({{1, 3, 2}, 70'001, 1, Pool::sum});
    grade_bags<float>({{1, 65'541, 2}, 3, 1, Pool::mean});
    grade_bags<float>({{1, 2}, 3, 65'541, Pool::sum});
}

TEST_CASE("bags: all work is queued on the caller's stream") {
    const int64_t num_bags = GENERATE(2, 65'536 * 8 + 1);
    for (const auto& [name, idea, launcher] :
         wb::implementations("embedding_bag", embedding_bag)) {
        Grader grade(name, std::to_string(num_bags) + " empty bags, queued only");
        const float* d_table = grade.output<float>("table", {2});
        float* d_out = grade.output<float>("out", {num_bags});
        const Lookup lookup = {nullptr, 0, 2, 1, bad_counter(grade)};
        const Bags bags = {
            grade.input("offsets", Indices(at(num_bags + 1))), num_bags, Pool::sum, -1};
        grade.expect_queued([&, launcher = launcher](cudaStream_t stream) {
            launcher(d_table, d_out, lookup, bags, stream);
        });
    }
}

TEST_CASE("bags: a size of zero: nothing is launched") {
    const auto [num_bags, cols] =
        GENERATE(table<int64_t, int64_t>({{0, 3}, {2, 0}, {0, 0}}));
    Grader grade("embedding_bag", "no bags, or no columns");
    grade.expect_no_work([&, num_bags = num_bags, cols = cols](cudaStream_t stream) {
        const Lookup lookup = {nullptr, 0, 2, cols, nullptr};
        const Bags bags = {nullptr, num_bags, Pool::sum, -1};
        embedding_bag(nullptr, nullptr, lookup, bags, stream);
        embedding_bag_fp16(nullptr, nullptr, lookup, bags, stream);
        embedding_bag_bf16(nullptr, nullptr, lookup, bags, stream);
    });
    grade_bags<float>({{2, 3, 1}, 4, 3});  // and then it is
}

TEST_CASE("bags: each sector of a row is read once", "[.][goal]") {
    const Goal goal("embedding_bag");
    grade_bags<float>({{3, 4, 1}, 40, 64});
    goal.moves_at_most(1.0);
}
