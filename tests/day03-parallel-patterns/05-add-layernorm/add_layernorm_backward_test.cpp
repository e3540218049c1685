// Grades day03-parallel-patterns/05-add-layernorm, backward: dx, dmul, dgamma, dbeta.
#include "add_layernorm_cases.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

using namespace add_layernorm_cases;

namespace {

using Gradient = wb::reference::NormMulDropoutBackward;

Gradient random_gradient(const Sizes& s, uint64_t seed) {
    const Numbers numbers = random_numbers(s, seed);
    Gradient in = {
        wb::testing::random_normal(s.count(), seed + 300),
        numbers.x,
        numbers.other,
        numbers.gamma,
        numbers.beta,
        {},
        {},
        s.rows,
        s.columns,
        {static_cast<double>(s.dropout.p), s.dropout.seed, s.dropout.offset}};
    for (int64_t r = 0; r < s.rows; ++r) {
        const auto row = wb::reference::row_moments(
            in.x.data() + r * s.columns, s.columns, 1e-5, true);
        in.mean.push_back(static_cast<float>(row.mean));
        // As if eps was large, so that a row of one element has a gradient, too.
        in.rstd.push_back(static_cast<float>(std::min(row.rstd, 2.0)));
    }
    return in;
}

/// The bounds of results with these roundings of these sizes.
template <class T>
std::vector<double> bounds(const std::vector<double>& exact,
                           const std::vector<double>& sizes,
                           double roundings) {
    std::vector<double> result;
    for (size_t i = 0; i < exact.size(); ++i) {
        const double bound = wb::testing::gamma(roundings, kU) * sizes[i];
        result.push_back(wb::testing::norm_bound<T>(exact[i], bound));
    }
    return result;
}

/// What is looked at besides: that the bits are the same in any order; or that a call
/// is right after one in the same arrays, of another mask and another stride of x.
enum class Also { nothing, same_bits, after_another };

template <class T>
void grade_one_gradient(const std::string& name,
                        void (*launcher)(const FusedNormGradient<T>&, cudaStream_t),
                        const Sizes& s,
                        const Gradient& numbers,
                        bool has_dgamma,
                        bool has_dbeta,
                        const std::string& what,
                        Also also = Also::nothing) {
    Grader grade(name, s.text() + what);
    const Lie dx_lie = s.out(0, Alone::dx);
    const Lie dmul_lie = s.out(1, Alone::dmul);
    const auto sum_lie = [&](Alone which) {
        return Lie{s.y_from + (s.alone == which), 0, 1, s.columns};
    };
    Gradient in = numbers;
    for (Floats* values : {&in.dy, &in.x, &in.mul, &in.gamma, &in.beta})
        *values = stored<T>(*values);
    FusedNormGradient<T> norm = {};
    norm.rows = s.rows;
    norm.columns = s.columns;
    norm.dropout = s.dropout;
    norm.dy = input<T>(grade, "dy", s.in(0, Alone::dy), in.dy);
    norm.x = input<T>(grade, "x", s.in(1, Alone::x), in.x);
    norm.mul = input<T>(grade, "mul", s.in(2, Alone::other), in.mul);
    norm.gamma = input<T>(grade, "gamma", s.in_row(Alone::gamma), in.gamma).data;
    norm.beta = input<T>(grade, "beta", s.in_row(Alone::beta), in.beta).data;
    norm.mean = grade.input("mean", in.mean, s.of_rows());
    norm.rstd = grade.input("rstd", in.rstd, s.of_rows());
    norm.dx = output<T>(grade, "dx", dx_lie);
    norm.dmul = output<T>(grade, "dmul", dmul_lie);
    const Lie dgamma_lie = sum_lie(Alone::dgamma);
    const Lie dbeta_lie = sum_lie(Alone::dbeta);
    if (has_dgamma) norm.dgamma = output<T>(grade, "dgamma", dgamma_lie).data;
    if (has_dbeta) norm.dbeta = output<T>(grade, "dbeta", dbeta_lie).data;
    const auto want = wb::reference::norm_mul_dropout_backward(in);
    const double columns = wb::testing::most_additions(s.columns);
    const double rows = wb::testing::most_additions(s.rows);
    grade.run([&](cudaStream_t stream) {
        if (also == Also::after_another) {
            auto before = norm;
            before.x.row_stride = s.columns;
            before.dropout.offset += 1;
            launcher(before, stream);
        }
        launcher(norm, stream);
    });
    const auto check = [&](const char* array,
                           const Lie& lie,
                           const std::vector<double>& exact,
                           const std::vector<double>& sizes,
                           double roundings) {
        expect(grade, array, lie, exact, bounds<T>(exact, sizes, roundings));
    };
    check("dx", dx_lie, want.dx, want.dx_size, columns + 16.0);
    check("dmul", dmul_lie, want.dmul, want.dmul_size, 12.0);
    if (has_dgamma)
        check("dgamma", dgamma_lie, want.dgamma, want.dgamma_size, rows + 7.0);
    if (has_dbeta) check("dbeta", dbeta_lie, want.dbeta, want.dbeta_size, rows + 7.0);
    if (also == Also::same_bits) grade.expect_same_bits();
}

/// All versions for floats, or for bf16.
void grade_numbers_of(const Sizes& s,
                      bool is_bf16,
                      const Gradient& numbers,
                      const std::string& what,
                      bool has_dgamma = true,
                      bool has_dbeta = true) {
    if (is_bf16) {
        for (const auto& [name, idea, call] : wb::implementations(
                 "norm_mul_dropout_backward_bf16", norm_mul_dropout_backward_bf16))
            grade_one_gradient<Bf16>(
                name, call, s, numbers, has_dgamma, has_dbeta, what);
        return;
    }
    for (const auto& [name, idea, call] :
         wb::implementations("norm_mul_dropout_backward", norm_mul_dropout_backward))
        grade_one_gradient<float>(name, call, s, numbers, has_dgamma, has_dbeta, what);
}

void grade_gradient(const Sizes& s,
                    bool is_bf16,
                    bool has_dgamma = true,
                    bool has_dbeta = true,
                    uint64_t seed = 1) {
    std::string what = ", seed " + std::to_string(seed);
    if (!has_dgamma) what += ", no dgamma";
    if (!has_dbeta) what += ", no dbeta";
    grade_numbers_of(s, is_bf16, random_gradient(s, seed), what, has_dgamma, has_dbeta);
}

}  // namespace

TEST_CASE("gradients of rows around the sizes of warps, vectors and blocks") {
    const auto [rows, columns] = GENERATE(table<int64_t, int64_t>({{1, 1},
                                                                   {33, 1},
                                                                   {3, 2},
                                                                   {1, 31},
                                                                   {31, 32},
                                                                   {32, 33},
                                                                   {3, 269},
                                                                   {3, 1024},
                                                                   {2, 2568},
                                                                   {2, 4096}}));
    grade_gradient({rows, columns}, false);
    grade_gradient({rows, columns}, true);
}

TEST_CASE("gradients of many rows") {
    const auto [rows, columns] =
        GENERATE(table<int64_t, int64_t>({{129, 17}, {700, 8}, {90, 264}, {40, 1032}}));
    if (wb::testing::is_watched() && rows > 200) return;
    const wb::testing::FewMultiprocessors few(2);  // each block has several rows
    grade_gradient({rows, columns}, columns % 3 == 0);
}

namespace {

/// The contract's function for bf16 alone: the simulator needs a while for so many
/// rows, or columns.
void grade_contract(const Sizes& s, bool has_sums) {
    grade_one_gradient<Bf16>("norm_mul_dropout_backward_bf16",
                             norm_mul_dropout_backward_bf16,
                             s,
                             random_gradient(s, 1),
                             has_sums,
                             has_sums,
                             ", the contract alone");
}

}  // namespace

TEST_CASE("gradients of thousands of rows, or of more than 2^18 columns", "[long]") {
    grade_contract({kManyRows, 72}, true);
    grade_contract({1, 262'160}, false);
}

TEST_CASE("gradients of wide rows") {
    grade_gradient({3, 4108}, false);
    grade_gradient({2, 8200, 0, 8}, true);
    grade_gradient({2, 8203, 1, 1, 1, 1}, GENERATE(false, true));
}

TEST_CASE("gradients of very wide rows", "[long]") {
    grade_gradient({1, 20'003, 1, 1}, GENERATE(false, true));
}

namespace {

std::vector<wb::testing::Combination> gradient_edges() {
    auto cases = wb::testing::Covering()
                     .factor("rows", {1, 2, 5, 33, 70})
                     .factor("columns", {1, 3, 8, 16, 31, 33, 64, 130, 264})
                     .factor("from", {0, 1, 8})
                     .factor("gap", {0, 3, 8})
                     .factor("to", {0, 2, 8})
                     .factor("gap of results", {0, 1, 16})
                     .factor("wanted", {"none", "dgamma", "dbeta", "both"})
                     .factor("type", {"float", "bf16"})
                     .factor("dropped", {"none", "some", "nearly all"})
                     .factor("multiprocessors", {1, 132})
                     .cases();
    if (wb::testing::is_watched()) cases.erase(cases.begin() + 20, cases.end());
    return cases;
}

}  // namespace

TEST_CASE("edges of gradients meet") {
    static const auto cases = gradient_edges();
    const float part[] = {0.0f, 0.4f, 0.97f};
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            const wb::testing::FewMultiprocessors few(
                static_cast<int>(c["multiprocessors"]));
            Sizes s = {c["rows"],
                       c["columns"],
                       c["from"],
                       c["gap"],
                       c["to"],
                       c["gap of results"]};
            s.dropout = {part[c["dropped"]], 3, 1};
            const int64_t wanted = c["wanted"];
            grade_gradient(s, c["type"] == 1, wanted % 2 == 1, wanted >= 2);
        }
}

TEST_CASE("the mask is that of the forward pass, whatever seed and offset are") {
    Sizes s = {5, GENERATE(as<int64_t>(), 7, 264)};
    s.dropout = {0.5f, 0xFEDCBA9876543210, 0x123456789ABCDEF};
    grade_gradient(s, false);
    s.dropout.offset += 1;
    grade_gradient(s, true);
}

TEST_CASE("gradients: one array begins later than the others") {
    Sizes s = {3, 64};
    s.alone = GENERATE(Alone::dy,
                       Alone::x,
                       Alone::other,
                       Alone::gamma,
                       Alone::beta,
                       Alone::dx,
                       Alone::dmul,
                       Alone::dgamma,
                       Alone::dbeta);
    grade_gradient(s, false);
    grade_gradient(s, true);
}

TEST_CASE("gradients have the same bits, in any order of threads and blocks") {
    const Sizes s = {150, 5};
    auto numbers = random_gradient(s, 1);
    for (size_t i = 0; i < numbers.dy.size(); i += 2)
        numbers.dy[i] *= 1000.0f;  // of which sums lose the others' digits
    for (const auto& [name, idea, call] :
         wb::implementations("norm_mul_dropout_backward", norm_mul_dropout_backward))
        grade_one_gradient<float>(name,
                                  call,
                                  s,
                                  numbers,
                                  true,
                                  true,
                                  ", some of dy are large",
                                  Also::same_bits);
}

TEST_CASE("gradients once more in the same arrays, but for mask and stride") {
    const Sizes s = {5, 64, 0, 8};
    for (const auto& [name, idea, call] :
         wb::implementations("norm_mul_dropout_backward", norm_mul_dropout_backward))
        grade_one_gradient<float>(name,
                                  call,
                                  s,
                                  random_gradient(s, 1),
                                  true,
                                  true,
                                  ", as before but for mask and stride",
                                  Also::after_another);
}

TEST_CASE("a NaN where it is dropped changes nothing, elsewhere its row and columns") {
    Sizes s = {6, GENERATE(as<int64_t>(), 6, 300, 1504)};
    s.dropout.p = 0.5f;
    auto numbers = random_gradient(s, 1);
    for (const int64_t row : {1, 3})
        for (int64_t c = 0; c < s.columns; ++c) {
            const bool is_dropped = numbers.mask.factor(row, c) == 0.0;
            const auto i = at(row * s.columns + c);
            if (row == 1 && is_dropped) numbers.dy[i] = kNan;
            if (row == 1 && is_dropped) numbers.mul[i] = kInfinity;
            if (row == 3 && c == s.columns - 1) numbers.dy[i] = kNan;
            if (row == 3 && c == 0) numbers.mul[i] = kNan;
        }
    grade_numbers_of(s, false, numbers, ", NaN");
    grade_numbers_of(s, true, numbers, ", NaN");
}

TEST_CASE("gradients without rows: sums of nothing are 0") {
    Grader grade("norm_mul_dropout_backward", "rows 0, columns 5");
    FusedNormGradient<float> norm = {};
    norm.dgamma = grade.output<float>("dgamma", {5});
    norm.dbeta = grade.output<float>("dbeta", {5});
    norm.columns = 5;
    grade.run([&](cudaStream_t stream) { norm_mul_dropout_backward(norm, stream); });
    for (const char* const name : {"dgamma", "dbeta"})
        grade.expect(name, std::vector<double>(5, 0.0), [](int64_t) { return 0.0; });
    norm.dgamma = norm.dbeta = nullptr;
    Grader("norm_mul_dropout_backward", "rows 0, nothing wanted")
        .expect_no_work(
            [&](cudaStream_t stream) { norm_mul_dropout_backward(norm, stream); });
    norm.rows = 3;
    norm.columns = 0;
    Grader("norm_mul_dropout_backward", "columns 0")
        .expect_no_work(
            [&](cudaStream_t stream) { norm_mul_dropout_backward(norm, stream); });
}

TEST_CASE("nothing of a gradient is kept from call to call") {
    wb::testing::expect_independent(
        [] {
            grade_gradient({3, 72}, false);
        },
        [] {
            grade_gradient({20, 301}, false, true, true, 2);
            grade_gradient({1, 4108}, false, true, true, 2);
        });
}

TEST_CASE("gradients are right whatever order the threads run in") {
    wb::testing::shuffle_threads(GENERATE(as<unsigned>(), 1, 2));
    const wb::testing::FewMultiprocessors few(1);
    grade_gradient({9, GENERATE(as<int64_t>(), 37, 1500)}, false);
    wb::testing::shuffle_threads(0);
}
