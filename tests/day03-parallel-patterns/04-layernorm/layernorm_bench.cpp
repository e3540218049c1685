// Times day03-parallel-patterns/04-layernorm: how close do the normalisations come to a
// copy, and their gradients to reading two matrices and writing one?
#include "layernorm.h"

#include <wb/bench/bench.h>
#include <wb/bench/random_numbers.h>
#include <wb/bench/rows.h>
#include <wb/implementations.h>
#include <wb/reference/layernorm.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

using namespace wb::bench;

namespace {

constexpr float kEps = 1e-5f;

using Size = RowsSize;

/// The widths of language models, many tokens; with_more: narrow rows, odd ones and
/// wide ones, and few.
std::vector<Size> sizes(const Bench& bench, bool with_more) {
    std::vector<Size> full = {{16'384, 2560}, {16'384, 4096}, {16'384, 8192}};
    if (with_more)
        full.insert(full.end(),
                    {{1 << 20, 128},
                     {1 << 17, 1024},
                     {1 << 17, 1021},
                     {1 << 12, 1 << 15},
                     {1 << 10, 1 << 17},
                     {128, 4096}});
    return bench.sizes<Size>(
        {{40, 7}, {3, 1000}}, {{1 << 12, 1 << 12}}, full, {{256, 1 << 10}});
}

/// Few places, for each of them takes a row or a column.
constexpr int kPlaces = 12;

template <class T>
struct Given {
    Array<T> x;
    Array<T> gamma;
    Array<T> beta;

    Given(Bench& bench, const Size& s)
        : x(random_numbers<T>(bench, s.count())),
          gamma(random_numbers<T>(bench, s.columns)),
          beta(random_numbers<T>(bench, s.columns)) {}

    wb::reference::RowMoments moments(const Size& s, int64_t row, bool centered) const {
        const auto wide = row_of(x, row, s.columns);
        return wb::reference::row_moments(wide.data(), s.columns, kEps, centered);
    }
};

template <class T>
void time_forward(Bench& bench,
                  const char* exercise,
                  void (*contract)(const Norm<T>&, cudaStream_t),
                  bool is_centered,
                  bool with_more) {
    for (const Size& s : sizes(bench, with_more)) {
        const double bytes = 2.0 * sizeof(T) * static_cast<double>(s.count());
        if (!bench.fits(bytes)) continue;
        const Given<T> given(bench, s);
        const auto y = bench.output<T>(s.count());
        const auto mean = bench.output<float>(s.rows);
        const auto rstd = bench.output<float>(s.rows);
        auto problem = bench.problem({s.text(), Ceiling::copy, bytes});
        problem.expect(
            "y",
            y,
            [&](int64_t i) -> Expected {
                const auto row = given.moments(s, i / s.columns, is_centered);
                const auto gamma = static_cast<double>(given.gamma.at(i % s.columns));
                const double beta =
                    is_centered ? static_cast<double>(given.beta.at(i % s.columns))
                                : 0.0;
                const auto x = static_cast<double>(given.x.at(i));
                const double exact = wb::reference::normalized(x, row, gamma, beta);
                return {exact, rounded_bound<T>(exact, std::abs(exact - beta) + 0.01)};
            },
            kPlaces);
        const Norm<T> norm = {given.x.data(),
                              given.gamma.data(),
                              is_centered ? given.beta.data() : nullptr,
                              y.data(),
                              is_centered ? mean.data() : nullptr,
                              rstd.data(),
                              s.rows,
                              s.columns,
                              kEps};
        for (const auto& [name, idea, launcher] :
             wb::implementations(exercise, contract))
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(norm, stream);
            });
    }
}

/// One column of a matrix, as floats.
template <class T>
std::vector<float> column_of(const Array<T>& array, const Size& s, int64_t col) {
    std::vector<T> column(static_cast<size_t>(s.rows));
    CUDA_CHECK(cudaMemcpy2D(column.data(),
                            sizeof(T),
                            array.data() + col,
                            static_cast<size_t>(s.columns) * sizeof(T),
                            sizeof(T),
                            static_cast<size_t>(s.rows),
                            cudaMemcpyDeviceToHost));
    return {column.begin(), column.end()};
}

/// What the sums over a column are, and how large their terms.
struct ColumnSums {
    double dgamma = 0.0;
    double dbeta = 0.0;
    double size = 0.0;
};

ColumnSums column_sums(const Size& s,
                       const std::vector<float>& dy,
                       const std::vector<float>& x,
                       const std::vector<float>& mean,
                       const std::vector<float>& rstd) {
    ColumnSums sums;
    for (size_t r = 0; r < static_cast<size_t>(s.rows); ++r) {
        const double h =
            (double{x[r]} - (mean.empty() ? 0.0 : double{mean[r]})) * double{rstd[r]};
        sums.dgamma += double{dy[r]} * h;
        sums.dbeta += double{dy[r]};
        sums.size += std::abs(double{dy[r]}) * (1.0 + std::abs(h));
    }
    return sums;
}

/// mean and rstd of all rows, as the forward pass writes them.
template <class T>
void measure_rows(const Norm<T>& norm, bool is_centered) {
    if constexpr (std::is_same_v<T, float>)
        is_centered ? layer_norm(norm, nullptr) : rms_norm(norm, nullptr);
    else
        is_centered ? layer_norm_bf16(norm, nullptr) : rms_norm_bf16(norm, nullptr);
}

template <class T>
void time_backward(Bench& bench,
                   const char* exercise,
                   void (*contract)(const NormGradient<T>&, cudaStream_t),
                   bool is_centered,
                   bool with_more) {
    for (const Size& s : sizes(bench, with_more)) {
        const double bytes = 3.0 * sizeof(T) * static_cast<double>(s.count());
        if (!bench.fits(bytes)) continue;
        const Given<T> given(bench, s);
        const auto dy = random_numbers<T>(bench, s.count());
        const auto dx = bench.output<T>(s.count());
        const auto dgamma = bench.output<T>(s.columns);
        const auto dbeta = bench.output<T>(s.columns);
        const auto mean = bench.output<float>(s.rows);
        const auto rstd = bench.output<float>(s.rows);
        measure_rows<T>({given.x.data(),
                         nullptr,
                         nullptr,
                         dx.data(),
                         is_centered ? mean.data() : nullptr,
                         rstd.data(),
                         s.rows,
                         s.columns,
                         kEps},
                        is_centered);
        auto problem = bench.problem({s.text(), Ceiling::read2_write1, bytes});
        problem.expect(
            "dx",
            dx,
            [&](int64_t i) -> Expected {
                const int64_t row = i / s.columns;
                const auto row_moments = given.moments(s, row, is_centered);
                wb::reference::NormBackward in = {
                    row_of(dy, row, s.columns),
                    row_of(given.x, row, s.columns),
                    row_of(given.gamma, 0, s.columns),
                    {},
                    {static_cast<float>(row_moments.rstd)},
                    1,
                    s.columns};
                if (is_centered) in.mean = {static_cast<float>(row_moments.mean)};
                const auto exact = wb::reference::norm_backward(in);
                const auto col = static_cast<size_t>(i % s.columns);
                return {exact.dx[col],
                        rounded_bound<T>(exact.dx[col], exact.dx_size[col])};
            },
            kPlaces);
        const auto sums_of = [&](int64_t col) {
            return column_sums(s,
                               column_of(dy, s, col),
                               column_of(given.x, s, col),
                               is_centered ? mean.host() : std::vector<float>(),
                               rstd.host());
        };
        const auto expect_sum = [&](const char* name, const Array<T>& sums, bool of_h) {
            problem.expect(
                name,
                sums,
                [&](int64_t col) {
                    const ColumnSums exact = sums_of(col);
                    const double sum = of_h ? exact.dgamma : exact.dbeta;
                    return Expected{sum, rounded_bound<T>(sum, exact.size)};
                },
                2);
        };
        expect_sum("dgamma", dgamma, true);
        expect_sum("dbeta", dbeta, false);
        const NormGradient<T> norm = {dy.data(),
                                      given.x.data(),
                                      given.gamma.data(),
                                      is_centered ? mean.data() : nullptr,
                                      rstd.data(),
                                      dx.data(),
                                      dgamma.data(),
                                      dbeta.data(),
                                      s.rows,
                                      s.columns};
        for (const auto& [name, idea, launcher] :
             wb::implementations(exercise, contract))
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(norm, stream);
            });
    }
}

}  // namespace

// fp16 takes the same instructions as bf16, and is left out.

WB_BENCH(layer_norm, bench) {
    time_forward<float>(bench, "layer_norm", layer_norm, true, false);
}

WB_BENCH(layer_norm_bf16, bench) {
    time_forward<Bf16>(bench, "layer_norm_bf16", layer_norm_bf16, true, true);
}

WB_BENCH(rms_norm_bf16, bench) {
    time_forward<Bf16>(bench, "rms_norm_bf16", rms_norm_bf16, false, false);
}

WB_BENCH(layer_norm_backward, bench) {
    time_backward<float>(
        bench, "layer_norm_backward", layer_norm_backward, true, false);
}

WB_BENCH(layer_norm_backward_bf16, bench) {
    time_backward<Bf16>(
        bench, "layer_norm_backward_bf16", layer_norm_backward_bf16, true, true);
}

WB_BENCH(rms_norm_backward_bf16, bench) {
    time_backward<Bf16>(
        bench, "rms_norm_backward_bf16", rms_norm_backward_bf16, false, false);
}
