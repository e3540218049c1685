// Times day04-gemm/05-fused-epilogue: what does it cost to do something with the sums
// of a product, beside cuBLASLt's product, its epilogues, and a kernel behind it?
#include "fused_epilogue.h"

#include <wb/bench/bench.h>
#include <wb/bench/cublas_lt.h>
#include <wb/implementations.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "fused_epilogue_bench_layer.h"
#include "fused_epilogue_bench_peers.h"

using namespace wb::bench;
using namespace fused_epilogue_bench;

namespace {

constexpr int kPlaces = 16;

#if WB_HAVE_CUBLAS
/// A row of the library's, if it has an algorithm for it.
void time_library(Problem& problem,
                  const std::string& name,
                  const LtProduct& product,
                  const Bf16* A,
                  const Bf16* B,
                  const Array<Bf16>& C) {
    if (!product.is_there()) return;
    problem.time(name, "library", [&](cudaStream_t stream) {
        product.run(A, B, nullptr, C.data(), stream);
    });
}
#endif

}  // namespace

WB_BENCH(linear_act, bench) {
    for (const Size& s : sizes(bench)) {
        if (!bench.fits(s.bytes())) continue;
        const Layer layer(bench, s);
        const LinearInput in = layer.in(s);
        const auto& y = layer.y;
        {
            auto problem = bench.problem({s.text(), Ceiling::bf16, s.flop()});
            problem.expect(
                "y", y, [&](int64_t i) { return layer.element(s, i); }, kPlaces);
            const auto errors = layer_errors(bench, s);
            for (const auto& [name, idea, launcher] :
                 wb::implementations("linear_act", &linear_act)) {
                const auto call = [launcher = launcher](const LinearInput& input,
                                                        Bf16* output,
                                                        cudaStream_t stream) {
                    launcher(input, output, nullptr, stream);
                };
                if (errors)
                    errors->note(problem, [&](auto&, auto& input, Bf16* output) {
                        call(input, output, nullptr);
                    });
                problem.time(name, idea, [&, call](cudaStream_t stream) {
                    call(in, y.data(), stream);
                });
            }
#if WB_HAVE_CUBLAS
            const auto lt = [&](cublasLtEpilogue_t epilogue, const Layer& of) {
                return LtProduct({.rows = s.M,
                                  .columns = s.N,
                                  .depth = s.K,
                                  .b_by_column = true,
                                  .epilogue = epilogue,
                                  .bias = of.bias.data()});
            };
            if (s.activation == Activation::gelu && !s.residual) {
                const auto product = lt(CUBLASLT_EPILOGUE_GELU_BIAS, layer);
                time_library(problem, "cublasLt GELU_BIAS", product, in.x, in.w, y);
            }
            if (s.activation == Activation::silu && !s.residual) {
                const auto product = lt(CUBLASLT_EPILOGUE_BIAS, layer);
                const auto call = [&](const LtProduct& library,
                                      const LinearInput& input,
                                      Bf16* output,
                                      cudaStream_t stream) {
                    library.run(input.x, input.w, nullptr, output, stream);
                    fused_epilogue_peers::silu_in_place(output, s.M * s.N, stream);
                };
                if (errors)
                    errors->note(problem, [&](auto& own, auto& input, Bf16* output) {
                        call(lt(CUBLASLT_EPILOGUE_BIAS, own), input, output, nullptr);
                    });
                problem.time(
                    "cublasLt BIAS, silu kernel",
                    "library, and a kernel",
                    [&](cudaStream_t stream) { call(product, in, y.data(), stream); });
            }
#endif
        }
        // What a product alone takes, which no epilogue can beat by much.
        auto alone = bench.problem({s.text(), Ceiling::bf16, s.flop()});
        alone.expect(
            "y", y, [&](int64_t i) { return layer.product(s, i); }, kPlaces);
        if (fused_epilogue_peers::has_plain_product())
            alone.time("product alone, as in v5",
                       "chapter 04's kernel",
                       [&](cudaStream_t stream) {
                           fused_epilogue_peers::plain_product(
                               in.x, in.w, y.data(), s.M, s.N, s.K, stream);
                       });
#if WB_HAVE_CUBLAS
        const LtProduct product(
            {.rows = s.M, .columns = s.N, .depth = s.K, .b_by_column = true});
        time_library(alone, "cublasLt, product alone", product, in.x, in.w, y);
#endif
    }
}

WB_BENCH(linear_act_fp8, bench) {
    for (const Size& s : sizes(bench)) {
        if (s.residual || s.activation == Activation::gelu) continue;
        if (!bench.fits(s.bytes())) continue;
        const Layer layer(bench, s);
        const LinearInput in = layer.in(s);
        const auto y = bench.output<__nv_fp8_e4m3>(s.M * s.N);
        const auto amax = bench.output<float>(1);
        Array<float> scale(1);
        scale.upload({32.0f});
        auto problem = bench.problem({s.text(), Ceiling::bf16, s.flop()});
        problem.expect(
            "y",
            y,
            [&](int64_t i) {
                const Expected e = layer.element(s, i);
                const double value = std::clamp(32.0 * e.value, -448.0, 448.0);
                return Expected{value, 32.0 * e.bound + 0x1p-4 * std::abs(value)};
            },
            kPlaces);
        for (const auto& [name, idea, launcher] :
             wb::implementations("linear_act_fp8", &linear_act_fp8))
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(in, scale.data(), y.data(), amax.data(), stream);
            });
#if WB_HAVE_CUBLAS
        // The library gives a product of bf16 no output of 8 bits: a kernel does.
        const LtProduct product({.rows = s.M,
                                 .columns = s.N,
                                 .depth = s.K,
                                 .b_by_column = true,
                                 .epilogue = CUBLASLT_EPILOGUE_BIAS,
                                 .bias = layer.bias.data()});
        problem.time("cublasLt BIAS, silu and e4m3 kernel",
                     "library, and a kernel",
                     [&](cudaStream_t stream) {
                         product.run(in.x, in.w, nullptr, layer.y.data(), stream);
                         fused_epilogue_peers::silu_to_fp8(layer.y.data(),
                                                           scale.data(),
                                                           y.data(),
                                                           amax.data(),
                                                           s.M * s.N,
                                                           stream);
                     });
#endif
    }
}

WB_BENCH(linear_act_backward, bench) {
    for (const Size& s : sizes(bench)) {
        if (s.residual) continue;
        if (!bench.fits(s.bytes())) continue;
        const auto dy = numbers(bench, s.M * s.N, 1.0);
        const auto w =
            numbers(bench, s.N * s.K, 1.0 / std::sqrt(static_cast<double>(s.N)));
        const auto z = numbers(bench, s.M * s.K, 1.0);
        const auto dz = bench.output<Bf16>(s.M * s.K);
        const auto dbias = bench.output<float>(s.K);
        const LinearGradient in = {
            s.shape(), s.activation, dy.data(), w.data(), z.data()};
        auto problem = bench.problem({s.text(), Ceiling::bf16, s.flop()});
        problem.expect(
            "dz",
            dz,
            [&](int64_t i) {
                const auto row = dy.host(i / s.K * s.N, s.N);
                Sum sum;
                for (int64_t n = 0; n < s.N; ++n)
                    sum.add(row[static_cast<size_t>(n)], w.at(n * s.K + i % s.K));
                const double by = slope(s.activation, static_cast<double>(z.at(i)));
                return rounded(sum.value * by, sum.off(s.N));
            },
            4);
        for (const auto& [name, idea, launcher] :
             wb::implementations("linear_act_backward", &linear_act_backward))
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(in, dz.data(), dbias.data(), stream);
            });
#if WB_HAVE_CUBLAS
        const auto narrow_dbias = bench.output<Bf16>(s.K);
        LtOptions options = {
            .rows = s.M, .columns = s.K, .depth = s.N, .b_by_column = false};
        if (s.activation == Activation::gelu) {
            options.epilogue = CUBLASLT_EPILOGUE_DGELU_BGRAD;
            options.bias = narrow_dbias.data();
            options.aux = z.data();
            const LtProduct product(options);
            time_library(problem, "cublasLt DGELU_BGRAD", product, in.dy, in.w, dz);
        } else {
            const LtProduct product(options);
            problem.time("cublasLt, dSiLU kernel",
                         "library, and a kernel; no dbias",
                         [&](cudaStream_t stream) {
                             product.run(in.dy, in.w, nullptr, dz.data(), stream);
                             fused_epilogue_peers::silu_backward_in_place(
                                 dz.data(), z.data(), s.M * s.K, stream);
                         });
        }
#endif
    }
}

namespace {

struct MlpSize {
    int64_t M;
    int64_t K;
    int64_t H;
    int64_t N;
    Activation activation;

    std::string text() const {
        return std::to_string(M) + " x " + std::to_string(K) + " x " +
               std::to_string(H) + " x " + std::to_string(N) + ", " +
               name_of(activation);
    }
    double flop() const {
        return 2.0 * static_cast<double>(M) * static_cast<double>(H) *
               static_cast<double>(K + N);
    }
    double bytes() const {
        return 2.0 * static_cast<double>(M * (K + 2 * H + N) + H * (K + N));
    }
};

}  // namespace

WB_BENCH(mlp, bench) {
    for (const MlpSize& s :
         bench.sizes<MlpSize>({{96, 64, 80, 64, Activation::silu}},
                              {{1024, 1024, 2048, 1024, Activation::silu}},
                              {{8192, 4096, 16384, 4096, Activation::silu},
                               {8192, 4096, 16384, 4096, Activation::gelu},
                               {65536, 512, 2048, 512, Activation::silu}},
                              {{128, 64, 128, 64, Activation::silu}})) {
        if (!bench.fits(s.bytes())) continue;
        const auto x = numbers(bench, s.M * s.K, 1.0);
        const auto w1 =
            numbers(bench, s.H * s.K, 1.0 / std::sqrt(static_cast<double>(s.K)));
        const auto bias1 = numbers(bench, s.H, 1.0);
        const auto w2 =
            numbers(bench, s.N * s.H, 1.0 / std::sqrt(static_cast<double>(s.H)));
        const auto bias2 = numbers(bench, s.N, 1.0);
        const auto y = bench.output<Bf16>(s.M * s.N);
        const MlpInput in = {s.M,
                             s.K,
                             s.H,
                             s.N,
                             s.activation,
                             x.data(),
                             w1.data(),
                             bias1.data(),
                             w2.data(),
                             bias2.data(),
                             nullptr};
        auto problem = bench.problem({s.text(), Ceiling::bf16, s.flop()});
        const auto host_w1 = w1.host();
        problem.expect(
            "y",
            y,
            [&](int64_t i) {
                const auto row = x.host(i / s.N * s.K, s.K);
                const auto column = w2.host(i % s.N * s.H, s.H);
                Sum sum;
                for (int64_t h = 0; h < s.H; ++h) {
                    Sum z;
                    for (int64_t k = 0; k < s.K; ++k)
                        z.add(row[static_cast<size_t>(k)],
                              host_w1[static_cast<size_t>(h * s.K + k)]);
                    const double of_h = static_cast<double>(bias1.at(h));
                    sum.add(static_cast<Bf16>(
                                static_cast<float>(act(s.activation, z.value + of_h))),
                            column[static_cast<size_t>(h)]);
                }
                const double exact = sum.value + static_cast<double>(bias2.at(i % s.N));
                return rounded(exact, sum.off(s.H) + 0x1p-9 * sum.magnitude);
            },
            2);
        for (const auto& [name, idea, launcher] : wb::implementations("mlp", &mlp))
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(in, y.data(), stream);
            });
#if WB_HAVE_CUBLAS
        const auto hidden = bench.output<Bf16>(s.M * s.H);
        const bool is_gelu = s.activation == Activation::gelu;
        const LtProduct first(
            {.rows = s.M,
             .columns = s.H,
             .depth = s.K,
             .b_by_column = true,
             .epilogue = is_gelu ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_BIAS,
             .bias = bias1.data()});
        const LtProduct second({.rows = s.M,
                                .columns = s.N,
                                .depth = s.H,
                                .b_by_column = true,
                                .epilogue = CUBLASLT_EPILOGUE_BIAS,
                                .bias = bias2.data()});
        problem.time(is_gelu ? "cublasLt GELU_BIAS, BIAS" : "cublasLt, silu kernel",
                     "library",
                     [&](cudaStream_t stream) {
                         first.run(in.x, in.w1, nullptr, hidden.data(), stream);
                         if (!is_gelu)
                             fused_epilogue_peers::silu_in_place(
                                 hidden.data(), s.M * s.H, stream);
                         second.run(hidden.data(), in.w2, nullptr, y.data(), stream);
                     });
#endif
    }
}
