// Times day07-tuning/01-roofline: the five kernels, each beside the time that predict()
// gives it from the roofs of this GPU.
#include "roofline.h"

#include <wb/bench/bench.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "given.h"
#include "measure.h"

using namespace wb::bench;

namespace {

constexpr const char* kOf = "the predicted speed";

/// The roofs, by the benchmark's clock; nothing where nothing is timed.
Roofs roofs_of(Bench& bench) {
    if (bench.time_alone(launch_nothing) == 0.0) return {};
    return measure_roofs(
        [&](const Launch& launch) { return 1e-6 * bench.time_alone(launch); });
}

/// A kernel on one size: its work, and the time it is predicted to take.
Spec spec_of(const std::string& size,
             Ceiling unit,
             const Cost& cost,
             const Roofs& roofs) {
    Spec spec{size, unit, is_compute(unit) ? cost.flop : cost.dram_bytes};
    spec.limit = kOf;
    if (roofs.launch_s > 0.0) spec.limit_us = 1e6 * predict(cost, roofs).seconds;
    return spec;
}

void time_saxpy(Bench& bench, const Roofs& roofs, int64_t n) {
    const auto x = bench.random_normal(n);
    const auto before = bench.random_normal(n);
    const auto y = bench.output<float>(n);
    const std::string size = "saxpy n = " + std::to_string(n);
    auto problem = bench.problem(spec_of(size, Ceiling::copy, saxpy_cost(n), roofs));
    problem.restore([&](cudaStream_t stream) { y.copy_from(before, stream); });
    problem.expect("y", y, [&](int64_t i) {
        return Expected{0.5 * x.at(i) + before.at(i), 1e-5};
    });
    problem.time("saxpy", "two reads, one write", [&](cudaStream_t stream) {
        launch_saxpy(n, 0.5f, x.data(), y.data(), stream);
    });
}

void time_strided(Bench& bench, const Roofs& roofs, int64_t n, int64_t stride) {
    const auto x = bench.random_normal(n * stride);
    const auto y = bench.output<float>(n);
    const std::string size =
        "strided n = " + std::to_string(n) + " stride " + std::to_string(stride);
    auto problem = bench.problem(
        spec_of(size, Ceiling::copy, strided_scale_cost(n, stride), roofs));
    problem.expect("y", y, [&](int64_t i) {
        return Expected{0.5 * x.at(i * stride), 0.0};
    });
    problem.time("strided_scale", "one float of each sector", [&](cudaStream_t stream) {
        launch_strided_scale(n, stride, 0.5f, x.data(), y.data(), stream);
    });
}

void time_polynomial(Bench& bench, const Roofs& roofs, int64_t n, int64_t degree) {
    // Normal numbers have no high powers: c makes up for nothing, so x is scaled down.
    const auto x = bench.output<float>(n);
    launch_strided_scale(n, 1, 0.1f, bench.random_normal(n).data(), x.data(), nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto y = bench.output<float>(n);
    const std::string size =
        "polynomial n = " + std::to_string(n) + " degree " + std::to_string(degree);
    auto problem =
        bench.problem(spec_of(size, Ceiling::fp32, polynomial_cost(n, degree), roofs));
    problem.expect("y", y, [&](int64_t i) {
        const double t = x.at(i);
        double p = 1.0;
        for (int64_t step = 0; step < degree; ++step)
            p = p * t + 0.5;
        return Expected{p, 1e-4 * (1.0 + std::abs(p))};
    });
    problem.time("polynomial", "Horner's rule", [&](cudaStream_t stream) {
        launch_polynomial(n, degree, 0.5f, x.data(), y.data(), stream);
    });
}

using Product = void(int64_t, const float*, const float*, float*, cudaStream_t);

void time_product(Bench& bench,
                  const Roofs& roofs,
                  const std::string& name,
                  Product* launch,
                  int64_t n,
                  const Cost& cost) {
    const auto a = bench.random_normal(n * n);
    const auto b = bench.random_normal(n * n);
    const auto c = bench.output<float>(n * n);
    auto problem = bench.problem(
        spec_of("matmul n = " + std::to_string(n), Ceiling::fp32, cost, roofs));
    problem.expect(
        "c",
        c,
        [&](int64_t i) {
            const auto row = a.host(i / n * n, n);
            double sum = 0.0;
            for (int64_t k = 0; k < n; ++k)
                sum += double{row[static_cast<size_t>(k)]} * b.at(k * n + i % n);
            return Expected{sum, 1e-4 * static_cast<double>(n)};
        },
        8);
    problem.time(name, "a product of matrices", [&](cudaStream_t stream) {
        launch(n, a.data(), b.data(), c.data(), stream);
    });
}

}  // namespace

WB_BENCH(roofline, bench) {
    const Roofs roofs = roofs_of(bench);
    for (const int64_t n : bench.sizes<int64_t>(
             {1 << 12}, {1 << 10, 1 << 20}, {1 << 10, 1 << 20, 1 << 26})) {
        time_saxpy(bench, roofs, n);
    }
    for (const int64_t n : bench.sizes<int64_t>({1 << 10}, {1 << 20}, {1 << 24})) {
        for (const int64_t stride : {1, 4, 8, 16, 32})
            time_strided(bench, roofs, n, stride);
        for (const int64_t degree : {4, 16, 64, 256, 1024})
            time_polynomial(bench, roofs, n, degree);
    }
    for (const int64_t n : bench.sizes<int64_t>({32}, {512}, {1024, 2048, 4096})) {
        time_product(
            bench, roofs, "matmul_naive", launch_matmul_naive, n, matmul_naive_cost(n));
        time_product(
            bench, roofs, "matmul_tiled", launch_matmul_tiled, n, matmul_tiled_cost(n));
    }
}
