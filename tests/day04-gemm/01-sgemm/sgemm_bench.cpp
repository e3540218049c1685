// Times day04-gemm/01-sgemm beside cuBLAS: square products, odd sizes, and what is
// transposed.
#include "sgemm.h"

#include <wb/bench/bench.h>
#include <wb/bench/cublas.h>
#include <wb/bench/errors.h>
#include <wb/implementations.h>

#include <cmath>
#include <string>
#include <vector>

using namespace wb::bench;
using wb::GemmShape;

namespace {

/// C = A B alone: alpha is 1, beta is 0.
struct Size {
    GemmShape shape;

    Size(int64_t M,
         int64_t N,
         int64_t K,
         bool transpose_a = false,
         bool transpose_b = false)
        : shape(GemmShape{M, N, K, transpose_a, transpose_b}.packed()) {}

    std::string text() const {
        return std::string(shape.transpose_a ? "T" : "N") +
               (shape.transpose_b ? "T " : "N ") + std::to_string(shape.M) + " x " +
               std::to_string(shape.N) + " x " + std::to_string(shape.K);
    }
    double operations() const {
        return 2.0 * static_cast<double>(shape.M) * static_cast<double>(shape.N) *
               static_cast<double>(shape.K);
    }
    double bytes() const {
        return 4.0 * static_cast<double>(shape.M * shape.K + shape.K * shape.N +
                                         shape.M * shape.N);
    }
};

std::vector<Size> sizes(const Bench& bench) {
    return bench.sizes<Size>({{70, 40, 33}, {64, 68, 36, true, true}},
                             {{1024, 1024, 1024}},
                             {{1024, 1024, 1024},
                              {2048, 2048, 2048},
                              {4096, 4096, 4096},
                              {8192, 8192, 8192},
                              {4095, 4095, 4095},
                              {1000, 3000, 500},
                              {4096, 4096, 4096, false, true},
                              {4096, 4096, 4096, true, false},
                              {4095, 4095, 4095, false, true}},
                             {{128, 128, 64}});
}

/// Element i of C.
Expected element_of(const Array<float>& a,
                    const Array<float>& b,
                    const Size& size,
                    int64_t i) {
    const GemmShape& s = size.shape;
    const int64_t row = i / s.N;
    const int64_t col = i % s.N;
    double sum = 0.0;
    double magnitude = 0.0;
    for (int64_t k = 0; k < s.K; ++k) {
        const double left = a.at(s.transpose_a ? k * s.lda + row : row * s.lda + k);
        const double right = b.at(s.transpose_b ? col * s.ldb + k : k * s.ldb + col);
        sum += left * right;
        magnitude += std::abs(left * right);
    }
    return {sum, 1e-5 * magnitude};
}

/// All sizes are to take a minute and a half: of the largest, v1 to v7 have one.
bool takes_too_long(const std::string& name, const Size& size) {
    const bool is_slow = name >= "sgemm_v1" && name <= "sgemm_v7" &&
                         name.size() == std::string("sgemm_v1").size();
    return is_slow && size.operations() > 5e10 &&
           size.text() != "NN 4096 x 4096 x 4096";
}

/// Few places, for each of them takes a row and a column, element by element.
constexpr int kPlaces = 4;

#if WB_HAVE_CUBLAS
/// cuBLAS counts columns first: what is row-major for us is transposed for it. So it is
/// asked for C transposed, which is op(B) transposed times op(A) transposed.
void call_cublas(const Cublas& blas,
                 const GemmShape& s,
                 const float* a,
                 const float* b,
                 float* c,
                 cudaStream_t stream) {
    const float one = 1.0f;
    const float zero = 0.0f;
    CUBLAS_CHECK(cublasSgemm(blas.on(stream),
                             s.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                             s.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                             static_cast<int>(s.N),
                             static_cast<int>(s.M),
                             static_cast<int>(s.K),
                             &one,
                             b,
                             static_cast<int>(s.ldb),
                             a,
                             static_cast<int>(s.lda),
                             &zero,
                             c,
                             static_cast<int>(s.ldc)));
}
#endif

}  // namespace

WB_BENCH(sgemm, bench) {
#if WB_HAVE_CUBLAS
    const Cublas blas;
#endif
    for (const Size& size : sizes(bench)) {
        if (!bench.fits(size.bytes())) continue;
        const GemmShape& s = size.shape;
        const auto a = bench.random_normal(s.M * s.K);
        const auto b = bench.random_normal(s.K * s.N);
        const auto c = bench.output<float>(s.M * s.N);
        auto problem = bench.problem({size.text(), Ceiling::fp32, size.operations()});
        problem.expect(
            "C", c, [&](int64_t i) { return element_of(a, b, size, i); }, kPlaces);
        const auto errors = product_errors<float>(bench, s);
        for (const auto& [name, idea, launcher] : wb::implementations("sgemm", sgemm)) {
            if (takes_too_long(name, size)) continue;
            const auto multiply = [&, launcher = launcher](const float* left,
                                                           const float* right,
                                                           float* product,
                                                           cudaStream_t stream) {
                launcher(s, 1.0f, left, right, 0.0f, product, stream);
            };
            if (errors) errors->note(problem, multiply);
            problem.time(name, idea, [&, multiply](cudaStream_t stream) {
                multiply(a.data(), b.data(), c.data(), stream);
            });
        }
#if WB_HAVE_CUBLAS
        const auto multiply = [&](const float* left,
                                  const float* right,
                                  float* product,
                                  cudaStream_t stream) {
            call_cublas(blas, s, left, right, product, stream);
        };
        if (errors) errors->note(problem, multiply);
        problem.time("cublasSgemm", "library", [&](cudaStream_t stream) {
            multiply(a.data(), b.data(), c.data(), stream);
        });
#endif
    }
}
