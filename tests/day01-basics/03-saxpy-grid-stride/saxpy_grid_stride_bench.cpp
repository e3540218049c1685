// Times day01-basics/03-saxpy-grid-stride: how close does y = a x + y come to the
// bandwidth of the memory, with few blocks and with many?
#include "saxpy_grid_stride.h"

#include <wb/bench/bench.h>
#include <wb/bench/cublas.h>
#include <wb/implementations.h>

#include <cmath>

using namespace wb::bench;

namespace {

struct Size {
    int64_t n;
    int blocks_per_multiprocessor;
};

}  // namespace

WB_BENCH(saxpy_grid_stride, bench) {
    constexpr float kAlpha = 2.5f;
    int multiprocessors = 0;
    CUDA_CHECK(
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    for (const auto& [n, blocks_per_multiprocessor] :
         bench.sizes<Size>({{1 << 12, 1}},
                           {{1 << 20, 8}, {1 << 24, 8}},
                           {{1 << 20, 8},
                            {1 << 24, 8},
                            {1 << 26, 8},
                            {1 << 28, 1},
                            {1 << 28, 2},
                            {1 << 28, 8}})) {
        const double bytes = 3.0 * sizeof(float) * static_cast<double>(n);
        if (!bench.fits(bytes)) continue;
        const int num_blocks = blocks_per_multiprocessor * multiprocessors;
        const auto x = bench.random_normal(n);
        const auto y = bench.output<float>(n);
        const auto before = bench.random_normal(n);

        auto problem = bench.problem(
            {"n = " + std::to_string(n) + ", " + std::to_string(num_blocks) + " blocks",
             Ceiling::read2_write1,
             bytes});
        problem.restore([&](cudaStream_t stream) { y.copy_from(before, stream); });
        problem.expect("y", y, [&](int64_t i) {
            const double product = double{kAlpha} * double{x.at(i)};
            const double sum = product + double{before.at(i)};
            return Expected{sum, 0x1.1p-24 * (std::abs(product) + std::abs(sum))};
        });
        for (const auto& [name, idea, saxpy] :
             wb::implementations("saxpy_grid_stride", saxpy_grid_stride)) {
            problem.time(name, idea, [&, saxpy = saxpy, n = n](cudaStream_t stream) {
                saxpy(kAlpha, x.data(), y.data(), n, num_blocks, stream);
            });
        }
#if WB_HAVE_CUBLAS
        const Cublas blas;
        problem.time("cublasSaxpy", "library", [&, n = n](cudaStream_t stream) {
            CUBLAS_CHECK(cublasSaxpy(blas.on(stream),
                                     static_cast<int>(n),
                                     &kAlpha,
                                     x.data(),
                                     1,
                                     y.data(),
                                     1));
        });
#endif
    }
}
