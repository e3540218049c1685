// Grades day03-parallel-patterns/04-layernorm: arguments, how gradients are queued,
// long arrays.
#include "layernorm_cases.h"

#include <wb/testing/large.h>
#include <wb/testing/refuses.h>

#include <cmath>

using namespace layernorm_cases;
using wb::testing::misaligned;
using wb::testing::Refuses;

namespace {

constexpr int64_t kHuge = int64_t{1} << 31;

template <class T>
void refuse_forward(bool is_centered) {
    Grader memory(forward<T>(is_centered).name, "wrong arguments");
    T* const d = memory.output<T>("d", {100});
    float* const f = memory.output<float>("f", {100});
    T host[8] = {};
    const Norm<T> right = {d, d + 20, d + 30, d + 40, nullptr, f + 10, 2, 4, 1e-5f};
    const auto [name, call] = forward<T>(is_centered);
    const Refuses<Norm<T>> refuse = {name, call, right};
    refuse("rows is -1", [](auto& n) { n.rows = -1; });
    refuse("columns is -7", [](auto& n) { n.rows = 0, n.columns = -7; });
    refuse("rows is 2147483648", [](auto& n) { n.rows = kHuge; });
    refuse("columns is 2147483648", [](auto& n) { n.columns = kHuge; });
    refuse("eps is -0.5", [](auto& n) { n.eps = -0.5f; });
    refuse("eps is nan", [](auto& n) { n.eps = kNan; });
    refuse("eps is inf", [](auto& n) { n.eps = kInfinity; });
    refuse("x is a null pointer", [](auto& n) { n.x = nullptr; });
    refuse("y is a null pointer", [](auto& n) { n.y = nullptr; });
    refuse("x is a host pointer", [&](auto& n) { n.x = host; });
    refuse("gamma is a host pointer", [&](auto& n) { n.gamma = host; });
    refuse("beta is a host pointer", [&](auto& n) { n.beta = host; });
    refuse("x is not aligned", [](auto& n) { n.x = misaligned(n.x); });
    refuse("gamma is not aligned", [](auto& n) { n.gamma = misaligned(n.gamma); });
    refuse("beta is not aligned", [](auto& n) { n.beta = misaligned(n.beta); });
    refuse("y is not aligned", [](auto& n) { n.y = misaligned(n.y); });
    refuse("rstd is not aligned", [](auto& n) { n.rstd = misaligned(n.rstd); });
    refuse("y - x in bytes is", [](auto& n) { n.y = const_cast<T*>(n.x) + 7; });
    refuse("y - gamma in bytes is", [](auto& n) { n.gamma = n.y + 7; });
    refuse("y - beta in bytes is", [](auto& n) { n.beta = n.y - 3; });
    const auto as_t = [](float* array) { return reinterpret_cast<T*>(array); };
    refuse("rstd - x in bytes is 0", [&](auto& n) { n.x = as_t(n.rstd); });
    refuse("rstd - y in bytes is 0", [&](auto& n) { n.y = as_t(n.rstd); });
    if (is_centered) {
        refuse("mean is not aligned", [&](auto& n) { n.mean = misaligned(f); });
        refuse("rstd - mean in bytes is 4", [&](auto& n) { n.mean = n.rstd - 1; });
    } else {
        refuse("mean given is 1", [&](auto& n) { n.mean = f; });
        refuse("mean given is 1", [&](auto& n) { n.mean = f, n.rows = 0; });
    }
}

template <class T>
void refuse_backward(bool is_centered) {
    Grader memory(backward<T>(is_centered).name, "wrong arguments");
    T* const d = memory.output<T>("d", {100});
    float* const f = memory.output<float>("f", {100});
    T host[8] = {};
    const NormGradient<T> right = {d,
                                   d + 10,
                                   d + 20,
                                   is_centered ? f : nullptr,
                                   f + 10,
                                   d + 30,
                                   d + 40,
                                   d + 50,
                                   2,
                                   4};
    const auto [name, call] = backward<T>(is_centered);
    const Refuses<NormGradient<T>> refuse = {name, call, right};
    refuse("rows is -1", [](auto& n) { n.rows = -1; });
    refuse("columns is -1", [](auto& n) { n.columns = -1; });
    refuse("rows is 2147483648", [](auto& n) { n.rows = kHuge; });
    refuse("columns is 2147483648", [](auto& n) { n.columns = kHuge; });
    refuse("dy is a null pointer", [](auto& n) { n.dy = nullptr; });
    refuse("x is a null pointer", [](auto& n) { n.x = nullptr; });
    refuse("rstd is a null pointer", [](auto& n) { n.rstd = nullptr; });
    refuse("dy is a host pointer", [&](auto& n) { n.dy = host; });
    refuse("dgamma is a host pointer", [&](auto& n) { n.dgamma = host; });
    refuse("gamma is not aligned", [](auto& n) { n.gamma = misaligned(n.gamma); });
    refuse("dx is not aligned", [](auto& n) { n.dx = misaligned(n.dx); });
    refuse("dbeta is not aligned", [](auto& n) { n.dbeta = misaligned(n.dbeta); });
    refuse("dx - dy in bytes is 0", [](auto& n) { n.dx = const_cast<T*>(n.dy); });
    refuse("dx - x in bytes is 0", [](auto& n) { n.dx = const_cast<T*>(n.x); });
    refuse("dx - gamma in bytes", [](auto& n) { n.dx = const_cast<T*>(n.gamma); });
    refuse("dgamma - dx in bytes", [](auto& n) { n.dgamma = n.dx + 7; });
    refuse("dbeta - dgamma in bytes is 0", [](auto& n) { n.dbeta = n.dgamma; });
    refuse("dbeta - rstd in bytes is 0",
           [](auto& n) { n.dbeta = reinterpret_cast<T*>(const_cast<float*>(n.rstd)); });
    if (is_centered)
        refuse("mean is a null pointer", [](auto& n) { n.mean = nullptr; });
    else
        refuse("mean given is 1", [&](auto& n) { n.mean = f; });
}

}  // namespace

TEST_CASE("wrong arguments are refused by name") {
    with_function(GENERATE(as<int64_t>(), 0, 1, 2, 3, 4, 5),
                  []<class T>(bool is_centered) { refuse_forward<T>(is_centered); });
}

TEST_CASE("wrong arguments of gradients are refused by name") {
    with_function(GENERATE(as<int64_t>(), 0, 1, 2, 3, 4, 5),
                  []<class T>(bool is_centered) { refuse_backward<T>(is_centered); });
}

TEST_CASE("gradients of no columns, or of which none is wanted without rows") {
    with_function(GENERATE(as<int64_t>(), 0, 1, 5), []<class T>(bool is_centered) {
        const auto function = backward<T>(is_centered);
        NormGradient<T> norm = {};
        norm.rows = 3;
        Grader(function.name, "rows 3, columns 0")
            .expect_no_work([&](cudaStream_t stream) { function.call(norm, stream); });
        norm.rows = 0;
        norm.columns = 3;
        Grader(function.name, "rows 0, columns 3, nothing wanted")
            .expect_no_work([&](cudaStream_t stream) { function.call(norm, stream); });
        Grader grade(function.name, "rows 1, columns 1");
        norm.rows = norm.columns = 1;
        norm.dy = norm.x = grade.input("x", std::vector<T>{T(1.0f)});
        const float* const f = grade.input("mean", std::vector<float>{0.0f});
        norm.mean = is_centered ? f : nullptr;
        norm.rstd = f;
        norm.dbeta = grade.output<T>("dbeta", {1});
        grade.run([&](cudaStream_t stream) { function.call(norm, stream); });
        grade.expect("dbeta", {1.0}, [](int64_t) { return 0.0; });
    });
}

TEST_CASE("gradients are queued on the caller's stream, and nobody waits for them") {
    const auto [rows, columns] = GENERATE(
        table<int64_t, int64_t>({{3, 5}, {65'536, 1}, {20, 3000}, {2, 40'000}}));
    for (const auto& [name, idea, launcher] : backward<Bf16>(true).versions()) {
        const Sizes s = {rows, columns};
        Grader grade(name, s.text() + ", queued only");
        const std::vector<Bf16> ones(at(s.count()), Bf16(1.0f));
        const std::vector<float> row(at(rows), 1.0f);
        const NormGradient<Bf16> norm = {grade.input("dy", ones),
                                         grade.input("x", ones),
                                         nullptr,
                                         grade.input("mean", row),
                                         grade.input("rstd", row),
                                         grade.output<Bf16>("dx", {rows, columns}),
                                         grade.output<Bf16>("dgamma", {columns}),
                                         grade.output<Bf16>("dbeta", {columns}),
                                         rows,
                                         columns};
        grade.expect_queued(
            [&, launcher = launcher](cudaStream_t stream) { launcher(norm, stream); });
    }
}

TEST_CASE("more than 2^31 elements", "[large][serial]") {
    Grader("layer_norm", "rows 0").expect_no_work([](cudaStream_t stream) {
        layer_norm({}, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^31 elements are too much for the simulator");
#else
    constexpr int64_t kColumns = 100;
    constexpr int64_t kCount = (int64_t{1} << 31) + 4700;
    constexpr int64_t kRows = kCount / kColumns;
    wb::testing::LargeArrays large(kCount, kCount);
    if (!large.has_memory()) WB_SKIP("needs 18 GB of free GPU memory");
    // One 1 in a row of zeros: mean 0.01, variance 0.0099. eps makes y small, for what
    // it may be wrong by is 1e-6.
    const std::vector<int64_t> places = {7, int64_t{1} << 30, kRows * kColumns - 1};
    for (const int64_t place : places)
        large.set(place, 1.0f);
    const double y = 0.99 / std::sqrt(0.0099 + 100.0);
    for (const auto& [name, idea, launcher] :
         wb::implementations("layer_norm", layer_norm))
        large.expect(name, "rows of 100", places, {y, y, y}, [&](auto stream) {
            launcher({large.x,
                      nullptr,
                      nullptr,
                      large.y,
                      nullptr,
                      nullptr,
                      kRows,
                      kColumns,
                      100.0f},
                     stream);
        });
#endif
}
