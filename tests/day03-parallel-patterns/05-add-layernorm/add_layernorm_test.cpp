// Grades day03-parallel-patterns/05-add-layernorm, forward: sizes, places, and how work
// is queued.
#include "add_layernorm_cases.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

using namespace add_layernorm_cases;

TEST_CASE("one element in a row: its distance from the mean is 0") {
    grade_random({GENERATE(as<int64_t>(), 1, 2, 33), 1});
}

TEST_CASE("rows around the size of a warp") {
    grade_random(
        {GENERATE(as<int64_t>(), 1, 3), GENERATE(as<int64_t>(), 2, 31, 32, 33)});
}

TEST_CASE("tokens of a model: 2560 columns") {
    grade_random({1, 2560}, GENERATE(as<int64_t>(), 0, 1, 2, 4, 7));
    const wb::testing::FewMultiprocessors few(2);  // three rows are many
    grade_random({3, 2560}, GENERATE(as<int64_t>(), 2, 3));
}

TEST_CASE("rows around the sizes of vectors, warps and blocks") {
    const int64_t columns = GENERATE(as<int64_t>(),
                                     63,
                                     64,
                                     128,
                                     255,
                                     256,
                                     257,
                                     264,
                                     512,
                                     520,
                                     525,
                                     1024,
                                     1031,
                                     2061,
                                     4100,
                                     8192);
    const bool has_few = columns % 3 == 0;
    const wb::testing::FewMultiprocessors few(has_few ? 1 : 132);
    grade_random({2, columns}, columns % 8);
    grade_random({2, columns}, (columns + 4) % 8);
}

namespace {

std::vector<wb::testing::Combination> edges() {
    auto cases = wb::testing::Covering()
                     .factor("function", {0, 1, 2, 3, 4, 5, 6, 7})
                     .factor("columns", {1, 3, 8, 16, 31, 33, 64, 130, 264, 600})
                     .factor("rows", {1, 2, 5, 9})
                     .factor("from", {0, 1, 8})
                     .factor("gap", {0, 3, 8})
                     .factor("y from", {0, 2, 8})
                     .factor("y gap", {0, 1, 16})
                     .factor("place", {"apart", "x", "other"})
                     .factor("statistics", {"none", "mean", "rstd", "both"})
                     .factor("multiprocessors", {1, 132})
                     .cases();
    if (wb::testing::is_watched()) cases.erase(cases.begin() + 24, cases.end());
    return cases;
}

}  // namespace

TEST_CASE("edges meet") {
    static const auto cases = edges();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            const wb::testing::FewMultiprocessors few(
                static_cast<int>(c["multiprocessors"]));
            Sizes s = {c["rows"],
                       c["columns"],
                       c["from"],
                       c["gap"],
                       c["y from"],
                       c["y gap"],
                       static_cast<Place>(c["place"]),
                       c["statistics"] % 2 == 1,
                       c["statistics"] >= 2};
            grade_random(s, c["function"]);
        }
}

TEST_CASE("rows wider than registers can hold") {
    grade_random({1, 16'392}, 2);
    grade_random({1, 8208, 0, 8}, GENERATE(as<int64_t>(), 0, 6));
    grade_random({2, 8201, 1, 1, 1, 1, Place::other}, GENERATE(as<int64_t>(), 0, 5));
}

TEST_CASE("one array begins later than the others") {
    // What is loaded in vectors must be looked at array by array.
    Sizes s = {2, GENERATE(as<int64_t>(), 64, 1024)};
    s.alone =
        GENERATE(Alone::x, Alone::other, Alone::gamma, Alone::beta, Alone::h, Alone::y);
    grade_random(s, 0);
    grade_random(s, 7);
}

namespace {

/// The contract's functions alone: the simulator needs a while for so many columns.
void grade_contract(const Sizes& s, int64_t number) {
    with_function(number, [&]<class T>(const Function<T>& f) {
        grade_one<T>(
            f.name, f.call, f.what, s, random_numbers(s), ", the contract alone");
    });
}

}  // namespace

TEST_CASE("thousands of rows, for the contract alone", "[long]") {
    grade_contract({kManyRows, 72}, GENERATE(as<int64_t>(), 0, 7));
}

TEST_CASE("more than 2^18 columns: more than 2^16 calls of the generator a row",
          "[long]") {
    grade_contract({1, 262'160}, 7);
}

TEST_CASE("much wider rows", "[long]") {
    grade_random({2, 40'008}, GENERATE(as<int64_t>(), 2, 3, 7));
    grade_random({1, 65'541}, 0);
}

TEST_CASE("nothing is kept from call to call") {
    wb::testing::expect_independent(
        [] {
            grade_random({3, 70}, 0);
            grade_random({2, 600}, 7);
        },
        [] {
            grade_random({9, 5}, 0, 2);
            grade_random({1, 1100}, 7, 2);
        });
}

TEST_CASE("once more in the same arrays, with another eps and another mask") {
    with_function(GENERATE(as<int64_t>(), 0, 5, 6, 7),
                  [&]<class T>(const Function<T>& f) {
                      const Sizes s = {4, 70};
                      for (const auto& [name, idea, call] : f.versions())
                          grade_one<T>(name,
                                       call,
                                       f.what,
                                       s,
                                       random_numbers(s),
                                       ", as before but for eps and mask",
                                       true);
                  });
}

TEST_CASE("right whatever order the threads run in") {
    wb::testing::shuffle_threads(GENERATE(as<unsigned>(), 1, 2));
    grade_random({2, GENERATE(as<int64_t>(), 37, 1500)}, GENERATE(0, 3));
    wb::testing::shuffle_threads(0);
}

TEST_CASE("no rows or no columns: nothing is launched") {
    const auto [rows, columns] =
        GENERATE(table<int64_t, int64_t>({{0, 3}, {3, 0}, {0, 0}}));
    for (int64_t number = 0; number < kFunctions; ++number)
        with_function(number, [&]<class T>(const Function<T>& function) {
            FusedNorm<T> norm = {};
            norm.rows = rows;
            norm.columns = columns;
            Grader(function.name, Sizes{rows, columns}.text())
                .expect_no_work(
                    [&](cudaStream_t stream) { function.call(norm, stream); });
        });
}

TEST_CASE("all work is queued on the caller's stream, and nobody waits for it") {
    const auto [rows, columns] =
        GENERATE(table<int64_t, int64_t>({{3, 5}, {2, 200}, {2, 3000}, {1, 20'000}}));
    with_function(
        GENERATE(as<int64_t>(), 0, 2, 5, 7), [&]<class T>(const Function<T>& f) {
            for (const auto& [name, idea, launcher] : f.versions()) {
                const Sizes s = {rows, columns};
                Grader grade(name, s.text() + ", queued only");
                const std::vector<T> ones(at(s.count()), T(1.0f));
                FusedNorm<T> norm = {};
                norm.x = {grade.input("x", ones), columns};
                norm.other = {grade.input("other", ones), columns};
                norm.gamma = norm.beta = grade.input("gamma", ones);
                norm.y = {grade.output<T>("y", {rows, columns}), columns};
                if (f.what == What::add_layernorm)
                    norm.h = {grade.output<T>("h", {rows, columns}), columns};
                norm.rows = rows;
                norm.columns = columns;
                grade.expect_queued([&, launcher = launcher](cudaStream_t stream) {
                    launcher(norm, stream);
                });
            }
        });
}
