// Times day01-basics/02-vector-add: how close does c = a + b come to the bandwidth of
// the memory?
#include "vector_add.h"

#include <wb/bench/bench.h>
#include <wb/bench/cublas.h>
#include <wb/implementations.h>

#include <cmath>

using namespace wb::bench;

WB_BENCH(vector_add, bench) {
    for (const int64_t n : bench.sizes<int64_t>(
             {1 << 12}, {1 << 20, 1 << 24}, {1 << 20, 1 << 24, 1 << 26, 1 << 28})) {
        const double bytes = 3.0 * sizeof(float) * static_cast<double>(n);
        if (!bench.fits(bytes)) continue;
        const auto a = bench.random_normal(n);
        const auto b = bench.random_normal(n);
        const auto c = bench.output<float>(n);

        auto problem =
            bench.problem({"n = " + std::to_string(n), Ceiling::read2_write1, bytes});
        problem.expect("c", c, [&](int64_t i) {
            const double sum = double{a.at(i)} + double{b.at(i)};
            return Expected{sum, 0x1p-24 * std::abs(sum)};  // one rounding
        });
        for (const auto& [name, idea, add] :
             wb::implementations("vector_add", vector_add)) {
            problem.time(name, idea, [&, add = add](cudaStream_t stream) {
                add(a.data(), b.data(), c.data(), n, stream);
            });
        }
#if WB_HAVE_CUBLAS
        // C = 1 A + 1 B, with the vectors as matrices of kRows rows.
        constexpr int kRows = 1 << 12;
        const int cols = static_cast<int>(n / kRows);
        const float one = 1.0f;
        const Cublas blas;
        problem.time("cublasSgeam", "library", [&](cudaStream_t stream) {
            CUBLAS_CHECK(cublasSgeam(blas.on(stream),
                                     CUBLAS_OP_N,
                                     CUBLAS_OP_N,
                                     kRows,
                                     cols,
                                     &one,
                                     a.data(),
                                     kRows,
                                     &one,
                                     b.data(),
                                     kRows,
                                     c.data(),
                                     kRows));
        });
#endif
    }
}
