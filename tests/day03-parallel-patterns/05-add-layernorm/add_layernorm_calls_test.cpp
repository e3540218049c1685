// Grades day03-parallel-patterns/05-add-layernorm: arguments that are refused,
// gradients that are queued, long arrays.
#include "add_layernorm_cases.h"

#include <wb/testing/large.h>
#include <wb/testing/refuses.h>

using namespace add_layernorm_cases;
using wb::testing::misaligned;
using wb::testing::Refuses;

namespace {

constexpr int64_t kHuge = int64_t{1} << 31;

template <class T>
void refuse_forward(const Function<T>& function) {
    Grader memory(function.name, "wrong arguments");
    T* const d = memory.output<T>("d", {200});
    float* const f = memory.output<float>("f", {100});
    T host[16] = {};
    const bool has_h = function.what == What::add_layernorm;
    FusedNorm<T> right = {};
    right.x = {d, 5};
    right.other = {d + 20, 4};
    right.gamma = d + 40;
    right.beta = d + 50;
    right.y = {d + 60, 6};
    if (has_h) right.h = {d + 80, 4};
    right.mean = f;
    right.rstd = f + 10;
    right.rows = 2;
    right.columns = 4;
    right.eps = 1e-5f;
    const Refuses<FusedNorm<T>> refuse = {function.name, function.call, right};
    refuse("rows is -1", [](auto& n) { n.rows = -1; });
    refuse("columns is -7", [](auto& n) { n.rows = 0, n.columns = -7; });
    refuse("rows is 2147483648", [](auto& n) { n.rows = kHuge; });
    refuse("columns is 2147483648", [](auto& n) { n.columns = kHuge; });
    refuse("eps is -0.5", [](auto& n) { n.eps = -0.5f; });
    refuse("eps is nan", [](auto& n) { n.eps = kNan; });
    // A permuted matrix, rows that share elements, one row for all.
    refuse("x.column_stride is 2",
           [](auto& n) { n.x.row_stride = 1, n.x.column_stride = 2; });
    refuse("other.column_stride is 0", [](auto& n) { n.other.column_stride = 0; });
    refuse("y.column_stride is -1", [](auto& n) { n.y.column_stride = -1; });
    refuse("x.row_stride is 3", [](auto& n) { n.x.row_stride = 3; });
    refuse("other.row_stride is 0", [](auto& n) { n.other.row_stride = 0; });
    refuse("y.row_stride is -4", [](auto& n) { n.y.row_stride = -4; });
    refuse("does not fit into 64 bits",
           [](auto& n) { n.x.row_stride = INT64_MAX / 2, n.rows = 3; });
    refuse("x is a null pointer", [](auto& n) { n.x.data = nullptr; });
    refuse("other is a null pointer", [](auto& n) { n.other.data = nullptr; });
    refuse("gamma is a null pointer", [](auto& n) { n.gamma = nullptr; });
    refuse("beta is a null pointer", [](auto& n) { n.beta = nullptr; });
    refuse("y is a null pointer", [](auto& n) { n.y.data = nullptr; });
    refuse("x is a host pointer", [&](auto& n) { n.x.data = host; });
    refuse("beta is a host pointer", [&](auto& n) { n.beta = host; });
    refuse("other is not aligned",
           [](auto& n) { n.other.data = misaligned(n.other.data); });
    refuse("gamma is not aligned", [](auto& n) { n.gamma = misaligned(n.gamma); });
    refuse("mean is not aligned", [](auto& n) { n.mean = misaligned(n.mean); });
    refuse("rstd is not aligned", [](auto& n) { n.rstd = misaligned(n.rstd); });
    // The last element of y is element 9 of its memory.
    refuse("y - gamma in bytes is", [](auto& n) { n.gamma = n.y.data + 9; });
    refuse("y - beta in bytes is", [](auto& n) { n.beta = n.y.data - 3; });
    refuse("rstd - mean in bytes is 4", [](auto& n) { n.mean = n.rstd - 1; });
    refuse("y - x in bytes is", [](auto& n) { n.x.data = n.y.data - 8; });
    refuse("y - other in bytes is", [](auto& n) { n.other.data = n.y.data + 8; });
    refuse("rstd - y in bytes is 0",
           [](auto& n) { n.y.data = reinterpret_cast<T*>(n.rstd); });
    if (function.what == What::layernorm_add)
        refuse("y - x in bytes is 0", [](auto& n) { n.x.data = n.y.data; });  // strides
    else
        refuse("y - x in bytes is 0", [](auto& n) {
            n.x = {n.y.data, n.y.row_stride};
        });
    if (has_h) {
        refuse("h is a null pointer", [](auto& n) { n.h.data = nullptr; });
        refuse("h.column_stride is 3", [](auto& n) { n.h.column_stride = 3; });
        refuse("h - x in bytes is", [](auto& n) { n.x.data = n.h.data + 1; });
        refuse("h - other in bytes is", [](auto& n) { n.other.data = n.h.data - 1; });
        refuse("y - h in bytes is 0", [](auto& n) { n.y.data = n.h.data; });
    } else {
        refuse("h given is 1", [&](auto& n) { n.h = {d + 80, 4}; });
    }
    if (function.what != What::norm_mul_dropout) return;
    refuse("dropout.p is 1", [](auto& n) { n.dropout.p = 1.0f; });
    refuse("dropout.p is -0.25", [](auto& n) { n.dropout.p = -0.25f; });
    refuse("dropout.p is nan", [](auto& n) { n.dropout.p = kNan; });
}

template <class T>
void refuse_backward(const char* name,
                     void (*call)(const FusedNormGradient<T>&, cudaStream_t)) {
    Grader memory(name, "wrong arguments");
    T* const d = memory.output<T>("d", {200});
    float* const f = memory.output<float>("f", {100});
    T host[16] = {};
    const FusedNormGradient<T> right = {{d, 4},
                                        {d + 10, 4},
                                        {d + 20, 4},
                                        d + 30,
                                        d + 40,
                                        f,
                                        f + 10,
                                        {d + 50, 4},
                                        {d + 60, 4},
                                        d + 70,
                                        d + 80,
                                        2,
                                        4,
                                        {0.5f, 1, 2}};
    const Refuses<FusedNormGradient<T>> refuse = {name, call, right};
    refuse("rows is -1", [](auto& n) { n.rows = -1; });
    refuse("columns is 2147483648", [](auto& n) { n.columns = kHuge; });
    refuse("dropout.p is 2", [](auto& n) { n.dropout.p = 2.0f; });
    refuse("dropout.p is inf", [](auto& n) { n.dropout.p = kInfinity, n.rows = 0; });
    refuse("dy.row_stride is 3", [](auto& n) { n.dy.row_stride = 3; });
    refuse("x.column_stride is 4", [](auto& n) { n.x.column_stride = 4; });
    refuse("mul.row_stride is 0", [](auto& n) { n.mul.row_stride = 0; });
    refuse("dx.row_stride is 1", [](auto& n) { n.dx.row_stride = 1; });
    refuse("dmul.column_stride is 2", [](auto& n) { n.dmul.column_stride = 2; });
    refuse("dy is a null pointer", [](auto& n) { n.dy.data = nullptr; });
    refuse("mul is a host pointer", [&](auto& n) { n.mul.data = host; });
    refuse("gamma is a null pointer", [](auto& n) { n.gamma = nullptr; });
    refuse("beta is not aligned", [](auto& n) { n.beta = misaligned(n.beta); });
    refuse("mean is a null pointer", [](auto& n) { n.mean = nullptr; });
    refuse("rstd is not aligned", [](auto& n) { n.rstd = misaligned(n.rstd); });
    refuse("dx is a null pointer", [](auto& n) { n.dx.data = nullptr; });
    refuse("dmul is a null pointer", [](auto& n) { n.dmul.data = nullptr; });
    refuse("dgamma is not aligned", [](auto& n) { n.dgamma = misaligned(n.dgamma); });
    refuse("dbeta is a host pointer", [&](auto& n) { n.dbeta = host; });
    refuse("dx - dy in bytes is 0", [](auto& n) { n.dx.data = n.dmul.data - 60; });
    refuse("dmul - x in bytes is", [](auto& n) { n.x.data = n.dmul.data + 7; });
    refuse("dmul - mul in bytes is 0", [](auto& n) { n.mul.data = n.dmul.data; });
    refuse("dmul - dx in bytes is 0", [](auto& n) { n.dx = n.dmul; });
    refuse("dgamma - gamma in bytes is 0", [](auto& n) { n.gamma = n.dgamma; });
    refuse("dbeta - beta in bytes is 0", [](auto& n) { n.beta = n.dbeta; });
    refuse("dbeta - dgamma in bytes is 0", [](auto& n) { n.dbeta = n.dgamma; });
    refuse("dbeta - mean in bytes is 0",
           [](auto& n) { n.dbeta = reinterpret_cast<T*>(const_cast<float*>(n.mean)); });
}

}  // namespace

TEST_CASE("wrong arguments are refused by name") {
    with_function(GENERATE(as<int64_t>(), 0, 1, 2, 3, 4, 5, 6, 7),
                  []<class T>(const Function<T>& f) { refuse_forward<T>(f); });
}

TEST_CASE("wrong arguments of gradients are refused by name") {
    refuse_backward<float>("norm_mul_dropout_backward", norm_mul_dropout_backward);
    refuse_backward<Bf16>("norm_mul_dropout_backward_bf16",
                          norm_mul_dropout_backward_bf16);
}

TEST_CASE("gradients are queued on the caller's stream, and nobody waits for them") {
    const auto [rows, columns] =
        GENERATE(table<int64_t, int64_t>({{3, 5}, {20, 3000}, {2, 20'000}}));
    for (const auto& [name, idea, launcher] :
         wb::implementations("norm_mul_dropout_backward", norm_mul_dropout_backward)) {
        const Sizes s = {rows, columns};
        Grader grade(name, s.text() + ", queued only");
        FusedNormGradient<float> norm = {};
        norm.rows = rows;
        norm.columns = columns;
        norm.dy = norm.x =
            norm.mul = {grade.input("x", Floats(at(s.count()), 1.0f)), columns};
        norm.gamma = norm.beta = norm.dy.data;
        norm.mean = norm.rstd = grade.input("mean", Floats(at(rows), 1.0f));
        norm.dx = {grade.output<float>("dx", {rows, columns}), columns};
        norm.dmul = {grade.output<float>("dmul", {rows, columns}), columns};
        norm.dgamma = grade.output<float>("dgamma", {columns});
        grade.expect_queued(
            [&, launcher = launcher](cudaStream_t stream) { launcher(norm, stream); });
    }
}

TEST_CASE("more than 2^31 elements", "[large][serial]") {
    Grader("layernorm_add", "rows 0").expect_no_work([](cudaStream_t stream) {
        layernorm_add({}, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^31 elements are too much for the simulator");
#else
    // Slices of 20 columns: the last one begins past 2^31 elements. One 1 in a row of
    // zeros: mean 0.05, variance 0.0475; eps makes y small, for what it may be wrong by
    // is 1e-6. gamma is 1 and beta is 0 in other rows of the same memory.
    constexpr int64_t kColumns = 20;
    constexpr int64_t kStride = 1000;
    constexpr int64_t kRows = ((int64_t{1} << 31) + 4000) / kStride;
    constexpr int64_t kCount = kRows * kStride;
    wb::testing::LargeArrays large(kCount, kCount);
    if (!large.has_memory()) WB_SKIP("needs 18 GB of free GPU memory");
    const std::vector<int64_t> places = {
        7, kCount / 2 - kCount / 2 % kStride + 3, kCount - kStride + 19};
    for (const int64_t place : places)
        large.set(place, 1.0f);
    for (int64_t c = 0; c < kColumns; ++c)
        large.set(kStride / 2 + c, 1.0f);
    const double y = 0.95 / std::sqrt(0.0475 + 100.0);
    for (const auto& [name, idea, launcher] :
         wb::implementations("layernorm_add", layernorm_add)) {
        FusedNorm<float> norm = {};
        norm.x = {large.x, kStride};
        norm.other = {large.x + 100, kStride};
        norm.gamma = large.x + kStride / 2;
        norm.beta = large.x + kStride / 2 + kColumns;
        norm.y = {large.y, kStride};
        norm.rows = kRows;
        norm.columns = kColumns;
        norm.eps = 100.0f;
        large.expect(name, "slices of 20 columns", places, {y, y, y}, [&](auto stream) {
            launcher(norm, stream);
        });
    }
#endif
}
