// Times day05-quantization/02-gptq-int4: how much faster is a product with weights of 4
// bits than cuBLAS with weights of 16?
#include "gptq_int4.h"

#include <wb/bench/bench.h>
#include <wb/bench/cublas.h>
#include <wb/bench/random_numbers.h>
#include <wb/check.h>
#include <wb/implementations.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace wb::bench;

namespace {

struct Size {
    int64_t M;
    int64_t N;
    int64_t K;
    int64_t group = 128;
    bool act_order = false;

    /// As mma_sync_bench.cpp has them; what is unusual comes behind.
    std::string text() const {
        return std::to_string(M) + " x " + std::to_string(N) + " x " +
               std::to_string(K) +
               (group == 128 ? "" : ", groups of " + std::to_string(group)) +
               (act_order ? ", act-order" : "");
    }
    GptqShape shape() const { return {M, N, K, group, true}; }
    /// Of W: numbers, zeros and scales.
    double weight_bytes() const {
        const auto groups = static_cast<double>(shape().groups());
        const auto n = static_cast<double>(N);
        return 0.5 * static_cast<double>(K) * n + 2.5 * groups * n +
               (act_order ? 4.0 * static_cast<double>(K) : 0.0);
    }
    double bytes() const {
        return weight_bytes() + 2.0 * static_cast<double>(M * (K + N));
    }
    double flop() const {
        return 2.0 * static_cast<double>(M) * static_cast<double>(N) *
               static_cast<double>(K);
    }
};

/// W on the host and on the device, packed as well.
struct Weights {
    std::vector<int32_t> qweight;
    std::vector<int32_t> qzeros;
    std::vector<int32_t> g_idx;
    Array<int32_t> d_qweight;
    Array<int32_t> d_qzeros;
    Array<__half> scales;
    Array<int32_t> d_g_idx;
    Array<uint32_t> packed;
    Array<unsigned long long> bad;
    Size size;

    Weights(Bench& bench, const Size& s)
        : qweight(random_words(s.K / 8 * s.N, 1)),
          qzeros(random_words(s.shape().groups() * (s.N / 8), 2)),
          g_idx(order(s)),
          d_qweight(s.K / 8 * s.N),
          d_qzeros(s.shape().groups() * (s.N / 8)),
          scales(random_numbers<__half>(bench, s.shape().groups() * s.N)),
          d_g_idx(s.K),
          packed(4 * gptq_packed_vectors(s.shape(), s.act_order)),
          bad(1),
          size(s) {
        d_qweight.upload(qweight);
        d_qzeros.upload(qzeros);
        if (s.act_order) d_g_idx.upload(g_idx);
        bad.upload({0});
        gptq_repack(s.shape(),
                    tensors(),
                    reinterpret_cast<uint4*>(packed.data()),
                    bad.data(),
                    nullptr);
        CUDA_CHECK(cudaDeviceSynchronize());
    }

    GptqTensors tensors() const {
        return {d_qweight.data(),
                d_qzeros.data(),
                scales.data(),
                size.act_order ? d_g_idx.data() : nullptr,
                d_qweight.size(),
                d_qzeros.size(),
                scales.size(),
                size.act_order ? size.K : 0};
    }

    /// W[k, n], as it is defined.
    float at(const std::vector<__half>& host_scales, int64_t k, int64_t n) const {
        const int64_t g =
            size.act_order ? g_idx[static_cast<size_t>(k)] : k / size.group;
        const auto nibble = [](int32_t word, int64_t i) {
            return static_cast<int>(static_cast<uint32_t>(word) >> i * 4 & 15);
        };
        const int q = nibble(qweight[static_cast<size_t>(k / 8 * size.N + n)], k % 8);
        const int zero =
            1 + nibble(qzeros[static_cast<size_t>(g * (size.N / 8) + n / 8)], n % 8);
        const auto scale =
            static_cast<float>(host_scales[static_cast<size_t>(g * size.N + n)]);
        return static_cast<float>(
            static_cast<__half>(static_cast<float>(q - zero) * scale));
    }

 private:
    static std::vector<int32_t> random_words(int64_t count, unsigned seed) {
        std::mt19937 random(seed);
        std::vector<int32_t> words;
        for (int64_t i = 0; i < count; ++i)
            words.push_back(static_cast<int32_t>(random()));
        return words;
    }
    /// Rows of a group are as far apart as groups are many.
    static std::vector<int32_t> order(const Size& s) {
        std::vector<int32_t> g_idx;
        for (int64_t k = 0; k < s.K; ++k)
            g_idx.push_back(static_cast<int32_t>(k % s.shape().groups()));
        return g_idx;
    }
};

#if WB_HAVE_CUBLAS
/// The library's product with dense weights of 16 bits. It counts columns first: to it,
/// our y is y^T = W^T x^T.
void cublas_product(const Cublas& blas,
                    const Size& s,
                    const __half* x,
                    const __half* w,
                    __half* y,
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
                              w,
                              CUDA_R_16F,
                              N,
                              x,
                              CUDA_R_16F,
                              K,
                              &zero,
                              y,
                              CUDA_R_16F,
                              N,
                              CUBLAS_COMPUTE_32F,
                              CUBLAS_GEMM_DEFAULT));
}
#endif

/// v1 to v4 read W for each row of x: with many rows that takes up to 0.3 s a call. And
/// v1 and v2 are shown once for each number of rows.
bool takes_too_long(const std::string& name, const Size& s) {
    if (s.K < 4096) return false;
    if (name == "gptq_matmul_v1" || name == "gptq_matmul_v2")
        return s.M > 16 || s.N == s.K;
    return s.M > 16 && (name == "gptq_matmul_v3" || name == "gptq_matmul_v4");
}

/// All versions on these sizes, and cuBLAS, which reads four times as much for W.
void time_products(Bench& bench, const std::vector<Size>& sizes, bool count_flop) {
    for (const Size& s : sizes) {
        if (!bench.fits(3.0 * static_cast<double>(s.K * s.N) + s.bytes())) continue;
        const Weights w(bench, s);
        const auto scales = w.scales.host();
        const auto x = random_numbers<__half>(bench, s.M * s.K);
        const auto host_x = x.host();
        const auto y = bench.output<__half>(s.M * s.N);
        auto problem = count_flop ? bench.problem({s.text(), Ceiling::fp16, s.flop()})
                                  : bench.problem({s.text(), Ceiling::read, s.bytes()});
        problem.expect(
            "y",
            y,
            [&](int64_t i) {
                double sum = 0.0;
                double magnitude = 0.0;
                for (int64_t k = 0; k < s.K; ++k) {
                    const double term =
                        static_cast<double>(static_cast<float>(
                            host_x[static_cast<size_t>(i / s.N * s.K + k)])) *
                        double{w.at(scales, k, i % s.N)};
                    sum += term;
                    magnitude += std::abs(term);
                }
                const double of_sum =
                    0x1p-23 * (2.0 * static_cast<double>(s.K) + 16.0) * magnitude;
                return Expected{sum, of_sum + 0x1p-11 * std::abs(sum) + 0x1p-24};
            },
            16);
        for (const auto& [name, idea, launcher] :
             wb::implementations("gptq_matmul", gptq_matmul)) {
            if (takes_too_long(name, s)) continue;
            problem.note("weight_bytes", s.weight_bytes());
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(s.shape(),
                         w.tensors(),
                         reinterpret_cast<const uint4*>(w.packed.data()),
                         x.data(),
                         y.data(),
                         stream);
            });
        }
#if WB_HAVE_CUBLAS
        const auto dense = bench.output<__half>(s.K * s.N);
        gptq_dequantize(s.shape(), w.tensors(), dense.data(), w.bad.data(), nullptr);
        CUDA_CHECK(cudaDeviceSynchronize());
        const Cublas blas;
        problem.note("weight_bytes", 2.0 * static_cast<double>(s.K * s.N));
        problem.time("cublasGemmEx", "dense W in fp16", [&](cudaStream_t stream) {
            cublas_product(blas, s, x.data(), dense.data(), y.data(), stream);
        });
#endif
    }
}

}  // namespace

WB_BENCH(gptq_matmul, bench) {
    time_products(bench,
                  bench.sizes<Size>({{3, 40, 64, 32}, {2, 40, 64, 32, true}},
                                    {{1, 1024, 1024}},
                                    {{1, 12288, 4096},
                                     {4, 12288, 4096},
                                     {8, 12288, 4096},
                                     {16, 12288, 4096},
                                     {64, 12288, 4096},
                                     {1, 8192, 8192},
                                     {4, 8192, 8192},
                                     {8, 8192, 8192},
                                     {16, 8192, 8192},
                                     {64, 8192, 8192},
                                     {1, 12288, 4096, 32},
                                     {1, 12288, 4096, 128, true}},
                                    {{1, 512, 256}}),
                  false);
}

WB_BENCH(gptq_matmul_many, bench) {
    time_products(
        bench,
        bench.sizes<Size>({{70, 40, 64, 32}},
                          {{256, 1024, 1024}},
                          {{256, 12288, 4096}, {2048, 12288, 4096}, {2048, 8192, 8192}},
                          {{128, 256, 128}}),
        true);
}

WB_BENCH(gptq_dequantize, bench) {
    for (const Size& s : bench.sizes<Size>(
             {{1, 40, 64, 32}},
             {{1, 1024, 1024}},
             {{1, 12288, 4096}, {1, 8192, 8192}, {1, 12288, 4096, 128, true}},
             {{1, 512, 256}})) {
        if (!bench.fits(3.0 * static_cast<double>(s.K * s.N))) continue;
        const Weights w(bench, s);
        const auto scales = w.scales.host();
        const auto out = bench.output<__half>(s.K * s.N);
        const auto of_text = [&] {
            const std::string text = s.text();
            return text.substr(text.find('x') + 2);
        };
        auto problem =
            bench.problem({of_text(),
                           Ceiling::copy,
                           s.weight_bytes() + 2.0 * static_cast<double>(s.K * s.N)});
        problem.expect("w", out, [&](int64_t i) {
            return Expected{w.at(scales, i / s.N, i % s.N), 0.0};
        });
        for (const auto& [name, idea, launcher] :
             wb::implementations("gptq_dequantize", gptq_dequantize)) {
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(s.shape(), w.tensors(), out.data(), w.bad.data(), stream);
            });
        }
    }
}
