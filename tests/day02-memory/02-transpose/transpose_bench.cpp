// Times day02-memory/02-transpose: how close does a transpose come to the bandwidth of
// a copy, which moves the same bytes, but none of them to another row?
#include "transpose.h"

#include <wb/bench/bench.h>
#include <wb/bench/cublas.h>
#include <wb/implementations.h>

#include <string>
#include <vector>

using namespace wb::bench;

namespace {

struct Size {
    int64_t batch, rows, cols;

    int64_t count() const { return batch * rows * cols; }
    std::string text() const {
        const std::string one = std::to_string(rows) + " x " + std::to_string(cols);
        return batch == 1 ? one : std::to_string(batch) + " of " + one;
    }

    /// Where the element i of the output stands in the input.
    int64_t from(int64_t i) const {
        const int64_t matrix = i / (rows * cols);
        const int64_t in_matrix = i % (rows * cols);
        return matrix * rows * cols + in_matrix % rows * cols + in_matrix / rows;
    }
};

/// A large square; sides that no tile and no sector divides; a small one; the heads of
/// an attention layer; and matrices that are smaller than a tile.
std::vector<Size> sizes(const Bench& bench) {
    return bench.sizes<Size>({{1, 64, 64}, {2, 33, 65}},
                             {{1, 1024, 1024}, {64, 128, 512}},
                             {{1, 1024, 1024},
                              {1, 4097, 8191},
                              {512, 512, 128},
                              {65536, 16, 24},
                              {1, 16384, 16384}},
                             {{1, 512, 512}});
}

/// Square ones.
std::vector<Size> squares(const Bench& bench) {
    return bench.sizes<Size>({{1, 65, 65}},
                             {{1, 1024, 1024}},
                             {{1, 1024, 1024}, {64, 512, 512}, {1, 16384, 16384}},
                             {{1, 512, 512}});
}

double bytes_of(const Size& s, size_t element) {
    return 2.0 * static_cast<double>(element) * static_cast<double>(s.count());
}

}  // namespace

WB_BENCH(transpose, bench) {
    for (const Size& s : sizes(bench)) {
        const double bytes = bytes_of(s, sizeof(float));
        if (!bench.fits(bytes)) continue;
        const auto in = bench.random_normal(s.count());
        const auto out = bench.output<float>(s.count());
        auto problem = bench.problem({s.text(), Ceiling::copy, bytes});
        problem.expect("out", out, [&](int64_t i) {
            return Expected{in.at(s.from(i)), 0.0};
        });
        for (const auto& [name, idea, launcher] :
             wb::implementations("transpose", transpose)) {
            problem.time(
                name, idea, [&, launcher = launcher, s = s](cudaStream_t stream) {
                    launcher(in.data(), out.data(), s.batch, s.rows, s.cols, stream);
                });
        }
        problem.time_copying();
#if WB_HAVE_CUBLAS
        if (s.batch > 1) continue;  // it knows no batches
        // Column-major: what it calls a row is our column. C = 1 * A^T + 0 * C.
        const Cublas blas;
        const int rows = static_cast<int>(s.rows);
        const int cols = static_cast<int>(s.cols);
        problem.time("cublasSgeam", "library", [&](cudaStream_t stream) {
            const float one = 1.0f;
            const float zero = 0.0f;
            CUBLAS_CHECK(cublasSgeam(blas.on(stream),
                                     CUBLAS_OP_T,
                                     CUBLAS_OP_N,
                                     rows,
                                     cols,
                                     &one,
                                     in.data(),
                                     cols,
                                     &zero,
                                     out.data(),
                                     rows,
                                     out.data(),
                                     rows));
        });
#endif
    }
}

WB_BENCH(transpose_u16, bench) {
    for (const Size& s : sizes(bench)) {
        const double bytes = bytes_of(s, sizeof(uint16_t));
        if (!bench.fits(2.0 * bytes)) continue;
        const auto floats = bench.random_normal((s.count() + 1) / 2);  // of any bits
        const Array<uint16_t> in(s.count());
        const auto out = bench.output<uint16_t>(s.count());
        CUDA_CHECK(
            cudaMemcpy(in.data(), floats.data(), in.bytes(), cudaMemcpyDeviceToDevice));
        auto problem = bench.problem({s.text(), Ceiling::copy, bytes});
        problem.expect("out", out, [&](int64_t i) {
            return Expected{static_cast<double>(in.at(s.from(i))), 0.0};
        });
        for (const auto& [name, idea, launcher] :
             wb::implementations("transpose_u16", transpose_u16)) {
            problem.time(
                name, idea, [&, launcher = launcher, s = s](cudaStream_t stream) {
                    launcher(in.data(), out.data(), s.batch, s.rows, s.cols, stream);
                });
        }
    }
}

WB_BENCH(transpose_in_place, bench) {
    for (const Size& s : squares(bench)) {
        const double bytes = bytes_of(s, sizeof(float));
        if (!bench.fits(bytes)) continue;
        const auto before = bench.random_normal(s.count());
        const auto matrix = bench.output<float>(s.count());
        auto problem = bench.problem({s.text(), Ceiling::copy, bytes});
        problem.expect("matrix", matrix, [&](int64_t i) {
            return Expected{before.at(s.from(i)), 0.0};
        });
        problem.restore([&](cudaStream_t stream) { matrix.copy_from(before, stream); });
        for (const auto& [name, idea, launcher] :
             wb::implementations("transpose_in_place", transpose_in_place)) {
            problem.time(
                name, idea, [&, launcher = launcher, s = s](cudaStream_t stream) {
                    launcher(matrix.data(), s.batch, s.rows, stream);
                });
        }
    }
}
