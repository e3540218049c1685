// Times day03-parallel-patterns/05-add-layernorm: how close do the fused normalisations
// come to a copy, or to two reads and a write, and how long does one token take?
#include "add_layernorm.h"

#include <wb/bench/bench.h>
#include <wb/bench/random_numbers.h>
#include <wb/bench/rows.h>
#include <wb/implementations.h>
#include <wb/reference/add_layernorm.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

using namespace wb::bench;

namespace {

constexpr float kEps = 1e-5f;
constexpr Dropout kDropout = {0.25f, 2026, 1};

using Size = RowsSize;

/// The widths of language models with many tokens, and the tokens of one step of
/// decoding; with_more: odd rows and wide ones, too.
std::vector<Size> sizes(const Bench& bench, bool with_more) {
    std::vector<Size> full = {{16'384, 2560}, {16'384, 4096}, {16'384, 8192}};
    if (with_more)
        full.insert(full.end(),
                    {{1, 2560},
                     {128, 2560},
                     {2048, 2560},
                     {1 << 17, 1021},
                     {1 << 20, 128},
                     {1 << 11, 1 << 15}});
    return bench.sizes<Size>(
        {{40, 7}, {3, 1000}}, {{1 << 12, 1 << 12}}, full, {{64, 1 << 10}});
}

/// Few places, for each of them takes a row or a column.
constexpr int kPlaces = 12;

/// What is computed, and how many matrices must move.
template <class T>
struct Work {
    const char* exercise;
    void (*contract)(const FusedNorm<T>&, cudaStream_t);
    Ceiling ceiling;
    double matrices;
    bool has_h;
    bool has_mask;
};

wb::reference::DropoutMask mask() {
    return {static_cast<double>(kDropout.p), kDropout.seed, kDropout.offset};
}

/// All that the calls of one size are given.
template <class T>
struct Given {
    Size size;
    Array<T> x, other, gamma, beta;

    Given(Bench& bench, const Size& s)
        : size(s),
          x(random_numbers<T>(bench, s.count())),
          other(random_numbers<T>(bench, s.count())),
          gamma(random_numbers<T>(bench, s.columns)),
          beta(random_numbers<T>(bench, s.columns)) {}

    /// What the norm is of: x, or the sum as it is stored.
    std::vector<float> row(int64_t r, bool is_sum) const {
        auto values = row_of(x, r, size.columns);
        if (!is_sum) return values;
        const auto summands = row_of(other, r, size.columns);
        for (size_t c = 0; c < values.size(); ++c)
            values[c] = static_cast<float>(T(values[c] + summands[c]));
        return values;
    }
    Expected y(int64_t i, const Work<T>& work) const {
        const int64_t r = i / size.columns;
        const int64_t c = i % size.columns;
        const auto values = row(r, work.has_h);
        const auto known = wb::reference::row_moments(
            values.data(), size.columns, static_cast<double>(kEps), true);
        const auto factor = static_cast<double>(static_cast<float>(gamma.at(c)));
        const auto summand = static_cast<double>(static_cast<float>(beta.at(c)));
        const auto second = static_cast<double>(static_cast<float>(other.at(i)));
        const double norm = wb::reference::normalized(
            double{values[static_cast<size_t>(c)]}, known, factor, summand);
        const double size_of = std::abs(norm - summand) + std::abs(summand) + 0.01;
        if (work.has_h) return {norm, rounded_bound<T>(norm, size_of)};
        if (!work.has_mask)
            return {norm + second, rounded_bound<T>(norm + second, size_of)};
        const double kept = mask().factor(r, c);
        const double product = kept == 0.0 ? 0.0 : norm * second * kept;
        return {product, rounded_bound<T>(product, size_of * std::abs(second) * kept)};
    }
};

template <class T>
void time_forward(Bench& bench, const Work<T>& work, bool with_more) {
    for (const Size& s : sizes(bench, with_more)) {
        const double bytes = work.matrices * sizeof(T) * static_cast<double>(s.count());
        if (!bench.fits(bytes)) continue;
        const Given<T> given(bench, s);
        const auto h = bench.output<T>(work.has_h ? s.count() : 1);
        const auto y = bench.output<T>(s.count());
        auto problem = bench.problem({s.text(), work.ceiling, bytes});
        if (work.has_h)
            problem.expect(
                "h",
                h,
                [&](int64_t i) -> Expected {
                    const auto row = given.row(i / s.columns, true);
                    return {double{row[static_cast<size_t>(i % s.columns)]}, 0.0};
                },
                kPlaces);
        problem.expect(
            "y", y, [&](int64_t i) { return given.y(i, work); }, kPlaces);
        FusedNorm<T> norm = {};
        norm.x = {given.x.data(), s.columns};
        norm.other = {given.other.data(), s.columns};
        norm.gamma = given.gamma.data();
        norm.beta = given.beta.data();
        if (work.has_h) norm.h = {h.data(), s.columns};
        norm.y = {y.data(), s.columns};
        norm.rows = s.rows;
        norm.columns = s.columns;
        norm.eps = kEps;
        norm.dropout = kDropout;
        for (const auto& [name, idea, launcher] :
             wb::implementations(work.exercise, work.contract))
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(norm, stream);
            });
    }
}

void time_backward(Bench& bench) {
    for (const Size& s : sizes(bench, false)) {
        const double bytes = 5.0 * 2.0 * static_cast<double>(s.count());
        if (!bench.fits(bytes)) continue;
        const Given<Bf16> given(bench, s);
        const auto dy = random_numbers<Bf16>(bench, s.count());
        const auto dx = bench.output<Bf16>(s.count());
        const auto dmul = bench.output<Bf16>(s.count());
        const auto dgamma = bench.output<Bf16>(s.columns);
        const auto dbeta = bench.output<Bf16>(s.columns);
        const auto mean = bench.output<float>(s.rows);
        const auto rstd = bench.output<float>(s.rows);
        const Rows<const Bf16> x = {given.x.data(), s.columns};
        const Rows<const Bf16> mul = {given.other.data(), s.columns};
        FusedNorm<Bf16> forward = {};
        forward.x = x;
        forward.other = mul;
        forward.gamma = given.gamma.data();
        forward.beta = given.beta.data();
        forward.y = {dx.data(), s.columns};
        forward.mean = mean.data();
        forward.rstd = rstd.data();
        forward.rows = s.rows;
        forward.columns = s.columns;
        forward.eps = kEps;
        forward.dropout = kDropout;
        norm_mul_dropout_bf16(forward, nullptr);
        const auto exact_of = [&](int64_t row) {
            const auto values = given.row(row, false);
            const auto known = wb::reference::row_moments(
                values.data(), s.columns, static_cast<double>(kEps), true);
            // One row: its mask is that of row `row`, so n is computed here.
            wb::reference::BasicNormBackward<double> in;
            in.x = values;
            in.gamma = row_of(given.gamma, 0, s.columns);
            in.mean = {static_cast<float>(known.mean)};
            in.rstd = {static_cast<float>(known.rstd)};
            in.rows = 1;
            in.columns = s.columns;
            const auto wide_dy = row_of(dy, row, s.columns);
            const auto wide_mul = row_of(given.other, row, s.columns);
            for (size_t c = 0; c < wide_dy.size(); ++c)
                in.dy.push_back(mask().factor(row, static_cast<int64_t>(c)) *
                                double{wide_dy[c]} * double{wide_mul[c]});
            return wb::reference::norm_backward(in);
        };
        auto problem = bench.problem({s.text(), Ceiling::read2_write1, bytes});
        problem.expect(
            "dx",
            dx,
            [&](int64_t i) -> Expected {
                const auto exact = exact_of(i / s.columns);
                const auto c = static_cast<size_t>(i % s.columns);
                return {exact.dx[c],
                        rounded_bound<Bf16>(exact.dx[c], exact.dx_size[c])};
            },
            kPlaces);
        FusedNormGradient<Bf16> norm = {{dy.data(), s.columns},
                                        x,
                                        mul,
                                        given.gamma.data(),
                                        given.beta.data(),
                                        mean.data(),
                                        rstd.data(),
                                        {dx.data(), s.columns},
                                        {dmul.data(), s.columns},
                                        dgamma.data(),
                                        dbeta.data(),
                                        s.rows,
                                        s.columns,
                                        kDropout};
        for (const auto& [name, idea, launcher] : wb::implementations(
                 "norm_mul_dropout_backward_bf16", norm_mul_dropout_backward_bf16))
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(norm, stream);
            });
    }
}

}  // namespace

// fp16 takes the same instructions as bf16, and is left out; floats take twice the
// bytes.

WB_BENCH(add_layernorm, bench) {
    time_forward<float>(
        bench,
        {"add_layernorm", add_layernorm, Ceiling::copy, 4.0, true, false},
        false);
}

WB_BENCH(add_layernorm_bf16, bench) {
    time_forward<Bf16>(
        bench,
        {"add_layernorm_bf16", add_layernorm_bf16, Ceiling::copy, 4.0, true, false},
        true);
}

WB_BENCH(layernorm_add_bf16, bench) {
    time_forward<Bf16>(bench,
                       {"layernorm_add_bf16",
                        layernorm_add_bf16,
                        Ceiling::read2_write1,
                        3.0,
                        false,
                        false},
                       false);
}

WB_BENCH(norm_mul_dropout_bf16, bench) {
    time_forward<Bf16>(bench,
                       {"norm_mul_dropout_bf16",
                        norm_mul_dropout_bf16,
                        Ceiling::read2_write1,
                        3.0,
                        false,
                        true},
                       false);
}

WB_BENCH(norm_mul_dropout_backward_bf16, bench) {
    time_backward(bench);
}
