// Times day05-quantization/01-int8: a product of bytes beside cuBLAS's, and how near
// rounding rows to bytes comes to a copy.
#include "int8.h"

#include <wb/bench/bench.h>
#include <wb/bench/cublas.h>
#include <wb/bench/random_numbers.h>
#include <wb/check.h>
#include <wb/implementations.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace wb::bench;

namespace {

struct Size {
    int64_t M;
    int64_t N;
    int64_t K;

    std::string text() const {
        return std::to_string(M) + " x " + std::to_string(N) + " x " +
               std::to_string(K);
    }
    double operations() const {
        return 2.0 * static_cast<double>(M) * static_cast<double>(N) *
               static_cast<double>(K);
    }
    double bytes() const {
        return static_cast<double>((M + N) * K) + 2.0 * static_cast<double>(M * N);
    }
};

/// Rows in 8 bits on the device, of random numbers.
struct Rows {
    Array<int8_t> q;
    Array<float> scales;
    Array<int32_t> zeros;
    Array<int32_t> sums;

    Rows(Bench& bench, int64_t rows, int64_t columns, bool is_symmetric)
        : q(rows * columns), scales(rows), zeros(rows), sums(rows) {
        const auto x = random_numbers<__nv_bfloat16>(bench, rows * columns);
        int8_quantize(x.data(),
                      rows,
                      columns,
                      q.data(),
                      scales.data(),
                      is_symmetric ? nullptr : zeros.data(),
                      sums.data(),
                      nullptr);
        CUDA_CHECK(cudaDeviceSynchronize());
    }
};

/// v1 does half a TOP/s: of the large sizes it has one, which takes it 6 seconds.
bool takes_too_long(const std::string& name, const Size& s, bool is_symmetric) {
    return name == "int8_matmul_v1" && s.operations() > 2e10 &&
           !(is_symmetric && s.text() == "4096 x 4096 x 4096");
}

/// All versions, and cuBLAS, which has sums of 32 bits for its result, without scales.
/// There is no ceiling of bytes: the share is of bf16's, and may be 200 %.
void time_products(Bench& bench, const std::vector<Size>& sizes, bool is_symmetric) {
    for (const Size& s : sizes) {
        if (!bench.fits(s.bytes() + 4.0 * static_cast<double>(s.M * s.N))) continue;
        const Rows x(bench, s.M, s.K, is_symmetric);
        const Rows w(bench, s.N, s.K, true);
        const auto host_x = x.q.host();
        const auto host_w = w.q.host();
        const auto x_scales = x.scales.host();
        const auto x_zeros = x.zeros.host();
        const auto w_scales = w.scales.host();
        const auto sum_of = [&](int64_t i) {
            const int zero = is_symmetric ? 0 : x_zeros[static_cast<size_t>(i / s.N)];
            int64_t sum = 0;
            for (int64_t k = 0; k < s.K; ++k)
                sum += (host_x[static_cast<size_t>(i / s.N * s.K + k)] - zero) *
                       host_w[static_cast<size_t>(i % s.N * s.K + k)];
            return static_cast<double>(sum);
        };
        const auto y = bench.output<__nv_bfloat16>(s.M * s.N);
        auto problem = bench.problem({s.text(), Ceiling::bf16, s.operations()});
        problem.expect(
            "y",
            y,
            [&](int64_t i) {
                const double value = sum_of(i) *
                                     double{x_scales[static_cast<size_t>(i / s.N)]} *
                                     double{w_scales[static_cast<size_t>(i % s.N)]};
                return Expected{value, 0x1.01p-8 * std::abs(value)};
            },
            16);
        const Int8Inputs in = {x.q.data(),
                               x.scales.data(),
                               is_symmetric ? nullptr : x.zeros.data(),
                               w.q.data(),
                               w.scales.data(),
                               w.sums.data(),
                               nullptr};
        for (const auto& [name, idea, launcher] :
             wb::implementations("int8_matmul", int8_matmul)) {
            if (takes_too_long(name, s, is_symmetric)) continue;
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher({s.M, s.N, s.K}, in, y.data(), stream);
            });
        }
#if WB_HAVE_CUBLAS && !defined(SIMT_CPU)  // the simulator's has no bytes
        if (!is_symmetric) continue;
        const auto sums = bench.output<int32_t>(s.M * s.N);
        auto library = bench.problem({s.text(), Ceiling::bf16, s.operations()});
        library.expect(
            "sums",
            sums,
            [&](int64_t i) {
                return Expected{sum_of(i), 0.0};
            },
            16);
        const Cublas blas;
        library.time("cublasGemmEx", "sums of 32 bits", [&](cudaStream_t stream) {
            const int32_t one = 1;
            const int32_t zero = 0;
            CUBLAS_CHECK(cublasGemmEx(blas.on(stream),
                                      CUBLAS_OP_T,
                                      CUBLAS_OP_N,
                                      static_cast<int>(s.N),
                                      static_cast<int>(s.M),
                                      static_cast<int>(s.K),
                                      &one,
                                      w.q.data(),
                                      CUDA_R_8I,
                                      static_cast<int>(s.K),
                                      x.q.data(),
                                      CUDA_R_8I,
                                      static_cast<int>(s.K),
                                      &zero,
                                      sums.data(),
                                      CUDA_R_32I,
                                      static_cast<int>(s.N),
                                      CUBLAS_COMPUTE_32I,
                                      CUBLAS_GEMM_DEFAULT));
        });
#endif
    }
}

}  // namespace

WB_BENCH(int8_matmul, bench) {
    time_products(bench,
                  bench.sizes<Size>({{96, 80, 64}},
                                    {{1024, 1024, 1024}},
                                    {{4096, 4096, 4096},
                                     {8192, 8192, 8192},
                                     {256, 4096, 4096},
                                     {2048, 12288, 4096}},
                                    {{128, 128, 128}}),
                  true);
}

WB_BENCH(int8_matmul_zeros, bench) {
    time_products(bench,
                  bench.sizes<Size>({{96, 80, 64}},
                                    {{1024, 1024, 1024}},
                                    {{4096, 4096, 4096}},
                                    {{128, 128, 128}}),
                  false);
}

WB_BENCH(int8_quantize, bench) {
    struct Matrix {
        int64_t rows;
        int64_t columns;
    };
    for (const Matrix& s : bench.sizes<Matrix>(
             {{9, 48}},
             {{1024, 1024}},
             {{4096, 4096}, {16384, 4096}, {16384, 16384}, {65536, 1024}},
             {{64, 512}})) {
        const auto elements = static_cast<double>(s.rows * s.columns);
        if (!bench.fits(3.0 * elements)) continue;
        const auto x = random_numbers<__nv_bfloat16>(bench, s.rows * s.columns);
        const auto host_x = x.host();
        const auto q = bench.output<int8_t>(s.rows * s.columns);
        const Array<float> scales(s.rows);
        auto problem =
            bench.problem({std::to_string(s.rows) + " x " + std::to_string(s.columns),
                           Ceiling::copy,
                           3.0 * elements + 4.0 * static_cast<double>(s.rows)});
        problem.expect("q", q, [&](int64_t i) {
            float largest = 0.0f;
            for (int64_t c = 0; c < s.columns; ++c)
                largest = std::fmax(
                    largest,
                    std::abs(static_cast<float>(
                        host_x[static_cast<size_t>(i / s.columns * s.columns + c)])));
            const float r = 1.0f / (largest / 127.0f);
            const auto value = static_cast<float>(host_x[static_cast<size_t>(i)]);
            return Expected{std::nearbyint(double{value} * r), 0.0};
        });
        for (const auto& [name, idea, launcher] :
             wb::implementations("int8_quantize", int8_quantize))
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(x.data(),
                         s.rows,
                         s.columns,
                         q.data(),
                         scales.data(),
                         nullptr,
                         nullptr,
                         stream);
            });
    }
}
