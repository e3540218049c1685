// Grades day04-gemm/05-fused-epilogue: calls in the arrays of an earlier one, from
// which they differ in one thing; what must have the same bits each time; long sides of
// all functions; numbers below the smallest normal one.
#include "backward.h"
#include "fp8.h"
#include "mlp.h"

#include <algorithm>

using namespace fused_epilogue_grading;

namespace {

constexpr int64_t kGap = 16;  ///< the most elements between two rows

/// The matrix that lies in these numbers.
std::vector<float> matrix_in(const std::vector<float>& memory, const Layout& at) {
    std::vector<float> values(static_cast<size_t>(at.rows * at.columns));
    at.each([&](size_t from, size_t i) { values[i] = memory[from]; });
    return values;
}

std::vector<Bf16> as_bf16(const std::vector<float>& values) {
    return std::vector<Bf16>(values.begin(), values.end());
}

/// What is in an output's memory: calls write to it one after the other.
struct Written {
    std::vector<double> value;
    std::vector<double> bound;

    explicit Written(int64_t count)
        : value(static_cast<size_t>(count), double{kUntouched}),
          bound(static_cast<size_t>(count), 0.0) {}
    void write(const Wanted& exact, const Layout& at) {
        at.each([&](size_t to, size_t i) {
            value[to] = exact.value[i];
            bound[to] = bf16_bound(exact.value[i], exact.bound[i]);
        });
    }
};

/// A call, and one after it in the same arrays that is another one.
void grade_after(const Call& before, const Call& now, const std::string& what) {
    Call most = before;
    most.gap_x = most.gap_w = most.gap_y = kGap;
    const int64_t outputs = most.of_y().count();
    const Numbers memory = {random_stored(most.of_x().count(), 1, 1.0f),
                            random_stored(most.of_w().count(), 2, 0.1f),
                            random_stored(most.N, 3, 1.0f),
                            random_stored(outputs, 4, 1.0f)};
    Written y(outputs), z(outputs);
    for (const Call& c : {before, now}) {
        const Numbers numbers = {matrix_in(memory.x, c.of_x()),
                                 matrix_in(memory.w, c.of_w()),
                                 memory.bias,
                                 matrix_in(memory.residual, c.of_y())};
        const Layers layers = layers_of(c, numbers, false);
        y.write(layers.v, c.of_y());
        if (c.wants_z) z.write(layers.z, c.of_y());
    }
    for (const auto& [name, idea, function] :
         wb::implementations("linear_act", &linear_act)) {
        Grader grade(name, now.text() + ", as before but for " + what);
        const Bf16* const d_x = grade.input("x", as_bf16(memory.x));
        const Bf16* const d_w = grade.input("w", as_bf16(memory.w));
        const Bf16* const d_bias = grade.input("bias", as_bf16(memory.bias));
        const Bf16* const d_more = grade.input("residual", as_bf16(memory.residual));
        const auto untouched = as_bf16(all(outputs, kUntouched));
        Bf16* const d_y = grade.in_out("y", {outputs}, untouched);
        Bf16* const d_z = grade.in_out("z", {outputs}, untouched);
        grade.run([&, launcher = function](cudaStream_t stream) {
            for (const Call& c : {before, now})
                launcher({c.shape(),
                          c.activation,
                          d_x,
                          d_w,
                          c.has_bias ? d_bias : nullptr,
                          c.residual == Residual::apart ? d_more : nullptr},
                         d_y,
                         c.wants_z ? d_z : nullptr,
                         stream);
        });
        const auto expect = [&](const char* array, const Written& wanted) {
            grade.expect(array, wanted.value, [&](int64_t i) {
                return wanted.bound[static_cast<size_t>(i)];
            });
        };
        expect("z", z);
        expect("y", y);
    }
}

}  // namespace

TEST_CASE("once more in the same arrays, but for one thing") {
    Call c{20, 40, 40};
    c.wants_z = true;
    const auto but_for = [&](const char* what, auto change) {
        Call now = c;
        change(now);
        grade_after(c, now, what);
    };
    but_for("ldx", [](Call& now) { now.gap_x = 8; });
    but_for("ldw", [](Call& now) { now.gap_w = 8; });
    but_for("ldy", [](Call& now) { now.gap_y = 8; });
    but_for("M", [](Call& now) { now.M = 17; });
    but_for("N, in rows as long", [](Call& now) { now.N = 32, now.gap_y = 8; });
    but_for("K, in rows as long", [](Call& now) {
        now.K = 24;
        now.gap_x = now.gap_w = 16;
    });
    but_for("the activation", [](Call& now) { now.activation = Activation::gelu; });
    but_for("the bias", [](Call& now) { now.has_bias = false; });
    but_for("the residual", [](Call& now) { now.residual = Residual::apart; });
    but_for("z", [](Call& now) { now.wants_z = false; });
}

TEST_CASE("the other functions once more in the same arrays") {
    const BackwardCall c{20, 24, 40, Activation::silu, true, 8, 8, 8};
    const std::string what = ", as before but for strides and activation";
    grade_backward(c, random_numbers(c, 1), what, false, true);
    Call fp8{20, 32, 40};
    fp8.gap_x = fp8.gap_w = 8;
    fp8.gap_y = 16;
    grade_fp8(fp8, random_numbers(fp8, 1), 8.0f, what, true);
    const MlpCall layers{20, 24, 40, 16};
    grade_mlp(layers,
              random_numbers(layers, 4),
              ", as before but for bias1 and activation",
              false,
              true);
}

TEST_CASE("backward: the same bits each time") {
    // Columns whose parts cancel: what is rounded away depends on the order.
    for (const auto& [M, N, K] : {std::tuple{200, 8, 8}, std::tuple{200, 5, 3}}) {
        const BackwardCall c{M, N, K};
        BackwardNumbers n = random_numbers(c, 3);
        for (size_t i = 0; i < n.dy.size(); ++i)
            if (i / static_cast<size_t>(N) / 16 % 2 == 0) n.dy[i] *= 512.0f;
        grade_backward(c, n, ", of which half are large", true);
    }
}

TEST_CASE("backward: each side past 1024, with and without what TMA wants", "[long]") {
    grade_backward({1032, 8, 8});
    grade_backward({9, GENERATE(as<int64_t>(), 1032, 1035), 16});
    grade_backward({3, 8, 4104});
}

TEST_CASE("K and N past 4096 where all begins at multiples of 16 bytes", "[long]") {
    grade_linear_random({3, 16, 4136});
    grade_linear_random({3, 4136, 8});
}

TEST_CASE("fp8: each side past 4096", "[long]") {
    grade_fp8({3, 4112, 8}, 8.0f);
    grade_fp8({3, 16, GENERATE(as<int64_t>(), 4099, 4112)}, 8.0f);
    // The last row has the largest.
    Call c{4112, 16, 8, Activation::none, false};
    Numbers n = random_numbers(c, 2);
    for (size_t k = 0; k < 8; ++k)
        n.x[n.x.size() - 1 - k] = 4096.0f;
    grade_fp8(c, n, 1.0f, ", the last row is the largest");
}

TEST_CASE("mlp: more than 1024 of each size", "[long]") {
    grade_mlp({3, 8, GENERATE(as<int64_t>(), 1032, 1035), 16});
    grade_mlp({3, 1032, 8, 16});
    grade_mlp({3, 8, 16, 1032});
}

TEST_CASE("numbers below the smallest normal one are numbers") {
    // From 2^-133, the smallest of bf16, on: as a bias, then as residuals.
    std::vector<float> tiny;
    for (int i = 1; i <= 64; ++i)
        tiny.push_back(std::ldexp(static_cast<float>(i % 2 == 0 ? i : -i), -133));
    const auto count = static_cast<int64_t>(tiny.size());
    Call c{8, count, GENERATE(as<int64_t>(), 1, 8), Activation::none};
    c.wants_z = true;
    Numbers n = {all(8 * c.K, 0.0f), all(count * c.K, 1.0f), tiny, {}};
    n.residual = all(8 * count, 0.0f);
    grade_linear(c, n, ", a bias down to 2^-133", true);
    n.bias = all(count, 0.0f);
    c.residual = Residual::apart;
    for (size_t i = 0; i < n.residual.size(); ++i)
        n.residual[i] = tiny[i % tiny.size()];
    grade_linear(c, n, ", residuals down to 2^-133", true);
}
