// Grades day03-parallel-patterns/07-losses: rows of length 1, and their gradient.
#include "losses_cases.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

using namespace losses_cases;

namespace {

Floats row_numbers(const Rows& s, uint64_t seed) {
    return wb::testing::random_normal(s.rows * s.columns, seed);
}

void grade_rows(const Rows& s, uint64_t seed = 1) {
    const std::string what = ", seed " + std::to_string(seed);
    const Floats x = row_numbers(s, seed);
    grade_l2(s, x, what);
    grade_l2_backward(s, x, row_numbers(s, seed + 100), what);
}

std::vector<wb::testing::Combination> edges_of_rows() {
    auto cases = wb::testing::Covering()
                     .factor("rows", {1, 2, 7, 9, 33})
                     .factor("columns", {1, 3, 4, 8, 31, 32, 33, 61, 64, 127, 128, 132})
                     .factor("from", {0, 1, 3, 4})
                     .factor("to", {0, 1, 2, 4})
                     .cases();
    if (wb::testing::is_watched()) cases.erase(cases.begin() + 6, cases.end());
    return cases;
}

/// x scaled, as rows of ordinary numbers around one that is special.
Floats between(const Rows& s, const Floats& special) {
    Floats x = row_numbers(s, 5);
    for (int64_t c = 0; c < s.columns; ++c)
        x[at(s.columns + c)] = special[at(c) % special.size()];
    return x;
}

}  // namespace

TEST_CASE("l2: edges meet") {
    static const auto cases = edges_of_rows();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_rows({c["rows"], c["columns"], c["from"], c["to"]});
        }
}

TEST_CASE("l2: rows around the sizes of vectors, warps and blocks") {
    const int64_t columns =
        GENERATE(as<int64_t>(), 256, 260, 500, 512, 516, 700, 1024, 1027, 1028, 2500);
    grade_rows({3, columns});
}

TEST_CASE("l2: a row of zeros stays zeros, and its gradient is finite") {
    const int64_t columns = GENERATE(as<int64_t>(), 5, 64, 1100);
    const Rows s = {3, columns};
    const Floats x = between(s, {0.0f, -0.0f});
    grade_l2(s, x, ", a row of zeros");
    // dy / 1e-12 must not overflow, so that a NaN or a zero is seen.
    Floats dy = row_numbers(s, 9);
    for (float& number : dy)
        number *= 1e-3f;
    grade_l2_backward(s, x, dy, ", a row of zeros");
}

TEST_CASE("l2: rows around eps: shorter ones are divided by eps, not by their length") {
    const Rows s = {3, GENERATE(as<int64_t>(), 4, 70)};
    const float length = GENERATE(0.2f, 0.9f, 1.1f, 4.0f);
    const float eps = GENERATE(1e-3f, 2.0f);
    Floats row(at(s.columns), 0.0f);
    row[0] = 0.6f * length * eps;
    row[at(s.columns) - 1] = 0.8f * length * eps;
    const Floats x = between(s, row);
    grade_l2(s, x, ", eps " + std::to_string(eps), eps);
    grade_l2_backward(s, x, row_numbers(s, 9), ", eps " + std::to_string(eps), eps);
}

TEST_CASE("l2: a NaN or an infinity stays in its row") {
    const Rows s = {3, GENERATE(as<int64_t>(), 3, 65, 1030)};
    for (const float number : {kNan, kInfinity, -kInfinity})
        for (const int64_t place : {int64_t{0}, s.columns - 1}) {
            Floats row(at(s.columns), 0.5f);
            row[at(place)] = number;
            const Floats x = between(s, row);
            grade_l2(s, x, ", one " + std::to_string(number));
            grade_l2_backward(s, x, row_numbers(s, 9), ", x " + std::to_string(number));
            grade_l2_backward(
                s, row_numbers(s, 9), x, ", dy " + std::to_string(number));
        }
}

TEST_CASE("l2: large and tiny numbers") {
    const Rows s = {3, GENERATE(as<int64_t>(), 6, 96)};
    const float size = GENERATE(1e17f, 1e25f, 1e-15f, 1e-21f, 1e-39f);
    const Floats x = between(s, {size, -0.5f * size, 0.25f * size, 0.0f});
    grade_l2(s, x, ", size " + std::to_string(size));
    grade_l2_backward(s, x, row_numbers(s, 9), ", size " + std::to_string(size), 1e-3f);
}

TEST_CASE("l2: more than 2^16 rows", "[long]") {
    const ContractAlone alone;  // the simulator needs a while for so many
    grade_rows({65'541, 2});
}

TEST_CASE("l2: more than 2^16 columns", "[long]") {
    const ContractAlone alone;
    grade_rows({2, 65'541});
}

TEST_CASE("l2: nothing is kept from call to call") {
    wb::testing::expect_independent(
        [] {
            grade_rows({5, 40});
        },
        [] {
            grade_rows({12, 9}, 2);
        },
        [] {
            grade_rows({5, 40}, 3);
        });
}

TEST_CASE("l2: right whatever order the threads run in") {
    wb::testing::shuffle_threads(GENERATE(as<unsigned>(), 1, 2));
    grade_rows({9, GENERATE(as<int64_t>(), 37, 1500)});
    wb::testing::shuffle_threads(0);
}

TEST_CASE("l2: no rows or no columns: nothing is launched") {
    const auto [rows, columns] =
        GENERATE(table<int64_t, int64_t>({{0, 3}, {3, 0}, {0, 0}}));
    float* const null = nullptr;
    const std::string text = Rows{rows, columns}.text();
    Grader("l2_normalize", text)
        .expect_no_work([&, rows = rows, columns = columns](cudaStream_t stream) {
            l2_normalize(null, null, null, {rows, columns, kEps}, stream);
        });
    Grader("l2_normalize_backward", text)
        .expect_no_work([&, rows = rows, columns = columns](cudaStream_t stream) {
            l2_normalize_backward(
                null, null, null, null, {rows, columns, kEps}, stream);
        });
    grade_rows({2, 3});
}
