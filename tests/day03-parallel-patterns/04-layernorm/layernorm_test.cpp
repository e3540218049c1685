// Grades day03-parallel-patterns/04-layernorm, forward: sizes, places, and how work is
// queued.
#include "layernorm_cases.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

using namespace layernorm_cases;

TEST_CASE("one element in a row: its distance from the mean is 0") {
    const int64_t rows = GENERATE(as<int64_t>(), 1, 2, 33, 1100);
    if (wb::testing::is_watched() && rows > 100) return;
    grade_random({rows, 1}, rows == 1100 ? 0 : -1);
}

TEST_CASE("rows around the size of a warp") {
    grade_random(
        {GENERATE(as<int64_t>(), 1, 3), GENERATE(as<int64_t>(), 2, 31, 32, 33)});
}

TEST_CASE("many rows, each by itself") {
    const auto [rows, columns] =
        GENERATE(table<int64_t, int64_t>({{7, 5}, {9, 8}, {129, 17}, {390, 4}}));
    if (wb::testing::is_watched() && rows > 100) return;
    grade_random({rows, columns}, GENERATE(as<int64_t>(), 0, 5));
}

TEST_CASE("rows around the sizes of vectors, warps and blocks") {
    const int64_t columns = GENERATE(as<int64_t>(),
                                     63,
                                     64,
                                     65,
                                     128,
                                     141,
                                     255,
                                     256,
                                     269,
                                     512,
                                     525,
                                     1023,
                                     1024,
                                     1025,
                                     1032,
                                     1040,
                                     1280,
                                     2061);
    grade_random({2, columns}, columns % 6);
    grade_random({2, columns}, (columns + 3) % 6);
}

namespace {

std::vector<wb::testing::Combination> edges() {
    auto cases =
        wb::testing::Covering()
            .factor("rows", {1, 2, 5, 8, 9, 33})
            .factor("columns", {1, 3, 4, 6, 8, 16, 31, 32, 33, 64, 100, 130, 264})
            .factor("x from", {0, 1, 3, 8})
            .factor("y from", {0, 2, 8})
            .factor("place", {"apart", "in place"})
            .factor("parameters", {"none", "gamma", "beta", "both"})
            .factor("statistics", {"none", "mean", "rstd", "both"})
            .factor("function", {0, 1, 2, 3, 4, 5})
            .cases();
    if (wb::testing::is_watched()) cases.erase(cases.begin() + 24, cases.end());
    return cases;
}

}  // namespace

TEST_CASE("edges meet") {
    static const auto cases = edges();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            const int64_t parameters = c["parameters"];
            const int64_t statistics = c["statistics"];
            grade_random({c["rows"],
                          c["columns"],
                          c["x from"],
                          c["y from"],
                          c["place"] == 1,
                          parameters % 2 == 1,
                          parameters >= 2,
                          statistics % 2 == 1,
                          statistics >= 2},
                         c["function"]);
        }
}

TEST_CASE("rows for a block, at any element") {
    const int64_t columns = GENERATE(as<int64_t>(), 1029, 2048, 4109, 8200);
    const int64_t from = GENERATE(as<int64_t>(), 0, 5);
    grade_random({2, columns, from, 8}, (columns + from) % 6);
}

TEST_CASE("one array begins later than the others") {
    // What is loaded in vectors must be looked at array by array.
    Sizes s = {2, GENERATE(as<int64_t>(), 64, 1024)};
    s.alone = GENERATE(Alone::x, Alone::gamma, Alone::beta, Alone::y);
    grade_random(s, 0);
    grade_random(s, 5);
}

TEST_CASE("thousands of rows, for the contract alone", "[long]") {
    const Sizes s = {kManyRows, 2};
    grade_one<float>(
        "layer_norm", layer_norm, true, s, random_numbers(s), ", the contract alone");
}

TEST_CASE("wide rows") {
    grade_random({1, 16'392}, GENERATE(as<int64_t>(), 0, 2));
    grade_random({1, 32'789, 1, 1}, 3);
}

TEST_CASE("wider rows than registers can hold", "[long]") {
    const int64_t columns = GENERATE(as<int64_t>(), 32'768, 40'008, 65'541);
    grade_random({2, columns, 3, 3}, columns % 6);
    grade_random({1, columns}, 0);
}

TEST_CASE("nothing is kept from call to call") {
    wb::testing::expect_independent(
        [] {
            grade_random({3, 70}, 0);
            grade_random({2, 1500}, 2);
        },
        [] {
            grade_random({9, 5}, 0, 2);
            grade_random({1, 1100}, 2, 2);
        });
}

TEST_CASE("right whatever order the threads run in") {
    wb::testing::shuffle_threads(GENERATE(as<unsigned>(), 1, 2));
    grade_random({2, GENERATE(as<int64_t>(), 37, 1500)}, 0);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("no rows or no columns: nothing is launched") {
    const auto [rows, columns] =
        GENERATE(table<int64_t, int64_t>({{0, 3}, {3, 0}, {0, 0}}));
    for (int64_t number = 0; number < kFunctions; ++number)
        with_function(
            number, [rows = rows, columns = columns]<class T>(bool is_centered) {
                Norm<T> norm = {};
                norm.rows = rows;
                norm.columns = columns;
                const auto function = forward<T>(is_centered);
                Grader(function.name, Sizes{rows, columns}.text())
                    .expect_no_work(
                        [&](cudaStream_t stream) { function.call(norm, stream); });
            });
    grade_random({2, 3});
}

namespace {

template <class T>
void queue_all(const Sizes& s, bool is_centered) {
    for (const auto& [name, idea, launcher] : forward<T>(is_centered).versions()) {
        Grader grade(name, s.text() + ", queued only");
        Norm<T> norm = {};
        norm.x = grade.input("x", std::vector<T>(at(s.count()), T(1.0f)));
        norm.y = grade.output<T>("y", {s.rows, s.columns});
        norm.rows = s.rows;
        norm.columns = s.columns;
        grade.expect_queued(
            [&, launcher = launcher](cudaStream_t stream) { launcher(norm, stream); });
    }
}

}  // namespace

TEST_CASE("all work is queued on the caller's stream, and nobody waits for it") {
    const auto [rows, columns] = GENERATE(table<int64_t, int64_t>(
        {{3, 5}, {65'536, 1}, {2, 200}, {2, 3000}, {1, 40'000}}));
    queue_all<float>({rows, columns}, true);
    queue_all<Half>({rows, columns}, true);
    queue_all<Bf16>({rows, columns}, false);
}
