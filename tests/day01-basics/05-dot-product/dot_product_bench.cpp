// Times day01-basics/05-dot-product: how close does a sum come to the bandwidth of
// reading, and what do n atomics on one address cost?
#include "dot_product.h"

#include <wb/bench/bench.h>
#include <wb/bench/cublas.h>
#include <wb/implementations.h>
#include <wb/reference/dot_product.h>

using namespace wb::bench;

namespace {

/// The most elements for which v1, all of whose terms queue up at one address, is run:
/// it would take seconds for more.
constexpr int64_t kMostAtomics = 1 << 21;

/// gamma_k with the roundings on the longest way of one product into the sum: n in any
/// order; past kMostAtomics, where v1 does not run, v2 has the longest: its product,
/// the eight steps of its tree and an atomic for each of n / 256 blocks.
double relative_bound(int64_t n) {
    const int64_t k = n <= kMostAtomics ? n : 1 + 8 + n / 256;
    const double ku = static_cast<double>(k) * 0x1p-24;
    return ku / (1.0 - ku);
}

}  // namespace

WB_BENCH(dot_product, bench) {
    // For xray more elements than v3's most threads: else it would do what v2 does.
    for (const int64_t n : bench.sizes<int64_t>({1 << 12},
                                                {1 << 20, 1 << 24},
                                                {1 << 20, 1 << 24, 1 << 26, 1 << 28},
                                                {2'000'000})) {
        const double bytes = 2.0 * sizeof(float) * static_cast<double>(n);
        if (!bench.fits(bytes)) continue;
        const auto a = bench.random_normal(n);
        const auto b = bench.random_normal(n);
        const auto result = bench.output<float>(1);
        const auto exact = wb::reference::dot_product(a.host(), b.host());

        auto problem =
            bench.problem({"n = " + std::to_string(n), Ceiling::read, bytes});
        problem.expect("result", result, [&](int64_t) {
            return Expected{exact.sum, relative_bound(n) * exact.magnitude};
        });
        for (const auto& [name, idea, dot] :
             wb::implementations("dot_product", dot_product)) {
            if (name == "dot_product_v1" && n > kMostAtomics) continue;
            problem.time(name, idea, [&, dot = dot](cudaStream_t stream) {
                dot(a.data(), b.data(), result.data(), n, stream);
            });
        }
#if WB_HAVE_CUBLAS
        const Cublas blas;
        problem.time("cublasSdot", "library", [&](cudaStream_t stream) {
            const cublasHandle_t handle = blas.on(stream);
            CUBLAS_CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
            CUBLAS_CHECK(cublasSdot(
                handle, static_cast<int>(n), a.data(), 1, b.data(), 1, result.data()));
        });
#endif
    }
}
