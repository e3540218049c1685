// Times day05-quantization/04-fp4-linear: how much faster is a product with weights of
// 4 bits than cuBLAS with weights of 16?
#include "fp4_linear.h"

#include <wb/bench/bench.h>
#include <wb/bench/cublas.h>
#include <wb/bench/random_numbers.h>
#include <wb/check.h>
#include <wb/implementations.h>
#include <wb/reference/fp4.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace wb::bench;

namespace {

using wb::reference::Fp4Kind;
using wb::reference::Fp4Matrix;

struct Size {
    int64_t M;
    int64_t N;
    int64_t K;
    Fp4Scales scales = Fp4Scales::nvfp4;

    std::string text() const {
        const char* const kinds[] = {"channel", "MX", "NVFP4"};
        return std::to_string(M) + " x " + std::to_string(N) + " x " +
               std::to_string(K) + ", " + kinds[static_cast<int>(scales)];
    }
    Fp4Shape shape() const { return {M, N, K, scales}; }
    double weight_bytes() const { return static_cast<double>(shape().weight_bytes()); }
    double bytes() const {
        return weight_bytes() + 2.0 * static_cast<double>(M * (K + N));
    }
};

/// Random codes on the device, all scales 1/4 but for nvfp4's bytes, which are random.
struct Weights {
    Fp4Matrix host;
    Array<uint8_t> values;
    Array<float> floats;
    Array<uint8_t> bytes;
    Array<float> global;

    explicit Weights(const Size& s)
        : host(wb::reference::empty_fp4(s.N, s.K, static_cast<Fp4Kind>(s.scales))),
          values(s.N * s.K / 2),
          floats(s.N),
          bytes(s.N * s.K / 16),
          global(1) {
        uint32_t state = 1;
        const auto next = [&] {
            return (state = state * 1664525u + 1013904223u) >> 24;
        };
        for (uint8_t& byte : host.values)
            byte = static_cast<uint8_t>(next());
        for (float& scale : host.float_scales)
            scale = 0.25f;
        for (uint8_t& byte : host.byte_scales)
            byte = static_cast<uint8_t>(s.scales == Fp4Scales::mx ? 125
                                                                  : 40 + next() % 16);
        host.global_scale = s.scales == Fp4Scales::nvfp4 ? 0.25f : 1.0f;
        values.upload(host.values);
        if (s.scales == Fp4Scales::channel) {
            floats.upload(host.float_scales);
        } else {
            auto all = host.byte_scales;
            all.resize(static_cast<size_t>(s.N * s.K / 16));
            bytes.upload(all);
        }
        global.upload({host.global_scale});
    }

    Fp4Weights tensors(const Size& s) {
        const bool is_channel = s.scales == Fp4Scales::channel;
        return {values.data(),
                is_channel ? static_cast<void*>(floats.data())
                           : static_cast<void*>(bytes.data()),
                s.scales == Fp4Scales::nvfp4 ? global.data() : nullptr,
                s.N * s.K / 2,
                s.shape().num_scales()};
    }
};

#if WB_HAVE_CUBLAS
/// The library's product with dense weights of 16 bits, [N, K].
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
                              CUBLAS_OP_T,
                              CUBLAS_OP_N,
                              N,
                              M,
                              K,
                              &one,
                              w,
                              CUDA_R_16F,
                              K,
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

}  // namespace

WB_BENCH(fp4_linear, bench) {
    for (const Size& s : bench.sizes<Size>(
             {{3, 40, 64}, {2, 40, 64, Fp4Scales::mx}, {1, 8, 32, Fp4Scales::channel}},
             {{1, 1024, 1024}},
             {{1, 12288, 4096},
              {4, 12288, 4096},
              {8, 12288, 4096},
              {16, 12288, 4096},
              {64, 12288, 4096},
              {1, 8192, 8192},
              {8, 8192, 8192},
              {16, 8192, 8192},
              {1, 12288, 4096, Fp4Scales::mx},
              {1, 12288, 4096, Fp4Scales::channel}},
             {{1, 512, 256}})) {
        if (!bench.fits(3.0 * static_cast<double>(s.K * s.N) + s.bytes())) continue;
        Weights w(s);
        const auto x = random_numbers<__half>(bench, s.M * s.K);
        const auto host_x = x.host();
        const auto y = bench.output<__half>(s.M * s.N);
        auto problem = bench.problem({s.text(), Ceiling::read, s.bytes()});
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
                        w.host.weight(i % s.N, k);
                    sum += term;
                    magnitude += std::abs(term);
                }
                const double of_sum =
                    0x1p-23 * (2.0 * static_cast<double>(s.K) + 16.0) * magnitude;
                return Expected{sum, of_sum + 0x1p-11 * std::abs(sum) + 0x1p-24};
            },
            16);
        for (const auto& [name, idea, launcher] :
             wb::implementations("fp4_linear", fp4_linear)) {
            // v1 to v3 are shown once for each number of rows; with 64 they take
            // milliseconds.
            if (name < "fp4_linear_v4" && name != "fp4_linear" && s.K >= 4096 &&
                (s.M > 16 || s.N == s.K))
                continue;
            problem.note("weight_bytes", s.weight_bytes());
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(s.shape(),
                         Fp4Activation::none,
                         w.tensors(s),
                         x.data(),
                         nullptr,
                         y.data(),
                         stream);
            });
        }
#if WB_HAVE_CUBLAS
        std::vector<__half> weights;
        for (int64_t n = 0; n < s.N; ++n)
            for (int64_t k = 0; k < s.K; ++k)
                weights.push_back(
                    static_cast<__half>(static_cast<float>(w.host.weight(n, k))));
        Array<__half> dense(s.K * s.N);
        dense.upload(weights);
        const Cublas blas;
        problem.note("weight_bytes", 2.0 * static_cast<double>(s.K * s.N));
        problem.time("cublasGemmEx", "dense W in fp16", [&](cudaStream_t stream) {
            cublas_product(blas, s, x.data(), dense.data(), y.data(), stream);
        });
#endif
    }
}

WB_BENCH(fp4_quantize, bench) {
    for (const Size& s :
         bench.sizes<Size>({{1, 40, 64}, {1, 40, 64, Fp4Scales::channel}},
                           {{1, 1024, 1024}},
                           {{1, 12288, 4096},
                            {1, 12288, 4096, Fp4Scales::mx},
                            {1, 12288, 4096, Fp4Scales::channel}},
                           {{1, 512, 256}})) {
        if (!bench.fits(6.0 * static_cast<double>(s.K * s.N))) continue;
        Weights w(s);
        const auto weights = random_numbers<float>(bench, s.K * s.N);
        const auto right = wb::reference::fp4_quantized(
            weights.host(), s.N, s.K, w.host.kind, w.host.global_scale);
        const std::string text = s.text();
        auto problem =
            bench.problem({text.substr(text.find('x') + 2),
                           Ceiling::copy,
                           s.weight_bytes() + 4.0 * static_cast<double>(s.K * s.N)});
        problem.expect("values", w.values, [&](int64_t i) {
            return Expected{double(right.values[static_cast<size_t>(i)]), 0.0};
        });
        for (const auto& [name, idea, launcher] :
             wb::implementations("fp4_quantize", fp4_quantize)) {
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(s.shape(), weights.data(), w.tensors(s), stream);
            });
        }
    }
}
