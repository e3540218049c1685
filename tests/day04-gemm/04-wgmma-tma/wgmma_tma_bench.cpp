// Times day04-gemm/04-wgmma-tma: how close does a product with wgmma and TMA come to
// cuBLAS, for 16-bit factors and for FP8, for squares and for a grid of shapes? And
// what do other sizes of tiles, and other orders, give? (--sizes grid: both)
#include "wgmma_tma.h"

#include <wb/bench/bench.h>
#include <wb/bench/cublas.h>
#include <wb/bench/errors.h>
#include <wb/bench/random_numbers.h>
#include <wb/implementations.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "wgmma_tma_sweep.h"

#if WB_HAVE_CUBLAS && !defined(SIMT_CPU)  // the simulator has no cuBLASLt
#define WB_HAVE_CUBLAS_LT
#include "cublas_lt.h"
#endif

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
    /// With leading dimensions that the TMA unit takes: multiples of 16 bytes.
    wb::GemmShape shape(bool transpose_b) const {
        const auto rows = [](int64_t n) { return (n + 15) / 16 * 16; };
        return {M, N, K, false, transpose_b, rows(K), rows(transpose_b ? K : N), N};
    }
    double flop() const {
        return 2.0 * static_cast<double>(M) * static_cast<double>(N) *
               static_cast<double>(K);
    }
    double bytes(double of_factor) const {
        return of_factor * static_cast<double>(M * (K + 15) + (K + 15) * (N + 15)) +
               2.0 * static_cast<double>(M * N);
    }
};

/// Large squares, and a shape with edges in each dimension.
std::vector<Size> squares(const Bench& bench) {
    return bench.sizes<Size>(
        {{96, 80, 64}},
        {{1024, 1024, 1024}},
        {{4096, 4096, 4096}, {8192, 8192, 8192}, {4104, 4104, 4100}},
        {{128, 128, 128}});
}

/// Small and large, square and not, what language models multiply, edges.
std::vector<Size> grid(const Bench& bench) {
    return bench.grid<Size>(
        {{96, 80, 64}}, {{1024, 1024, 1024},  {1024, 4096, 4096},  {1024, 8192, 8192},
                         {2048, 2048, 2048},  {2048, 4096, 4096},  {2048, 28672, 8192},
                         {2048, 8192, 28672}, {3072, 3072, 3072},  {4096, 1024, 4096},
                         {4096, 4096, 1024},  {4096, 4096, 2048},  {4096, 4096, 4096},
                         {4096, 4096, 16384}, {4096, 12288, 4096}, {4096, 4096, 12288},
                         {4096, 11008, 4096}, {4096, 4096, 11008}, {4096, 14336, 4096},
                         {4104, 4104, 4096},  {5000, 5000, 5000},  {6144, 6144, 6144},
                         {8192, 1024, 8192},  {8192, 8192, 1024},  {8192, 8192, 8192},
                         {8192, 10240, 8192}, {8200, 8200, 4104},  {12288, 12288, 2048},
                         {16384, 2048, 2048}, {16384, 4096, 4096}, {512, 16384, 4096},
                         {512, 1024, 4096},   {512, 4096, 4096},   {1024, 1024, 4096},
                         {1024, 2048, 4096},  {1536, 1536, 4096},  {256, 4096, 4096}});
}

/// What the sweep is made for.
std::vector<Size> swept(const Bench& bench) {
    return bench.grid<Size>(
        {{96, 80, 192}}, {{4096, 4096, 4096}, {8192, 8192, 8192}, {512, 1024, 4096}});
}

/// The right value of element i of C, and how far a kernel may be from it.
template <class T>
Expected element_of(const wb::GemmShape& s,
                    const std::vector<T>& a,
                    const std::vector<T>& b,
                    int64_t i) {
    double sum = 0.0;
    double magnitude = 0.0;
    const int64_t n = i % s.N;
    for (int64_t k = 0; k < s.K; ++k) {
        const auto in_a = static_cast<size_t>(i / s.N * s.lda + k);
        const auto in_b =
            static_cast<size_t>(s.transpose_b ? n * s.ldb + k : k * s.ldb + n);
        const double term = static_cast<double>(static_cast<float>(a[in_a])) *
                            static_cast<double>(static_cast<float>(b[in_b]));
        sum += term;
        magnitude += std::abs(term);
    }
    const double unit = sizeof(T) == 1 ? 0x1p-13 : 0x1p-23;
    const double bound = unit * (2.0 * static_cast<double>(s.K) + 2.0) * magnitude;
    return {sum, bound + 0x1p-8 * (std::abs(sum) + bound)};
}

/// Standard normal numbers of FP8.
Array<__nv_fp8_e4m3> random_fp8(Bench& bench, int64_t count) {
    std::vector<__nv_fp8_e4m3> values;
    for (const float x : bench.random_normal(count).host())
        values.push_back(static_cast<__nv_fp8_e4m3>(x));
    Array<__nv_fp8_e4m3> result(count);
    result.upload(values);
    return result;
}

#if WB_HAVE_CUBLAS
template <class T>
constexpr cudaDataType_t kLibraryType =
    std::is_same_v<T, __half> ? CUDA_R_16F : CUDA_R_16BF;

/// The library's product. It counts columns first: to it, our C is C^T = B^T A^T.
template <class T>
void cublas_product(const Cublas& blas,
                    const wb::GemmShape& s,
                    const T* a,
                    const T* b,
                    T* c,
                    cudaStream_t stream) {
    const float one = 1.0f;
    const float zero = 0.0f;
    CUBLAS_CHECK(cublasGemmEx(blas.on(stream),
                              s.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                              CUBLAS_OP_N,
                              static_cast<int>(s.N),
                              static_cast<int>(s.M),
                              static_cast<int>(s.K),
                              &one,
                              b,
                              kLibraryType<T>,
                              static_cast<int>(s.ldb),
                              a,
                              kLibraryType<T>,
                              static_cast<int>(s.lda),
                              &zero,
                              c,
                              kLibraryType<T>,
                              static_cast<int>(s.ldc),
                              CUBLAS_COMPUTE_32F,
                              CUBLAS_GEMM_DEFAULT));
}
#endif

/// What is timed.
template <class T>
struct Rung {
    std::string name;
    std::string idea;
    std::function<void(const wb::GemmShape&, const T*, const T*, T*, cudaStream_t)>
        launcher;
};

/// All versions of a function, or the last one.
template <class T>
std::vector<Rung<T>> rungs(
    const std::string& exercise,
    void (*contract)(const wb::GemmShape&, const T*, const T*, T*, cudaStream_t),
    bool last_only = false) {
    std::vector<Rung<T>> all;
    for (const auto& [name, idea, launcher] : wb::implementations(exercise, contract))
        all.push_back({name, idea, launcher});
    if (last_only) all = {all.back()};
    return all;
}

/// All of them and cuBLAS, on the same buffers. C is of the factors' type for both.
///
/// @param with_errors  at the size of the ladder, on numbers with outliers
template <class T>
void time_16_bits(Bench& bench,
                  const std::vector<Size>& sizes,
                  bool transpose_b,
                  const std::vector<Rung<T>>& rungs,
                  Ceiling ceiling,
                  bool with_errors = false) {
    for (const Size& size : sizes) {
        if (!bench.fits(size.bytes(sizeof(T)))) continue;
        const wb::GemmShape s = size.shape(transpose_b);
        const auto a = random_numbers<T>(bench, s.M * s.lda);
        const auto b = random_numbers<T>(bench, s.rows_of_b() * s.ldb);
        const auto host_a = a.host();
        const auto host_b = b.host();
        const auto c = bench.output<T>(s.M * s.N);
        const std::string layout = transpose_b ? ", B as [N, K]" : "";
        auto problem = bench.problem({size.text() + layout, ceiling, size.flop()});
        problem.expect(
            "C", c, [&](int64_t i) { return element_of<T>(s, host_a, host_b, i); }, 16);
        std::optional<ProductErrors<T, T>> errors;
        if (with_errors) errors = product_errors<T, T>(bench, s);
        for (const Rung<T>& rung : rungs) {
            if (errors) {
                errors->note(problem, [&](const T* A, const T* B, T* C, auto stream) {
                    rung.launcher(s.packed(), A, B, C, stream);
                });
            }
            problem.time(rung.name, rung.idea, [&](cudaStream_t stream) {
                rung.launcher(s, a.data(), b.data(), c.data(), stream);
            });
        }
#if WB_HAVE_CUBLAS
        const Cublas blas;
        if (errors) {
            errors->note(problem, [&](const T* A, const T* B, T* C, auto stream) {
                cublas_product<T>(blas, s.packed(), A, B, C, stream);
            });
        }
        problem.time("cublasGemmEx", "library", [&](cudaStream_t stream) {
            cublas_product<T>(blas, s, a.data(), b.data(), c.data(), stream);
        });
#endif
    }
}

/// The same for FP8. There is no ceiling of FP8: the share is of bf16's.
void time_fp8(Bench& bench) {
    for (const Size& size : squares(bench)) {
        if (!bench.fits(size.bytes(1.0))) continue;
        const wb::GemmShape s = size.shape(true);
        const auto a = random_fp8(bench, s.M * s.lda);
        const auto b = random_fp8(bench, s.N * s.ldb);
        const auto host_a = a.host();
        const auto host_b = b.host();
        Array<float> scales(s.M + s.N);
        scales.upload(std::vector<float>(static_cast<size_t>(s.M + s.N), 1.0f));
        const auto c = bench.output<__nv_bfloat16>(s.M * s.N);
        auto problem = bench.problem({size.text(), Ceiling::bf16, size.flop()});
        problem.expect(
            "C", c, [&](int64_t i) { return element_of(s, host_a, host_b, i); }, 16);
        const auto errors = product_errors<__nv_fp8_e4m3, __nv_bfloat16>(bench, s);
        for (const auto& [name, idea, launcher] :
             wb::implementations("wgmma_tma_fp8", wgmma_tma_fp8)) {
            const auto multiply = [&, launcher = launcher](const wb::GemmShape& shape,
                                                           const __nv_fp8_e4m3* A,
                                                           const __nv_fp8_e4m3* B,
                                                           __nv_bfloat16* C,
                                                           cudaStream_t stream) {
                launcher(shape, A, B, scales.data(), scales.data() + s.M, C, stream);
            };
            if (errors) {
                errors->note(problem, [&](auto* A, auto* B, auto* C, auto stream) {
                    multiply(s.packed(), A, B, C, stream);
                });
            }
            problem.time(name, idea, [&, multiply](cudaStream_t stream) {
                multiply(s, a.data(), b.data(), c.data(), stream);
            });
        }
#ifdef WB_HAVE_CUBLAS_LT
        for (const bool fast : {true, false}) {
            const CublasLtFp8 library(s, scales.data(), fast);
            if (!library.is_there()) continue;
            if (errors) {  // rows of this size have no gaps
                errors->note(problem, [&](auto* A, auto* B, auto* C, auto stream) {
                    library.multiply(A, B, C, stream);
                });
            }
            problem.time(fast ? "cublasLtMatmul, fast accumulation" : "cublasLtMatmul",
                         "library",
                         [&](cudaStream_t stream) {
                             library.multiply(a.data(), b.data(), c.data(), stream);
                         });
        }
#endif
    }
}

/// Prints the share of cuBLAS's speed that the other row of each size has: the
/// geometric mean of all of them.
void print_mean(const Bench& bench) {
    std::map<std::string, double> ours;
    std::map<std::string, double> library;
    for (const Row& row : bench.rows())
        (row.rung == "cublasGemmEx" ? library : ours)[row.size] = row.rate();
    double sum = 0.0;
    int count = 0;
    int reached = 0;
    for (const auto& [size, rate] : ours) {
        const auto peer = library.find(size);
        if (peer == library.end()) continue;
        const double share = rate / peer->second;
        sum += std::log(share);
        ++count;
        if (share >= 0.97) ++reached;
    }
    if (count == 0) return;
    std::printf("\n%.1f %% of cuBLAS: the geometric mean of %d shapes; %d have 97 %%\n",
                100.0 * std::exp(sum / count),
                count,
                reached);
}

}  // namespace

WB_BENCH(wgmma_tma_bf16, bench) {
    const auto all = rungs("wgmma_tma_bf16", wgmma_tma_bf16);
    time_16_bits(bench, squares(bench), false, all, Ceiling::bf16, true);
    time_16_bits(bench, squares(bench), true, all, Ceiling::bf16);
}

WB_BENCH(wgmma_tma_fp16, bench) {
    const auto all = rungs("wgmma_tma_fp16", wgmma_tma_fp16);
    time_16_bits(bench, squares(bench), false, all, Ceiling::fp16, true);
}

WB_BENCH(wgmma_tma_fp8, bench) {
    time_fp8(bench);
}

WB_BENCH(wgmma_tma_grid, bench) {
    const auto last = rungs("wgmma_tma_bf16", wgmma_tma_bf16, true);
    time_16_bits(bench, grid(bench), false, last, Ceiling::bf16);
    print_mean(bench);
}

WB_BENCH(wgmma_tma_sweep, bench) {
    std::vector<Rung<__nv_bfloat16>> all;
    for (const auto& [name, multiply] : wgmma_tma_sweep::variants())
        all.push_back({name, "sweep", multiply});
    time_16_bits(bench, swept(bench), false, all, Ceiling::bf16);
}
