// Grades day03-parallel-patterns/03-softmax: sizes, places, and how work is queued.
#include "softmax_cases.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

TEST_CASE("one element in a row has all of the weight") {
    const int64_t rows = GENERATE(as<int64_t>(), 1, 2, 33, 1100);
    if (wb::testing::is_watched() && rows > 100) return;
    grade_random({rows, 1});
}

TEST_CASE("rows around the size of a warp") {
    grade_random(
        {GENERATE(as<int64_t>(), 1, 3), GENERATE(as<int64_t>(), 2, 31, 32, 33)});
}

TEST_CASE("many rows, each by itself") {
    const auto [rows, columns] =
        GENERATE(table<int64_t, int64_t>({{7, 5}, {9, 5}, {129, 17}, {390, 5}}));
    if (wb::testing::is_watched() && rows > 100) return;
    grade_random({rows, columns}, false);
}

TEST_CASE("more than 4096 rows, more than 2^16", "[long]") {
    const auto [rows, columns] =
        GENERATE(table<int64_t, int64_t>({{65'541, 2}, {4100, 70}, {2050, 300}}));
    const Sizes s = {rows, columns};
    const auto numbers = random_numbers(s, true, 1);
    grade_one<float>("softmax", softmax, s, numbers, ", even, seed 1");
    grade_one<Bf16>("softmax_bf16", softmax_bf16, s, numbers, ", even, seed 1");
}

TEST_CASE("rows around the sizes of vectors, warps and blocks") {
    const int64_t columns = GENERATE(
        as<int64_t>(), 63, 64, 65, 128, 141, 255, 256, 269, 512, 525, 1024, 1037, 2061);
    grade_random({2, columns}, GENERATE(true, false));
}

namespace {

std::vector<wb::testing::Combination> edges() {
    auto cases = wb::testing::Covering()
                     .factor("rows", {1, 2, 5, 8, 9, 33})
                     .factor("columns",
                             {1, 3, 4, 5, 6, 8, 31, 32, 33, 61, 64, 100, 127, 130, 263})
                     .factor("x from", {0, 1, 3, 8})
                     .factor("y from", {0, 1, 2, 8})
                     .factor("place", {"apart", "in place"})
                     .factor("numbers", {"outliers", "even"})
                     .cases();
    if (wb::testing::is_watched()) cases.erase(cases.begin() + 16, cases.end());
    return cases;
}

}  // namespace

TEST_CASE("edges meet") {
    static const auto cases = edges();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_random(
                {c["rows"], c["columns"], c["x from"], c["y from"], c["place"] == 1},
                c["numbers"] == 1);
        }
}

TEST_CASE("rows for a block, at any element") {
    const int64_t columns = GENERATE(as<int64_t>(), 1029, 2048, 4109);
    grade_random({2, columns, GENERATE(as<int64_t>(), 0, 5), 1});
}

TEST_CASE("a row that is too wide for the registers of a block") {
    grade_random({1, 32'789});
}

TEST_CASE("wide rows", "[long]") {
    const int64_t columns = GENERATE(as<int64_t>(), 8205, 16'397, 32'768, 65'541);
    grade_random({1, columns, 3, 3});
}

TEST_CASE("nothing is kept from call to call") {
    wb::testing::expect_independent(
        [] {
            grade_random({3, 70});
        },
        [] {
            grade_random({9, 5}, true, 2);
        });
}

TEST_CASE("right whatever order the threads run in") {
    wb::testing::shuffle_threads(GENERATE(as<unsigned>(), 1, 2));
    grade_random({2, GENERATE(as<int64_t>(), 37, 1500)});
    wb::testing::shuffle_threads(0);
}

TEST_CASE("no rows or no columns: nothing is launched") {
    const auto [rows, columns] =
        GENERATE(table<int64_t, int64_t>({{0, 3}, {3, 0}, {0, 0}}));
    const std::string text = Sizes{rows, columns}.text();
    const auto launch = [rows = rows, columns = columns](auto* function, auto* null) {
        return
            [=](cudaStream_t stream) { function(null, null, rows, columns, stream); };
    };
    Grader("softmax", text)
        .expect_no_work(launch(&softmax, static_cast<float*>(nullptr)));
    Grader("softmax_bf16", text)
        .expect_no_work(launch(&softmax_bf16, static_cast<Bf16*>(nullptr)));
    grade_random({2, 3});
}

namespace {

template <class T>
void queue_all(const Sizes& s) {
    for (const auto& [name, idea, launcher] :
         wb::implementations(Contract<T>::kName, Contract<T>::kFunction)) {
        Grader grade(name, s.text() + ", queued only");
        const T* d_x =
            grade.input("x", std::vector<T>(static_cast<size_t>(s.count()), T(1.0f)));
        T* d_y = grade.output<T>("y", {s.rows, s.columns});
        grade.expect_queued([&, launcher = launcher](cudaStream_t stream) {
            launcher(d_x, d_y, s.rows, s.columns, stream);
        });
    }
}

}  // namespace

TEST_CASE("all work is queued on the caller's stream, and nobody waits for it") {
    const auto [rows, columns] = GENERATE(table<int64_t, int64_t>(
        {{3, 5}, {65'536, 1}, {2, 200}, {2, 3000}, {1, 40'000}, {1, 300'000}}));
    queue_all<float>({rows, columns});
    queue_all<Bf16>({rows, columns});
}
