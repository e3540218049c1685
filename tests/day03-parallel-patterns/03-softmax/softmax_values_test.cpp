// Grades day03-parallel-patterns/03-softmax: numbers at which shortcuts show.
#include "softmax_cases.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/other_device.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <numeric>

namespace {

/// Rows of the same width, one for each kind of number.
class Rows {
 public:
    explicit Rows(int64_t columns) : columns_(columns) {}

    /// A row whose element c is value(c).
    void add(const std::function<float(int64_t)>& value) {
        for (int64_t c = 0; c < columns_; ++c)
            numbers_.push_back(value(c));
    }
    void grade(const std::string& what) const {
        const auto rows = static_cast<int64_t>(numbers_.size()) / columns_;
        grade_numbers({rows, columns_}, numbers_, what);
    }

 private:
    int64_t columns_;
    std::vector<float> numbers_;
};

/// An ordinary element, not the same in all columns.
float some(int64_t c) {
    return 0.25f * static_cast<float>(c % 7) - 1.0f;
}

/// For one thread, a warp, several of them, a block; and no multiple of a vector.
int64_t widths() {
    return GENERATE(as<int64_t>(), 1, 2, 5, 40, 300, 1501);
}

}  // namespace

TEST_CASE("large numbers of both signs: the maximum is taken away first") {
    const int64_t columns = widths();
    Rows rows(columns);
    for (const float offset : {1000.0f, -1000.0f, 3e4f, -3e4f})
        rows.add([&](int64_t c) { return offset + 32.0f * some(c); });
    rows.add([](int64_t c) { return c == 2 ? -200.0f : -230.0f; });
    rows.add([](int64_t) { return std::numeric_limits<float>::max(); });
    rows.add([](int64_t c) { return c % 2 == 0 ? 3e38f : -3e38f; });
    rows.add([](int64_t) { return -3e38f; });
    rows.grade(", large numbers");
}

TEST_CASE("rows that rise and rows that fall") {
    const int64_t columns = widths();
    const float step = 20.0f / static_cast<float>(columns);
    Rows rows(columns);
    rows.add([&](int64_t c) { return step * static_cast<float>(c); });
    rows.add([&](int64_t c) { return -step * static_cast<float>(c); });
    rows.add([&](int64_t c) { return c == columns - 1 ? 5.0f : 0.0f; });
    rows.add([](int64_t c) { return c == 0 ? 5.0f : 0.0f; });
    rows.grade(", rise and fall");
}

TEST_CASE("masked elements, -inf, have no weight, wherever they stand") {
    const int64_t columns = widths();
    Rows rows(columns);
    const auto masked = [&](const std::function<bool(int64_t)>& is_masked) {
        rows.add([&](int64_t c) { return is_masked(c) ? -kInfinity : some(c); });
    };
    masked([](int64_t c) { return c == 0; });
    masked([](int64_t c) { return c < 3; });  // a lane sees them first
    masked([&](int64_t c) { return c != columns - 1; });
    masked([](int64_t c) { return c != 1; });
    masked([&](int64_t c) { return c < columns / 2; });  // lanes and warps see no more
    masked([&](int64_t c) { return c >= columns / 2; });
    masked([](int64_t c) { return c % 2 == 0; });
    rows.grade(", some -inf");
}

TEST_CASE("a row of nothing but -inf is NaN, and its neighbours are not") {
    Rows rows(widths());
    rows.add(some);
    rows.add([](int64_t) { return -kInfinity; });
    rows.add(some);
    rows.grade(", a row of -inf");
}

TEST_CASE("a NaN or an infinity makes all of its row NaN, and no other row") {
    const int64_t columns = widths();
    Rows rows(columns);
    for (const float number : {kNan, -kNan, kInfinity})
        for (const int64_t place : {int64_t{0}, columns / 2, columns - 1}) {
            rows.add([&](int64_t c) { return c == place ? number : some(c); });
            rows.add(some);
        }
    rows.add([](int64_t) { return kNan; });
    rows.add([](int64_t) { return kInfinity; });
    rows.add([](int64_t c) { return c == 1 ? kNan : -kInfinity; });
    rows.add([](int64_t c) { return c == 1 ? kInfinity : -kInfinity; });
    rows.add([](int64_t c) { return c == 1 ? kInfinity : kNan; });
    rows.grade(", NaN and infinities");
}

TEST_CASE("zeros of both signs and tiny numbers are all alike") {
    Rows rows(widths());
    rows.add([](int64_t c) { return c % 2 == 0 ? 0.0f : -0.0f; });
    rows.add([](int64_t) { return std::numeric_limits<float>::denorm_min(); });
    rows.add([](int64_t c) { return c % 2 == 0 ? 1e-38f : -1e-40f; });
    rows.grade(", tiny numbers");
}

TEST_CASE("weights that are small beside the largest keep their digits") {
    Rows rows(widths());
    for (const float distance : {8.0f, 20.0f, 60.0f, 86.0f, 88.0f, 104.0f})
        rows.add([&](int64_t c) { return c == 3 ? 0.5f : 0.5f - distance; });
    rows.grade(", small weights");
}

TEST_CASE("many small weights are not lost beside a large one") {
    const int64_t columns = GENERATE(as<int64_t>(), 60, 3000, 33'000);
    if (wb::testing::is_watched() && columns > 10'000) return;
    Rows rows(columns);
    rows.add([](int64_t) { return 1.0f; });
    rows.add([](int64_t c) { return c == 0 ? 4.0f : 0.0f; });
    // A sum in half precision leaves the small ones out.
    rows.add([](int64_t c) { return c * 7919 % 17 == 0 ? 0.0f : -7.75f; });
    // Of a wide row, each thread has more elements behind its largest one.
    rows.add([](int64_t c) { return c == 7 ? 200.0f : 0.0f; });
    rows.grade(", small weights");
}

namespace {

/// The contract's functions on few rows, and on more rows than multiprocessors.
void grade_contract(const Sizes& s, int64_t place) {
    auto numbers = random_numbers(s, true, 1);
    numbers[static_cast<size_t>(place)] = 9.0f;
    grade_one<float>("softmax", softmax, s, numbers, ", even, seed 1");
    grade_one<Bf16>("softmax_bf16", softmax_bf16, s, numbers, ", even, seed 1");
}

}  // namespace

TEST_CASE("few wide rows") {
    const wb::testing::FewMultiprocessors few(GENERATE(1, 9));
    const int64_t columns = GENERATE(as<int64_t>(), 4097, 8195);
    grade_contract({2, columns, 1, 1}, 2 * columns - 1);
}

TEST_CASE("the widest rows that are held, and wider ones", "[long]") {
    const auto [rows, columns] = GENERATE(table<int64_t, int64_t>(
        {{1, 131'085}, {1, 262'144}, {1, 262'304}, {2, 300'001}}));
    const wb::testing::FewMultiprocessors few(9);
    // In place, a block that writes more than its part spoils what another one reads.
    const bool in_place = columns > 262'144;
    grade_contract({rows, columns, 3, 3, in_place}, rows * columns - 1);
}

TEST_CASE("wide rows: nothing is kept from call to call") {
    const auto grade = [](int64_t rows, int64_t columns, uint64_t seed) {
        const Sizes s = {rows, columns};
        const std::string text = ", even, seed " + std::to_string(seed);
        const auto numbers = random_numbers(s, true, seed);
        grade_one<float>("softmax", softmax, s, numbers, text);
    };
    wb::testing::expect_independent([&] { grade(1, 20'001, 1); },
                                    [&] { grade(2, 17'000, 2); },
                                    [&] { grade(1, 20'001, 3); });
}

TEST_CASE("wide rows on another GPU than the first one") {
    const int64_t columns = GENERATE(as<int64_t>(), 1029, 8195, 15'000, 20'001);
    grade_contract({1, columns}, 0);
    wb::testing::on_another_device([&] { grade_contract({1, columns}, columns - 1); });
}

TEST_CASE("wide rows where a block has little shared memory", "[long]") {
    const wb::testing::LittleSharedMemory little;
    grade_type<float>({1, 40'000}, random_numbers({1, 40'000}, true, 1), ", even");
}

TEST_CASE("wide rows of all kinds of numbers", "[long]") {
    const int64_t columns = GENERATE(as<int64_t>(), 40'001, 300'001);
    const wb::testing::FewMultiprocessors few(9);
    const auto grade = [&](const char* what, const auto& value) {
        std::vector<float> numbers;
        for (int64_t c = 0; c < columns; ++c)
            numbers.push_back(value(c));
        grade_one<float>("softmax", softmax, {1, columns}, numbers, what);
    };
    const auto step = 20.0f / static_cast<float>(columns);
    grade(", falls from 0", [&](int64_t c) { return -step * static_cast<float>(c); });
    grade(", rises to 1020",
          [&](int64_t c) { return 1000.0f + step * static_cast<float>(c); });
    grade(", most 10 below the largest",
          [](int64_t c) { return c % 1009 == 5 ? 0.0f : -10.0f; });
    grade(", every other one masked",
          [](int64_t c) { return c % 2 == 0 ? -kInfinity : some(c); });
}

TEST_CASE("wide rows of which some blocks and warps see nothing", "[long]") {
    const int64_t columns = 40'001;
    std::vector<float> numbers(static_cast<size_t>(2 * columns), -kInfinity);
    numbers[40'000] = 1.0f;  // the second row has none at all
    grade_type<float>({2, columns}, numbers, ", one number");
    numbers[40'001] = kNan;
    grade_type<float>({2, columns}, numbers, ", one number and one NaN");
}
