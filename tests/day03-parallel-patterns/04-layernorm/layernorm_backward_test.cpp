// Grades day03-parallel-patterns/04-layernorm, backward: dx, dgamma and dbeta.
#include "layernorm_cases.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

using namespace layernorm_cases;

namespace {

/// Which arrays a call has.
struct Arrays {
    bool gamma = true;
    bool dx = true;
    bool dgamma = true;
    bool dbeta = true;
};

/// The forward numbers with a gradient of y, and mean and rstd as floats.
wb::reference::NormBackward random_gradient(const Sizes& s,
                                            bool is_centered,
                                            uint64_t seed) {
    const Numbers numbers = random_numbers(s, seed);
    wb::reference::NormBackward in = {wb::testing::random_normal(s.count(), seed + 300),
                                      numbers.x,
                                      numbers.gamma,
                                      {},
                                      {},
                                      s.rows,
                                      s.columns};
    for (int64_t r = 0; r < s.rows; ++r) {
        const auto row = wb::reference::row_moments(
            in.x.data() + r * s.columns, s.columns, 1e-5, is_centered);
        if (is_centered) in.mean.push_back(static_cast<float>(row.mean));
        // As if eps was large, so that a row of one element has a gradient, too.
        in.rstd.push_back(static_cast<float>(std::min(row.rstd, 2.0)));
    }
    return in;
}

/// An output behind `before` elements that must stay.
template <class T>
T* output_from(Grader& grade, const char* name, int64_t before, int64_t count) {
    if (before == 0) return grade.output<T>(name, {count});
    const std::vector<T> all(at(before + count), T(7.0f));
    return grade.in_out(name, {before + count}, all) + before;
}

template <class T, class Bounds>
void expect_behind(Grader& grade,
                   const char* name,
                   int64_t before,
                   const std::vector<double>& exact,
                   Bounds bounds) {
    std::vector<double> expected(at(before), 7.0);
    expected.insert(expected.end(), exact.begin(), exact.end());
    grade.expect(name, expected, [&](int64_t i) {
        return i < before ? 0.0 : bounds(at(i - before));
    });
}

/// What is looked at besides: that the bits are the same in any order; or that a call
/// is right after one in the same arrays, without gamma.
enum class Also { nothing, same_bits, after_another };

template <class T>
void grade_one_gradient(const std::string& name,
                        void (*launcher)(const NormGradient<T>&, cudaStream_t),
                        bool is_centered,
                        const Sizes& s,
                        const wb::reference::NormBackward& numbers,
                        const Arrays& has,
                        const std::string& what,
                        Also also = Also::nothing) {
    Grader grade(name, s.text() + what);
    auto in = numbers;
    in.gamma.clear();
    const auto input =
        [&](const char* array, Alone which, const auto& values, auto& stored) {
            return input_from<T>(
                grade, array, s.place(s.x_from, which), values, stored);
        };
    NormGradient<T> norm = {};
    norm.rows = s.rows;
    norm.columns = s.columns;
    norm.dy = input("dy", Alone::dy, numbers.dy, in.dy);
    norm.x = input("x", Alone::x, numbers.x, in.x);
    if (has.gamma) norm.gamma = input("gamma", Alone::gamma, numbers.gamma, in.gamma);
    if (is_centered) norm.mean = grade.input("mean", in.mean, s.of_rows());
    norm.rstd = grade.input("rstd", in.rstd, s.of_rows());
    const auto output = [&](const char* array, Alone which, int64_t count) {
        return output_from<T>(grade, array, s.place(s.y_from, which), count);
    };
    if (has.dx) norm.dx = output("dx", Alone::dx, s.count());
    if (has.dgamma) norm.dgamma = output("dgamma", Alone::dgamma, s.columns);
    if (has.dbeta) norm.dbeta = output("dbeta", Alone::dbeta, s.columns);
    const auto before = [&](Alone which) { return s.place(s.y_from, which); };
    const auto want = wb::reference::norm_backward(in);
    const double rows = wb::testing::most_additions(s.rows);
    const double columns = wb::testing::most_additions(s.columns);
    const auto bound = [](double exact, double roundings, double size) {
        const double u = wb::testing::kUnitRoundoff<float>;
        return wb::testing::norm_bound<T>(exact,
                                          wb::testing::gamma(roundings, u) * size);
    };
    if (also == Also::after_another) {
        auto before = norm;
        before.gamma = nullptr;
        grade.run([&](cudaStream_t stream) { launcher(before, stream); });
    }
    grade.run([&](cudaStream_t stream) { launcher(norm, stream); });
    if (has.dx)
        expect_behind<T>(grade, "dx", before(Alone::dx), want.dx, [&](size_t i) {
            return bound(want.dx[i], columns + 12.0, want.dx_size[i]);
        });
    if (has.dgamma)
        expect_behind<T>(
            grade, "dgamma", before(Alone::dgamma), want.dgamma, [&](size_t i) {
                return bound(want.dgamma[i], rows + 3.0, want.dgamma_size[i]);
            });
    if (has.dbeta)
        expect_behind<T>(
            grade, "dbeta", before(Alone::dbeta), want.dbeta, [&](size_t i) {
                return bound(want.dbeta[i], rows + 3.0, want.dbeta_size[i]);
            });
    if (also == Also::same_bits) grade.expect_same_bits();
}

/// All versions of the backward function with this number.
void grade_gradient(const Sizes& s,
                    int64_t number,
                    const Arrays& has = {},
                    uint64_t seed = 1) {
    std::string what = ", seed " + std::to_string(seed);
    if (!has.gamma) what += ", no gamma";
    if (!has.dx) what += ", no dx";
    if (!has.dgamma) what += ", no dgamma";
    if (!has.dbeta) what += ", no dbeta";
    with_function(number, [&]<class T>(bool is_centered) {
        const auto numbers = random_gradient(s, is_centered, seed);
        for (const auto& [name, idea, call] : backward<T>(is_centered).versions())
            grade_one_gradient<T>(name, call, is_centered, s, numbers, has, what);
    });
}

void grade_gradients(const Sizes& s) {
    for (int64_t number = 0; number < kFunctions; ++number)
        grade_gradient(s, number);
}

}  // namespace

TEST_CASE("gradients of rows around the size of a warp") {
    const auto [rows, columns] = GENERATE(table<int64_t, int64_t>(
        {{1, 1}, {33, 1}, {3, 2}, {1, 31}, {31, 32}, {32, 33}, {2, 64}}));
    grade_gradients({rows, columns});
}

TEST_CASE("gradients of rows around the sizes of vectors and blocks") {
    const int64_t columns = GENERATE(
        as<int64_t>(), 100, 256, 257, 269, 1000, 1024, 1031, 2048, 2056, 4096, 4097);
    grade_gradient({3, columns}, columns % 6);
    grade_gradient({3, columns}, (columns + 3) % 6);
}

TEST_CASE("gradients of many rows") {
    const auto [rows, columns] = GENERATE(table<int64_t, int64_t>(
        {{129, 17}, {700, 8}, {1100, 3}, {90, 264}, {70, 1032}, {1100, 72}}));
    if (wb::testing::is_watched() && rows > 200) return;
    const wb::testing::FewMultiprocessors few(2);  // each block has several rows
    grade_gradient({rows, columns}, 0);
    if (rows * columns > 75'000) return;
    grade_gradient({rows, columns}, 5);
}

TEST_CASE("gradients of thousands of rows, for the contract alone", "[long]") {
    const Sizes s = {kManyRows, 2};
    grade_one_gradient<Bf16>("layer_norm_backward_bf16",
                             layer_norm_backward_bf16,
                             true,
                             s,
                             random_gradient(s, true, 1),
                             {},
                             ", the contract alone");
}

TEST_CASE("gradients of wide rows") {
    grade_gradient({2, 8192}, 2);
    grade_gradient({2, 16'392}, 2);
    grade_gradient({3, 8200}, 0);
    grade_gradient({2, 8200}, 4);
    grade_gradient({2, 10'001, 1, 1}, 3);
}

TEST_CASE("gradients of very wide rows", "[long]") {
    grade_gradient({2, 33'000}, 0);
    grade_gradient({1, 65'545, 1, 1}, 5);  // more than 16 bits count
}

namespace {

std::vector<wb::testing::Combination> gradient_edges() {
    auto cases = wb::testing::Covering()
                     .factor("rows", {1, 2, 5, 8, 33, 70})
                     .factor("columns", {1, 3, 4, 8, 16, 31, 33, 64, 100, 130, 264})
                     .factor("x from", {0, 1, 3, 8})
                     .factor("dx from", {0, 2, 8})
                     .factor("gamma", {"no", "yes"})
                     .factor("wanted", {"dx", "dgamma", "dbeta", "sums", "all"})
                     .factor("function", {0, 1, 2, 3, 4, 5})
                     .factor("multiprocessors", {1, 132})
                     .cases();
    if (wb::testing::is_watched()) cases.erase(cases.begin() + 24, cases.end());
    return cases;
}

}  // namespace

TEST_CASE("edges of gradients meet") {
    static const auto cases = gradient_edges();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            const wb::testing::FewMultiprocessors few(
                static_cast<int>(c["multiprocessors"]));
            const std::string& which = c.words("wanted");
            const bool all = which == "all";
            const bool sums = all || which == "sums";
            grade_gradient({c["rows"], c["columns"], c["x from"], c["dx from"]},
                           c["function"],
                           {c["gamma"] == 1,
                            all || which == "dx",
                            sums || which == "dgamma",
                            sums || which == "dbeta"});
        }
}

TEST_CASE("a NaN in dy or x: its row of dx, its column of the sums, no other") {
    const Sizes s = {4, GENERATE(as<int64_t>(), 6, 300, 1500)};
    auto numbers = random_gradient(s, true, 1);
    numbers.dy[at(s.columns)] = kNan;              // row 1, column 0
    numbers.x[at(3 * s.columns - 1)] = kInfinity;  // row 2, the last column
    for (const auto& [name, idea, call] : backward<float>(true).versions())
        grade_one_gradient<float>(
            name, call, true, s, numbers, {}, ", NaN and infinity");
}

TEST_CASE("gradients: one array begins later than the others") {
    Sizes s = {3, 64};
    s.alone = GENERATE(
        Alone::dy, Alone::x, Alone::gamma, Alone::dx, Alone::dgamma, Alone::dbeta);
    grade_gradient(s, 0);
    grade_gradient(s, 5);
}

TEST_CASE("gradients of a large mean") {
    const Sizes s = {4, GENERATE(as<int64_t>(), 40, 300)};
    auto numbers = random_gradient(s, true, 1);
    for (size_t i = 0; i < numbers.x.size(); ++i)
        numbers.x[i] = 1e7f + 16.0f * std::round(numbers.x[i]);
    for (int64_t r = 0; r < s.rows; ++r) {
        const auto row = wb::reference::row_moments(
            numbers.x.data() + r * s.columns, s.columns, 1e-5, true);
        numbers.mean[at(r)] = static_cast<float>(row.mean);
        numbers.rstd[at(r)] = static_cast<float>(row.rstd);
    }
    for (const auto& [name, idea, call] : backward<float>(true).versions())
        grade_one_gradient<float>(name, call, true, s, numbers, {}, ", mean 1e7");
}

TEST_CASE("gradients have the same bits, in any order of threads and blocks") {
    const Sizes s = {150, 5};
    auto numbers = random_gradient(s, true, 1);
    for (size_t i = 0; i < numbers.dy.size(); i += 2)
        numbers.dy[i] *= 1000.0f;  // of which sums lose the others' digits
    for (const auto& [name, idea, call] : backward<float>(true).versions())
        grade_one_gradient<float>(name,
                                  call,
                                  true,
                                  s,
                                  numbers,
                                  {},
                                  ", some of dy are large",
                                  Also::same_bits);
}

TEST_CASE("gradients once more in the same arrays, with gamma") {
    const Sizes s = {4, 70};
    for (const auto& [name, idea, call] : backward<float>(true).versions())
        grade_one_gradient<float>(name,
                                  call,
                                  true,
                                  s,
                                  random_gradient(s, true, 1),
                                  {},
                                  ", as before but for gamma",
                                  Also::after_another);
}

TEST_CASE("gradients without rows: sums of nothing are 0") {
    const int64_t columns = 5;
    with_function(GENERATE(as<int64_t>(), 0, 1, 5), [&]<class T>(bool is_centered) {
        const auto function = backward<T>(is_centered);
        Grader grade(function.name, "rows 0, columns 5");
        NormGradient<T> norm = {};
        norm.dgamma = grade.output<T>("dgamma", {columns});
        norm.dbeta = grade.output<T>("dbeta", {columns});
        norm.columns = columns;
        grade.run([&](cudaStream_t stream) { function.call(norm, stream); });
        const std::vector<double> zeros(at(columns), 0.0);
        grade.expect("dgamma", zeros, [](int64_t) { return 0.0; });
        grade.expect("dbeta", zeros, [](int64_t) { return 0.0; });
    });
}

TEST_CASE("nothing of a gradient is kept from call to call") {
    wb::testing::expect_independent(
        [] {
            grade_gradient({3, 70}, 0, {true, true, false, false});
        },
        [] {
            grade_gradient({20, 301}, 0, {}, 2);
        });
}

TEST_CASE("gradients are right whatever order the threads run in") {
    wb::testing::shuffle_threads(GENERATE(as<unsigned>(), 1, 2));
    const wb::testing::FewMultiprocessors few(1);
    grade_gradient({9, GENERATE(as<int64_t>(), 37, 1500)}, 0);
    wb::testing::shuffle_threads(0);
}
