// Times day04-gemm/03-mma-sync: how close does a product with mma.sync come to
// cuBLAS, for both types, for large matrices and for few rows?
#include "mma_sync.h"

#include <wb/bench/bench.h>
#include <wb/bench/cublas.h>
#include <wb/bench/errors.h>
#include <wb/bench/random_numbers.h>
#include <wb/implementations.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "mma_sync_stages.h"

using namespace wb::bench;

namespace {

template <class T>
using Function = void(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream);

struct Size {
    int64_t M;
    int64_t N;
    int64_t K;

    std::string text() const {
        return std::to_string(M) + " x " + std::to_string(N) + " x " +
               std::to_string(K);
    }
    wb::GemmShape shape() const { return {M, N, K, false, false, K, N, N}; }
    double flop() const {
        return 2.0 * static_cast<double>(M) * static_cast<double>(N) *
               static_cast<double>(K);
    }
    double bytes(double of_factor) const {
        return of_factor * static_cast<double>(M * K + K * N) +
               4.0 * static_cast<double>(M * N);
    }
};

/// Large squares; one whose rows are no multiples of 16 bytes, so that every tile goes
/// element by element; and few rows of A, as a language model that answers has them.
/// For fp16, whose instruction is as fast as bf16's, the large ones.
std::vector<Size> sizes(const Bench& bench, bool with_few_rows) {
    std::vector<Size> full = {{4096, 4096, 4096}, {8192, 8192, 8192}};
    if (with_few_rows)
        full.insert(full.end(),
                    {{4095, 4095, 4095},
                     {16, 4096, 4096},
                     {32, 4096, 4096},
                     {64, 4096, 4096},
                     {128, 4096, 4096},
                     {256, 4096, 4096},
                     {16, 8192, 8192},
                     {64, 8192, 8192}});
    return bench.sizes<Size>(
        {{96, 80, 64}}, {{1024, 1024, 1024}}, full, {{128, 128, 128}});
}

/// v1 to v4 are not made for few rows: all sizes are to take a minute and a half.
bool is_left_out(const std::string& name, const Size& s) {
    const std::string version = name.substr(name.size() - 2);
    return s.M <= 256 && s.N >= 4096 && version >= "v1" && version <= "v4";
}

/// The right value of element i of C.
template <class T>
Expected element_of(const Size& s,
                    const std::vector<T>& a,
                    const std::vector<T>& b,
                    int64_t i) {
    double sum = 0.0;
    double magnitude = 0.0;
    for (int64_t k = 0; k < s.K; ++k) {
        const double term =
            static_cast<double>(a[static_cast<size_t>(i / s.N * s.K + k)]) *
            static_cast<double>(b[static_cast<size_t>(k * s.N + i % s.N)]);
        sum += term;
        magnitude += std::abs(term);
    }
    return {sum, 0x1p-23 * (2.0 * static_cast<double>(s.K) + 2.0) * magnitude};
}

#if WB_HAVE_CUBLAS
template <class T>
constexpr cudaDataType_t kLibraryType =
    std::is_same_v<T, __half> ? CUDA_R_16F : CUDA_R_16BF;

/// The library's product. It counts columns first: to it, our C is C^T = B^T A^T.
template <class T>
void cublas_product(const Cublas& blas,
                    const Size& s,
                    const T* a,
                    const T* b,
                    float* c,
                    cudaStream_t stream) {
    const float one = 1.0f;
    const float zero = 0.0f;
    const auto M = static_cast<int>(s.M);
    const auto N = static_cast<int>(s.N);
    const auto K = static_cast<int>(s.K);
    CUBLAS_CHECK(cublasGemmEx(blas.on(stream),
                              CUBLAS_OP_N,
                              CUBLAS_OP_N,
                              N,
                              M,
                              K,
                              &one,
                              b,
                              kLibraryType<T>,
                              N,
                              a,
                              kLibraryType<T>,
                              K,
                              &zero,
                              c,
                              CUDA_R_32F,
                              N,
                              CUBLAS_COMPUTE_32F,
                              CUBLAS_GEMM_DEFAULT));
}
#endif

template <class T>
void time_all(Bench& bench,
              const std::string& exercise,
              Function<T>* contract,
              Ceiling ceiling) {
    for (const Size& s : sizes(bench, ceiling == Ceiling::bf16)) {
        if (!bench.fits(s.bytes(sizeof(T)))) continue;
        const auto a = random_numbers<T>(bench, s.M * s.K);
        const auto b = random_numbers<T>(bench, s.K * s.N);
        const auto host_a = a.host();
        const auto host_b = b.host();
        const auto c = bench.output<float>(s.M * s.N);
        auto problem = bench.problem({s.text(), ceiling, s.flop()});
        problem.expect(
            "C", c, [&](int64_t i) { return element_of<T>(s, host_a, host_b, i); }, 16);
        const auto errors = product_errors<T>(bench, s.shape());
        for (const auto& [name, idea, launcher] :
             wb::implementations(exercise, contract)) {
            if (is_left_out(name, s)) continue;
            const auto multiply = [&, launcher = launcher, s = s](const T* left,
                                                                  const T* right,
                                                                  float* product,
                                                                  cudaStream_t stream) {
                launcher(s.shape(), left, right, product, stream);
            };
            if (errors) errors->note(problem, multiply);
            problem.time(name, idea, [&, multiply](cudaStream_t stream) {
                multiply(a.data(), b.data(), c.data(), stream);
            });
        }
#if WB_HAVE_CUBLAS
        const Cublas blas;
        const auto multiply =
            [&, s = s](
                const T* left, const T* right, float* product, cudaStream_t stream) {
                cublas_product<T>(blas, s, left, right, product, stream);
            };
        if (errors) errors->note(problem, multiply);
        problem.time("cublasGemmEx", "library", [&](cudaStream_t stream) {
            multiply(a.data(), b.data(), c.data(), stream);
        });
#endif
    }
}

}  // namespace

WB_BENCH(mma_sync_bf16, bench) {
    time_all<__nv_bfloat16>(bench, "mma_sync_bf16", mma_sync_bf16, Ceiling::bf16);
}

WB_BENCH(mma_sync_fp16, bench) {
    time_all<__half>(bench, "mma_sync_fp16", mma_sync_fp16, Ceiling::fp16);
}

WB_BENCH(mma_sync_stages, bench) {
    for (const Size& s : bench.sizes<Size>({{96, 80, 200}},
                                           {{1024, 1024, 1024}},
                                           {{4096, 4096, 4096}, {1024, 1024, 4096}},
                                           {{128, 128, 128}})) {
        if (!bench.fits(s.bytes(2.0))) continue;
        const auto a = random_numbers<__nv_bfloat16>(bench, s.M * s.K);
        const auto b = random_numbers<__nv_bfloat16>(bench, s.K * s.N);
        const auto host_a = a.host();
        const auto host_b = b.host();
        const auto c = bench.output<float>(s.M * s.N);
        auto problem = bench.problem({s.text(), Ceiling::bf16, s.flop()});
        problem.expect(
            "C", c, [&](int64_t i) { return element_of(s, host_a, host_b, i); }, 16);
        for (const auto& [name, multiply] : mma_sync_stages::variants()) {
            problem.time(name, "v4", [&, launch = multiply](cudaStream_t stream) {
                launch(s.shape(), a.data(), b.data(), c.data(), stream);
            });
        }
    }
}
