// Grades day02-memory/04-embedding-lookup: the gradients of a table.
#include "embedding_lookup.h"

#include <wb/testing/covering.h>
#include <wb/testing/goal.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/large.h>
#include <wb/testing/simulator.h>

#include <cmath>
#include <limits>

#include "embedding_cases.h"

using namespace embedding_cases;
using wb::testing::Goal;

namespace {

/// One problem; the arrays may begin at any element of their memory.
struct BackwardProblem {
    int64_t num_rows, cols;
    int64_t padding = -1;
    int64_t grad_from = 0;
    int64_t table_from = 0;
};

/// One launcher on given gradients; what it wrote is returned.
std::vector<double> grade_backward(const std::string& name,
                                   decltype(&embedding_backward) launcher,
                                   const BackwardProblem& p,
                                   const std::vector<float>& grad_out,
                                   const Indices& indices,
                                   const std::string& text) {
    Grader grade(name, text);
    auto expected = wb::reference::embedding_backward(
        grad_out, p.num_rows, p.cols, indices, p.padding);
    const float* d_grad_out = input_from(grade, "grad_out", p.grad_from, grad_out);
    float* d_table = nullptr;
    if (p.table_from == 0) {
        d_table = grade.output<float>("grad_table", {p.num_rows, p.cols});
    } else {
        expected.sums.insert(
            expected.sums.begin(), at(p.table_from), double{kUntouched});
        d_table = grade.in_out("grad_table",
                               {static_cast<int64_t>(expected.sums.size())},
                               std::vector<float>(expected.sums.size(), kUntouched)) +
                  p.table_from;
    }
    const Lookup lookup = {input_indices(grade, "indices", indices),
                           static_cast<int64_t>(indices.size()),
                           p.num_rows,
                           p.cols,
                           bad_counter(grade)};
    grade.run([&](cudaStream_t stream) {
        launcher(d_grad_out, d_table, lookup, p.padding, stream);
    });
    grade.expect("grad_table", expected.sums, [&](int64_t i) {
        if (i < p.table_from) return 0.0;
        const std::size_t place = at(i - p.table_from);
        // One rounding for each addition but the first, which is to zero.
        const auto terms = expected.terms[place / at(p.cols)];
        if (terms <= 1 || !std::isfinite(expected.sums[at(i)])) return 0.0;
        return wb::testing::float_bound(static_cast<double>(terms - 1),
                                        expected.magnitudes[place]);
    });
    expect_bad(grade, expected.bad);
    return grade.read("grad_table");
}

/// All versions on given indices.
void grade_sums(const BackwardProblem& p,
                const Indices& indices,
                const std::string& text,
                uint64_t seed = 1) {
    const auto count = static_cast<int64_t>(indices.size());
    const auto grad_out = wb::testing::random_normal(count * p.cols, seed);
    for (const auto& [name, idea, launcher] :
         wb::implementations("embedding_backward", embedding_backward))
        grade_backward(name,
                       launcher,
                       p,
                       grad_out,
                       indices,
                       Sizes{count, p.num_rows, p.cols}.numbers() + ", " + text +
                           ", padding " + std::to_string(p.padding) + ", seed " +
                           std::to_string(seed));
}

void grade_sums(const BackwardProblem& p,
                Spread spread,
                int64_t count,
                uint64_t seed = 1) {
    grade_sums(
        p, make_indices(spread, count, p.num_rows, seed), in_words(spread), seed);
}

/// Runs of equal indices, of these lengths, which come in the order of their rows.
Indices runs(const std::vector<int64_t>& lengths) {
    Indices indices;
    for (std::size_t row = 0; row < lengths.size(); ++row)
        indices.insert(indices.end(), at(lengths[row]), static_cast<int64_t>(row));
    return indices;
}

}  // namespace

TEST_CASE("backward: each row once, in another order") {
    grade_sums({5, 3}, {3, 0, 4, 1, 2}, "a permutation");
    grade_sums({5, 8}, {3, 0, 4, 1, 2}, "a permutation");
}

TEST_CASE("backward: rows that occur several times, and rows that do not occur") {
    grade_sums({6, 5}, {4, 1, 4, 4, 1, 0}, "4 three times, 1 twice");
    grade_sums({6, 12}, {4, 1, 4, 4, 1, 0}, "4 three times, 1 twice");
    grade_sums({70, 4}, {69, 33, 33}, "67 rows do not occur");
}

TEST_CASE("backward: all gradients are of one row") {
    const int64_t count = GENERATE(1, 31, 32, 33, 64, 65, 600);
    grade_sums({3, 4}, one_row, count);
    grade_sums({1, 3}, one_row, count);
}

TEST_CASE("backward: runs that begin and end at a multiple of 32, or beside one") {
    static const auto cases = wb::testing::Covering()
                                  .factor("first", {0, 1, 31, 32, 33, 63})
                                  .factor("second", {1, 31, 32, 33, 64, 65, 96})
                                  .factor("third", {0, 1, 31, 32, 33})
                                  .factor("cols", {1, 4, 33, 132})
                                  .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_sums({4, c["cols"]},
                       runs({c["first"], c["second"], 0, c["third"]}),
                       "runs of " + c.text());
        }
}

TEST_CASE("backward: edges meet") {
    static const auto cases =
        wb::testing::Covering()
            .factor("count", {1, 8, 31, 33, 97})
            .factor("rows", {1, 2, 33, 255, 256, 257})
            .factor("cols", {1, 2, 4, 31, 32, 33, 64, 132})
            .factor("indices",
                    {"uniform", "one row", "skewed", "rising", "bad", "all bad"})
            .factor("padding", {-1, 0})
            .factor("grad from", {0, 1, 2, 4})
            .factor("table from", {0, 1, 2, 4})
            .forbid({"rows", "cols"},
                    [](const std::vector<int64_t>& v) { return v[0] * v[1] > 5'000; })
            .forbid({"count", "cols"},
                    [](const std::vector<int64_t>& v) { return v[0] * v[1] > 4'500; })
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_sums(
                {c["rows"], c["cols"], c["padding"], c["grad from"], c["table from"]},
                static_cast<Spread>(c["indices"]),
                c["count"]);
        }
}

TEST_CASE("backward: rows of more than 1024 loads") {
    const int64_t cols = GENERATE(4100, 4101);  // of four floats, and of one
    grade_sums({2, cols}, {1, 0, 1}, "long rows");
}

TEST_CASE("backward: the row of the padding is zero") {
    const int64_t padding = GENERATE(0, 2, 3);
    grade_sums({4, 5, padding}, uniform, 50);
    grade_sums({4, 8, padding}, one_row, 70);
}

TEST_CASE("backward: an index that is no row is counted, and has no other effect") {
    grade_sums({9, 3, 2}, with_bad, GENERATE(5, 64, 100));
    grade_sums({9, 8}, only_bad, 40);
}

TEST_CASE("backward: no index at all gives zeros") {
    grade_sums({3, 5}, Indices{}, "none");
    grade_sums({2, 1031}, Indices{}, "none");
    grade_sums({300, 4, 1}, Indices{}, "none");
}

TEST_CASE("backward: many rows, whose numbers have one, two or three digits of 256") {
    const int64_t rows = GENERATE(255, 256, 257, 65'535, 65'536, 65'537);
    grade_sums({rows, 1}, {rows - 1, 0, rows / 2, 255, rows - 1, 0, 1, 254}, "few");
}

TEST_CASE("backward: 256 rows and an index that is none") {
    // What is no row is sorted like row 256, whose digits are 1 and 0: with the second
    // one alone it would come between the indices of row 0.
    grade_sums({256, 2}, {5, 0, -1, 0, 255, 256, 0}, "two bad ones");
    grade_sums({256, 2, 5}, {5, 0, 5, 0, 255, 5, 0}, "three of padding");
}

TEST_CASE("backward: more indices than a tile of the sort has", "[long]") {
    const int64_t count = GENERATE(2047, 2048, 2049);
    grade_sums({300, 1}, uniform, count);
}

TEST_CASE("backward: many gradients, spread and skewed", "[long]") {
    grade_sums({127, 3}, GENERATE(uniform, skewed), 1031, 2);
    grade_sums({5, 4, 2}, with_bad, 1031, 3);
}

TEST_CASE("backward: sums of sums of sums", "[long]") {
    grade_sums({2, 1}, skewed, 8'300);  // 260 shares, then 17, 2, 1
}

TEST_CASE("backward: more indices, and more columns, than 16 bits count", "[long]") {
    // All but the last are 0: else so many summands' bound would hide it.
    constexpr int64_t kCount = 65'539;
    std::vector<float> grad_out(kCount, 0.0f);
    grad_out.back() = 1.0f;
    for (const Spread spread : {uniform, one_row})
        for (const auto& [name, idea, launcher] :
             wb::implementations("embedding_backward", embedding_backward))
            grade_backward(name,
                           launcher,
                           {3, 1},
                           grad_out,
                           make_indices(spread, kCount, 3),
                           "65,539 indices, " + in_words(spread));
    grade_sums({2, 65'541}, {1, 0}, "very long rows");
}

TEST_CASE("backward: NaN and infinity reach their row and their column, and no other") {
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const int64_t cols = GENERATE(2, 4);
    // Rows: 0 NaN, 1 infinities of both signs, 2 infinity, 3 none, 4 is padding.
    Indices indices = {0, 1, 2, 1, 3, 4, 5};
    indices.resize(60, 3);
    auto grad_out =
        wb::testing::random_normal(static_cast<int64_t>(indices.size()) * cols, 1);
    grad_out[0] = nan;
    grad_out[at(cols)] = inf;
    grad_out[at(2 * cols + 1)] = inf;
    grad_out[at(3 * cols)] = -inf;
    grad_out[at(5 * cols)] = nan;
    grad_out[at(6 * cols)] = nan;  // of an index that is no row
    for (const auto& [name, idea, launcher] :
         wb::implementations("embedding_backward", embedding_backward))
        grade_backward(name,
                       launcher,
                       {5, cols, 4},
                       grad_out,
                       indices,
                       "NaN and infinities, cols = " + std::to_string(cols));
}

TEST_CASE("backward: nothing is kept from call to call") {
    wb::testing::expect_independent(
        [] {
            grade_sums({7, 4, 1}, skewed, 70);
        },
        [] {
            grade_sums({300, 3}, with_bad, 40, 2);
        });
    // Larger ones, and two of one size.
    wb::testing::expect_independent(
        [] {
            grade_sums({2003, 4}, skewed, 300);
        },
        [] {
            grade_sums({1500, 3}, uniform, 200, 2);
        },
        [] {
            grade_sums({2003, 4}, uniform, 300, 3);
        });
}

namespace {

/// Whether the sums of a launcher have the same bits however its threads are ordered.
bool same_bits(const std::string& name, decltype(&embedding_backward) launcher) {
    const Indices indices = make_indices(skewed, 300, 9);
    const auto grad_out = wb::testing::random_normal(300 * 4, 4);
    std::vector<double> first;
    bool are_same = true;
    for (const unsigned order : {0, 1, 2}) {
        wb::testing::shuffle_threads(order);
        const auto sums = grade_backward(
            name, launcher, {9, 4}, grad_out, indices, "called three times");
        if (first.empty()) first = sums;
        are_same = are_same && sums == first;
    }
    wb::testing::shuffle_threads(0);
    return are_same;
}

}  // namespace

TEST_CASE("backward: v2 and v4 give the same bits in every call") {
    grade_backward("embedding_backward",
                   embedding_backward,
                   {2, 1},
                   {1.0f, 2.0f},
                   {1, 1},
                   "a learner's function need not do so, but must be right");
    for (const auto& [name, idea, launcher] :
         wb::implementations("embedding_backward", embedding_backward)) {
        if (name != "embedding_backward_v2" && name != "embedding_backward_v4")
            continue;
        INFO(name);
        CHECK(same_bits(name, launcher));
    }
}

TEST_CASE("backward: all work is queued on the caller's stream") {
    const int64_t count = GENERATE(0, 2, 70);
    for (const auto& [name, idea, launcher] :
         wb::implementations("embedding_backward", embedding_backward)) {
        Grader grade(name, std::to_string(count) + " indices, queued only");
        const float* d_grad_out = grade.output<float>("grad_out", {count, 4});
        float* d_table = grade.output<float>("grad_table", {300, 4});
        const Lookup lookup = {grade.input("indices", Indices(at(count))),
                               count,
                               300,
                               4,
                               bad_counter(grade)};
        grade.expect_queued([&, launcher = launcher](cudaStream_t stream) {
            launcher(d_grad_out, d_table, lookup, -1, stream);
        });
    }
}

TEST_CASE("backward: a size of zero: nothing is launched") {
    const auto [num_rows, cols] =
        GENERATE(table<int64_t, int64_t>({{0, 3}, {2, 0}, {0, 0}}));
    Grader grade("embedding_backward", "no rows, or no columns");
    grade.expect_no_work([&, num_rows = num_rows, cols = cols](cudaStream_t stream) {
        const Lookup lookup = {nullptr, 3, num_rows, cols, nullptr};
        embedding_backward(nullptr, nullptr, lookup, -1, stream);
    });
    grade_sums({2, 3}, uniform, 5);  // and then it is
}

TEST_CASE("backward: more than 2^31 elements", "[large][serial]") {
    Grader("embedding_backward", "cols = 0").expect_no_work([](cudaStream_t stream) {
        embedding_backward(nullptr, nullptr, {nullptr, 1, 1, 0, nullptr}, -1, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^31 threads are too much for the simulator");
#else
    constexpr int64_t kCols = 1024;
    constexpr int64_t kRows = (int64_t{1} << 21) + 1024;
    constexpr int64_t kCount = kRows * kCols;
    wb::testing::LargeArrays arrays(kCount, kCount);
    if (!arrays.has_memory()) WB_SKIP("needs 18 GB of free GPU memory");
    arrays.set(kCount - 1, 3.0f);
    arrays.set(kCount - kCols - 1, 4.0f);
    Grader memory("embedding_backward", "indices");
    Indices indices(at(kRows));  // row i / 2, but for the last two
    for (int64_t i = 0; i < kRows; ++i)
        indices[at(i)] = i / 2;
    indices[at(kRows - 2)] = indices[at(kRows - 1)] = kRows - 1;
    const Lookup lookup = {
        memory.input("indices", indices), kRows, kRows, kCols, bad_counter(memory)};
    for (const auto& [name, idea, launcher] :
         wb::implementations("embedding_backward", embedding_backward)) {
        arrays.expect(name,
                      "count rows cols = 2098176 2098176 1024",
                      {0, kCount - kCols - 1, kCount - 2, kCount - 1},
                      {0.0, 0.0, 0.0, 7.0},
                      [&, launcher = launcher](cudaStream_t stream) {
                          launcher(arrays.x, arrays.y, lookup, -1, stream);
                      });
    }
#endif
}

TEST_CASE("backward: the same bits in any order of the threads", "[.][goal][fast]") {
    const Goal goal("embedding_backward");
    const bool are_same = same_bits("embedding_backward", embedding_backward);
    goal.require(are_same, "the sums differ from call to call");
}

TEST_CASE("backward: no atomic additions", "[.][goal][fast]") {
    const Goal goal("embedding_backward");
    const Indices indices = make_indices(skewed, 100, 9);
    grade_backward("embedding_backward",
                   embedding_backward,
                   {9, 4},
                   wb::testing::random_normal(100 * 4, 4),
                   indices,
                   "atomics are counted");
    goal.atomics_at_most(0);
}
