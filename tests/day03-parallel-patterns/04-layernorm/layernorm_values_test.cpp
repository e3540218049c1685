// Grades day03-parallel-patterns/04-layernorm, forward: numbers at which shortcuts
// show.
#include "layernorm_cases.h"

#include <functional>

using namespace layernorm_cases;

namespace {

/// Rows of the same width, one for each kind of number.
class Rows {
 public:
    explicit Rows(int64_t columns) : columns_(columns) {}

    /// A row whose element c is value(c).
    void add(const std::function<float(int64_t)>& value) {
        for (int64_t c = 0; c < columns_; ++c)
            x_.push_back(value(c));
    }
    /// @param only  the number of a function, or all
    void grade(const std::string& what,
               int64_t only = -1,
               float eps = 1e-5f,
               bool has_statistics = true) const {
        Sizes s = {static_cast<int64_t>(x_.size()) / columns_, columns_};
        s.has_gamma = s.has_beta = s.columns % 2 == 0;
        s.eps = eps;
        s.has_mean = s.has_rstd = has_statistics;
        Numbers numbers = random_numbers({1, columns_});
        numbers.x = x_;
        grade_numbers(s, numbers, what, only);
    }

 private:
    int64_t columns_;
    std::vector<float> x_;
};

/// An ordinary element, not the same in all columns.
float some(int64_t c) {
    return 0.25f * static_cast<float>(c * 5 % 7) - 1.0f;
}

/// For a warp, several of them, a block; and no multiple of a vector.
int64_t widths() {
    return GENERATE(as<int64_t>(), 5, 40, 300, 1501, 2048);
}

}  // namespace

TEST_CASE("a large mean with a small variance keeps its digits") {
    Rows rows(widths());
    for (const float mean : {1000.0f, -3000.0f, 1e4f, -1e5f})
        rows.add([&](int64_t c) { return mean + some(c); });
    rows.add([](int64_t c) { return 1e6f + 16.0f * some(c); });
    rows.grade(", large mean", 0);
}

TEST_CASE("a mean whose square is no float any more") {
    const int64_t columns = GENERATE(as<int64_t>(), 5, 40, 300, 1501, 33'000);
    Rows rows(columns);
    rows.add([](int64_t c) { return 1e22f + 1e16f * some(c); });
    rows.grade(", very large mean", 0);
}

TEST_CASE("a large mean in 16 bits: what is stored, not what was meant") {
    Rows rows(widths());
    // The numbers of bf16 at 256 are 2 apart, those of fp16 at 2048 are 2 apart, too.
    rows.add([](int64_t c) { return 256.0f + static_cast<float>(c % 3 * 2); });
    rows.add([](int64_t c) { return -256.0f - static_cast<float>(c % 2 * 2); });
    rows.grade(", large mean", 2);
    Rows half(widths());
    half.add([](int64_t c) { return 2048.0f + static_cast<float>(c % 3 * 2); });
    half.add([](int64_t c) { return c % 2 == 0 ? 60'000.0f : 59'968.0f; });
    half.grade(", large mean", 1);
}

TEST_CASE("sums of squares that fp16 cannot hold") {
    Rows rows(widths());
    rows.add([](int64_t c) { return c % 2 == 0 ? 3000.0f : -2000.0f; });
    rows.add([](int64_t c) { return 500.0f * some(c); });
    rows.grade(", large numbers");
}

TEST_CASE("elements that are all alike: beta is left") {
    Rows rows(widths());
    rows.add([](int64_t) { return 0.0f; });
    rows.add([](int64_t) { return 0.1f; });
    rows.add([](int64_t) { return -1000.0f; });
    rows.add([](int64_t c) { return c % 2 == 0 ? 0.0f : -0.0f; });
    rows.grade(", all alike");
}

TEST_CASE("eps is added to the variance, under the root") {
    Rows rows(widths());
    rows.add(some);
    rows.add([](int64_t c) { return 0.001f * some(c); });
    rows.add([](int64_t c) { return 1e-4f * some(c); });
    const float eps = GENERATE(1e-5f, 1e-12f, 0.5f, 100.0f);
    rows.grade(", eps " + std::to_string(eps), -1, eps);
}

TEST_CASE("without eps") {
    Rows rows(widths());
    rows.add(some);
    rows.add([](int64_t c) { return 1e-6f * some(c); });
    rows.grade(", eps 0", 0, 0.0f);
    rows.grade(", eps 0", 3, 0.0f);
}

TEST_CASE("an eps below the smallest normal number is not 0") {
    Rows rows(widths());
    rows.add([](int64_t) { return 0.0f; });
    rows.add(some);
    rows.grade(", eps 1e-40", GENERATE(as<int64_t>(), 0, 3), 1e-40f);
}

TEST_CASE("what is too large for fp16 is infinite, and not its largest number") {
    Sizes s = {3, widths()};
    Numbers numbers = random_numbers(s);
    for (size_t c = 0; c < numbers.gamma.size(); ++c)
        numbers.gamma[c] = c % 2 == 0 ? 60'000.0f : 1.0f;
    numbers.x[0] = 4.0f, numbers.x.back() = -4.0f;
    for (size_t i = 0; i < numbers.x.size(); i += 2)
        numbers.x[i] *= 3.0f;
    grade_numbers(s, numbers, ", gamma of 60000", GENERATE(as<int64_t>(), 1, 4));
}

namespace {

/// A call, and another one in the same arrays, with another eps.
template <class T>
void grade_after(bool is_centered) {
    Sizes s = {4, 70};
    s.eps = 2.0f;
    const Numbers numbers = random_numbers(s);
    for (const auto& [name, idea, call] : forward<T>(is_centered).versions()) {
        Grader grade(name, s.text() + ", as before but for eps");
        Numbers in;
        Norm<T> norm = {};
        norm.x = input_from<T>(grade, "x", 0, numbers.x, in.x);
        norm.y = grade.output<T>("y", {s.rows, s.columns});
        norm.rows = s.rows;
        norm.columns = s.columns;
        grade.run([&, launcher = call](cudaStream_t stream) {
            for (const float eps : {0.25f, s.eps}) {
                norm.eps = eps;
                launcher(norm, stream);
            }
        });
        const auto want = wanted<T>(in, s, is_centered);
        grade.expect("y", want.y, [&](int64_t i) { return want.y_bound[at(i)]; });
    }
}

}  // namespace

TEST_CASE("once more in the same arrays, with another eps") {
    grade_after<float>(true);
    grade_after<Bf16>(false);
}

TEST_CASE("one large element, wherever it stands") {
    const int64_t columns = widths();
    Rows rows(columns);
    for (const int64_t place : {int64_t{0}, columns / 2, columns - 1})
        rows.add([&](int64_t c) { return c == place ? 1000.0f : some(c); });
    rows.grade(", one large element");
}

TEST_CASE("rows that rise, rows that fall, and halves that differ") {
    const int64_t columns = widths();
    const float step = 20.0f / static_cast<float>(columns);
    Rows rows(columns);
    rows.add([&](int64_t c) { return step * static_cast<float>(c); });
    rows.add([&](int64_t c) { return -step * static_cast<float>(c); });
    // The mean of a warp, or of a thread, is not that of the row.
    rows.add([&](int64_t c) { return (c < columns / 2 ? 100.0f : -50.0f) + some(c); });
    rows.add([](int64_t c) { return (c / 32 % 2 == 0 ? 64.0f : 96.0f) + some(c); });
    rows.grade(", rise and fall");
}

TEST_CASE("a NaN makes all of its row NaN, and no other row") {
    const int64_t columns = widths();
    Rows rows(columns);
    for (const float number : {kNan, -kNan})
        for (const int64_t place : {int64_t{0}, columns / 2, columns - 1}) {
            rows.add([&](int64_t c) { return c == place ? number : some(c); });
            rows.add(some);
        }
    rows.grade(", NaN");
}

TEST_CASE("an infinity: NaN in a LayerNorm, rstd 0 in an RMSNorm") {
    const int64_t columns = widths();
    Rows rows(columns);
    for (const float number : {kInfinity, -kInfinity}) {
        rows.add([&](int64_t c) { return c == columns - 1 ? number : some(c); });
        rows.add(some);
        rows.add([&](int64_t c) { return c < 2 ? number : some(c); });
    }
    // Whether the mean is NaN or infinite is not said.
    rows.grade(", infinities", GENERATE(as<int64_t>(), 0, 1, 2), 1e-5f, false);
    rows.grade(", infinities", GENERATE(as<int64_t>(), 3, 5));
}

TEST_CASE("a NaN in gamma or beta: its column, and no other") {
    Sizes s = {3, widths()};
    Numbers numbers = random_numbers(s);
    numbers.gamma[1] = kNan;
    numbers.beta[3] = kNan;
    grade_numbers(s, numbers, ", NaN in gamma and beta", GENERATE(as<int64_t>(), 0, 5));
}

TEST_CASE("y is rounded once, from a float") {
    // 1 + 2^-9 times gamma and beta: rounded to bf16 before beta is added it is 1.
    Sizes s = {2, 64};
    Numbers numbers = random_numbers(s, 3);
    for (size_t c = 0; c < numbers.gamma.size(); ++c) {
        numbers.gamma[c] = 4.0f;
        // Beta nearly takes y away: what is left are the digits of the product.
        numbers.beta[c] = c % 2 == 0 ? -4.0f : 4.0f;
        for (size_t r = 0; r < 2; ++r)
            numbers.x[r * 64 + c] =
                (c % 2 == 0 ? 1.0f : -1.0f) + 0.0078125f * static_cast<float>(c % 5);
    }
    grade_numbers(s, numbers, ", beta nearly takes y away");
}
