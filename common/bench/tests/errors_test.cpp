#include <wb/bench/errors.h>

#include <cmath>
#include <limits>

#include "support.h"

using namespace wb::bench;

namespace {

/// A benchmark in a program of its own: no sizes, no options.
struct Bencher {
    Options options;
    Timer timer{1 << 20, Budget{2, 2, 0.0}};
    Ceilings ceilings{timer, 1 << 20};
    Bench bench{"product", options, false, timer, ceilings};
};

/// C = A B with sums in float, on the host, from and to the device.
void multiply(
    const wb::GemmShape& s, const float* a, const float* b, float* c, float factor) {
    std::vector<float> host_a(static_cast<size_t>(s.M * s.K));
    std::vector<float> host_b(static_cast<size_t>(s.K * s.N));
    std::vector<float> host_c(static_cast<size_t>(s.M * s.N));
    const auto bytes = [](const std::vector<float>& x) { return x.size() * 4; };
    CUDA_CHECK(cudaMemcpy(host_a.data(), a, bytes(host_a), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(host_b.data(), b, bytes(host_b), cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < s.M * s.N; ++i) {
        float sum = 0.0f;
        for (int64_t k = 0; k < s.K; ++k)
            sum += host_a[static_cast<size_t>(i / s.N * s.K + k)] *
                   host_b[static_cast<size_t>(k * s.N + i % s.N)];
        host_c[static_cast<size_t>(i)] = factor * sum;
    }
    CUDA_CHECK(cudaMemcpy(c, host_c.data(), bytes(host_c), cudaMemcpyHostToDevice));
}

/// What a product by `factor` has noted.
Row row_of_product(Bencher& f, float factor) {
    const wb::GemmShape s = wb::GemmShape{20, 30, 40}.packed();
    const auto errors = product_errors<float>(f.bench, s);
    REQUIRE(errors.has_value());
    const Array<float> x(1);
    Problem problem = f.bench.problem({"20 x 30 x 40", Ceiling::copy, 4.0});
    problem.expect("x", x, [](int64_t) { return Expected{0.0, 0.0}; });
    errors->note(problem, [&](const float* a, const float* b, float* c, cudaStream_t) {
        multiply(s, a, b, c, factor);
    });
    problem.time("product_v1", "nothing to do with it", [&](cudaStream_t stream) {
        CUDA_CHECK(cudaMemsetAsync(x.data(), 0, sizeof(float), stream));
    });
    REQUIRE(f.bench.rows().size() == 1);
    return f.bench.rows()[0];
}

double noted(const Row& row, const std::string& key) {
    for (const auto& [name, value] : row.notes) {
        if (name == key) return value;
    }
    return -1.0;
}

}  // namespace

TEST_CASE("errors: in units of 2^-24 of the magnitude, the largest and the mean") {
    const std::vector<Exact> exact = {{0, 1.0, 1.0}, {2, -4.0, 8.0}, {3, 2.0, 2.0}};
    const std::vector<float> right = {1.0f, 99.0f, -4.0f, 2.0f};
    CHECK(errors_of(exact, right).max == 0.0);
    CHECK(errors_of(exact, right).rms == 0.0);

    // -4 + 2^-20 is 2 units of magnitude 8 away.
    const std::vector<float> wrong = {1.0f, 99.0f, -4.0f + 0x1p-20f, 2.0f};
    CHECK(errors_of(exact, wrong).max == 2.0);
    CHECK(std::abs(errors_of(exact, wrong).rms - 2.0 / std::sqrt(3.0)) <= 1e-12);
    CHECK(errors_of({}, {}).rms == 0.0);
}

TEST_CASE("errors: a NaN makes both NaN, and zero must be zero") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Errors lost =
        errors_of({{0, 1.0, 1.0}, {1, 1.0, 1.0}, {2, 1.0, 1.0}}, {1.0f, nan, 2.0f});
    CHECK(std::isnan(lost.max));
    CHECK(std::isnan(lost.rms));
    CHECK(errors_of({{0, 0.0, 0.0}}, {0.0f}).max == 0.0);
    CHECK(std::isinf(errors_of({{0, 0.0, 0.0}}, {1e-30f}).max));
}

TEST_CASE("errors: an exact element, whichever way the factors lie") {
    const std::vector<float> a = {1, 2, 3, 4, 5, 6};
    const std::vector<float> b = {1, -2, 3, -4, 5, -6};
    // 2 x 3 times 3 x 2: element 1 is row 0 of A and column 1 of B.
    const Exact plain =
        ProductErrors<float>::exact_element(wb::GemmShape{2, 2, 3}.packed(), a, b, 1);
    CHECK(plain.value == 1.0 * -2 + 2.0 * -4 + 3.0 * -6);
    CHECK(plain.magnitude == 2.0 + 8.0 + 18.0);
    const Exact turned = ProductErrors<float>::exact_element(
        wb::GemmShape{2, 2, 3, true, true}.packed(), a, b, 1);
    CHECK(turned.index == 1);
    CHECK(turned.value == 1.0 * -4 + 3.0 * 5 + 5.0 * -6);
}

TEST_CASE("errors: one number in a thousand is a hundred times as large") {
    Bencher f;
    const auto numbers = numbers_with_outliers<float>(f.bench, 100000).host();
    int large = 0;
    for (const float x : numbers)
        large += std::abs(x) > 10.0f;
    CHECK(large > 80);
    CHECK(large < 102);
}

TEST_CASE("errors: those of a product go into its row, and only there") {
    Bencher right;
    const Row row = row_of_product(right, 1.0f);
    CHECK(noted(row, "error_max") > 0.0);
    CHECK(noted(row, "error_max") < 20.0);
    CHECK(noted(row, "error_rms") > 0.0);
    CHECK(noted(row, "error_rms") < noted(row, "error_max"));

    // One percent is 0.01 * 2^24 units, where terms have one sign.
    Bencher wrong;
    CHECK(noted(row_of_product(wrong, 1.01f), "error_max") > 1000.0);
}

TEST_CASE("errors: they are measured at the ladder's size alone") {
    Bencher f;
    CHECK(!product_errors<float>(f.bench, wb::GemmShape{1024, 1024, 1024}));
    CHECK(!product_errors<float>(f.bench, wb::GemmShape{4096, 4096, 4096, true}));
    CHECK(product_errors<float>(f.bench, wb::GemmShape{70, 40, 33}.packed()));
}
