// Times day03-parallel-patterns/07-losses: how close do losses come to reading, or to
// copying, what they are of? And what does the product in front of a softmax cost?
#include "losses.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "losses_bench_problem.h"

using namespace wb::bench;

namespace {

/// Embeddings of 128 floats, as the issue of recommenders has them, others, an odd one.
std::vector<Rows> sizes_of_rows(const Bench& bench) {
    return bench.sizes<Rows>({{40, 7}, {3, 1000}},
                             {{1 << 14, 1 << 7}},
                             {{1 << 20, 1 << 7}, {1 << 18, 1 << 9}, {1 << 20, 127}},
                             {{1 << 10, 1 << 7}});
}

std::vector<int64_t> sizes_of_bce(const Bench& bench) {
    return bench.sizes<int64_t>({5000}, {1 << 20}, {1 << 26}, {1 << 16});
}

/// Queries x negatives.
std::vector<Rows> sizes_of_sampled(const Bench& bench) {
    return bench.sizes<Rows>({{5, 70}},
                             {{1 << 8, 1 << 10}},
                             {{1 << 13, 1 << 13}, {1 << 16, 1 << 10}},
                             {{1 << 5, 1 << 10}});
}

/// A value with 24 bits, from sums that have an error of their own.
Expected near(double value, double scale = 0.0) {
    return {value, 1e-4 * std::max(std::abs(value), scale)};
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0.0;
    for (size_t i = 0; i < a.size(); ++i)
        sum += double{a[i]} * double{b[i]};
    return sum;
}

/// So many numbers, each 0 or 1, as floats.
Array<float> answers(int64_t n) {
    std::vector<float> values(static_cast<size_t>(n));
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = i % 3 == 0 ? 1.0f : 0.0f;
    Array<float> array(n);
    array.upload(values);
    return array;
}

/// Few places: each of them takes a row.
constexpr int kPlaces = 12;

}  // namespace

WB_BENCH(l2_normalize, bench) {
    for (const Rows& s : sizes_of_rows(bench)) {
        if (!bench.fits(2.0 * s.bytes())) continue;
        const auto x = bench.random_normal(s.count());
        const auto y = bench.output<float>(s.count());
        const auto norms = bench.output<float>(s.rows);
        auto problem = bench.problem({s.text(), Ceiling::copy, 2.0 * s.bytes()});
        problem.expect(
            "y",
            y,
            [&](int64_t i) {
                const auto row = x.host(i / s.columns * s.columns, s.columns);
                return near(x.at(i) / std::sqrt(dot(row, row)));
            },
            kPlaces);
        for (const auto& [name, idea, launcher] :
             wb::implementations("l2_normalize", &l2_normalize))
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(x.data(), y.data(), norms.data(), s.shape(), stream);
            });
    }
}

WB_BENCH(l2_normalize_backward, bench) {
    for (const Rows& s : sizes_of_rows(bench)) {
        if (!bench.fits(3.0 * s.bytes())) continue;
        const auto x = bench.random_normal(s.count());
        const auto dy = bench.random_normal(s.count());
        const auto y = bench.output<float>(s.count());
        const auto norms = bench.output<float>(s.rows);
        const auto dx = bench.output<float>(s.count());
        l2_normalize(x.data(), y.data(), norms.data(), s.shape(), nullptr);
        auto problem = bench.problem({s.text(), Ceiling::copy, 3.0 * s.bytes()});
        problem.expect(
            "dx",
            dx,
            [&](int64_t i) {
                const auto row = x.host(i / s.columns * s.columns, s.columns);
                const auto g = dy.host(i / s.columns * s.columns, s.columns);
                const double norm = std::sqrt(dot(row, row));
                const double along = x.at(i) / norm * dot(row, g) / norm;
                return near((dy.at(i) - along) / norm, 1.0 / norm);
            },
            kPlaces);
        for (const auto& [name, idea, launcher] :
             wb::implementations("l2_normalize_backward", &l2_normalize_backward))
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(
                    dy.data(), y.data(), norms.data(), dx.data(), s.shape(), stream);
            });
    }
}

WB_BENCH(bce_with_logits, bench) {
    for (const int64_t n : sizes_of_bce(bench)) {
        const double bytes = 8.0 * static_cast<double>(n);
        if (!bench.fits(bytes)) continue;
        const auto logits = bench.random_normal(n);
        const auto targets = answers(n);
        const auto loss = bench.output<float>(1);
        auto problem =
            bench.problem({"n = " + std::to_string(n), Ceiling::read, bytes});
        problem.expect("loss", loss, [&](int64_t) {
            double sum = 0.0;
            const auto x = logits.host();
            for (size_t i = 0; i < x.size(); ++i)
                sum += softplus(i % 3 == 0 ? -x[i] : x[i]);
            return near(sum / static_cast<double>(n));
        });
        const BceInput in = {logits.data(), targets.data(), nullptr, 1.0f, n};
        for (const auto& [name, idea, launcher] :
             wb::implementations("bce_with_logits", &bce_with_logits))
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(in, loss.data(), stream);
            });
    }
}

WB_BENCH(bce_with_logits_backward, bench) {
    for (const int64_t n : sizes_of_bce(bench)) {
        const double bytes = 12.0 * static_cast<double>(n);
        if (!bench.fits(bytes)) continue;
        const auto logits = bench.random_normal(n);
        const auto targets = answers(n);
        const auto grad = uploaded<float>({static_cast<float>(n)});
        const auto dlogits = bench.output<float>(n);
        auto problem =
            bench.problem({"n = " + std::to_string(n), Ceiling::copy, bytes});
        problem.expect("dlogits", dlogits, [&](int64_t i) {
            const double sigmoid = 1.0 / (1.0 + std::exp(-double{logits.at(i)}));
            return near(sigmoid - (i % 3 == 0 ? 1.0 : 0.0), 1e-3);
        });
        const BceInput in = {logits.data(), targets.data(), nullptr, 1.0f, n};
        for (const auto& [name, idea, launcher] :
             wb::implementations("bce_with_logits_backward", &bce_with_logits_backward))
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(in, grad.data(), dlogits.data(), stream);
            });
    }
}

WB_BENCH(sampled_softmax, bench) {
    for (const Rows& s : sizes_of_sampled(bench)) {
        if (!bench.fits(2.0 * s.bytes())) continue;
        const SampledProblem p(bench, s);
        const auto losses = bench.output<float>(s.rows);
        const auto loss = bench.output<float>(1);
        auto problem = bench.problem({p.text(), Ceiling::read, p.bytes()});
        problem.expect(
            "losses", losses, [&](int64_t i) { return near(p.loss(i)); }, kPlaces);
        for (const auto& [name, idea, launcher] :
             wb::implementations("sampled_softmax", &sampled_softmax))
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(p.input(), losses.data(), loss.data(), stream);
            });
#if WB_HAVE_CUBLAS
        problem.time("cublasSgemm and loss", "library", [&](cudaStream_t stream) {
            p.make_logits(stream);
            sampled_softmax(p.input(), losses.data(), loss.data(), stream);
        });
#endif
    }
}

WB_BENCH(sampled_softmax_backward, bench) {
    for (const Rows& s : sizes_of_sampled(bench)) {
        if (!bench.fits(3.0 * s.bytes())) continue;
        const SampledProblem p(bench, s);
        const auto losses = bench.output<float>(s.rows);
        const auto loss = bench.output<float>(1);
        sampled_softmax(p.input(), losses.data(), loss.data(), nullptr);
        const auto grad = uploaded<float>({static_cast<float>(p.real() * s.columns)});
        const auto dpositive = bench.output<float>(s.rows);
        const auto dnegative = bench.output<float>(s.count());
        const double written = s.bytes();  // zeros where nothing is real
        auto problem = bench.problem({p.text(), Ceiling::copy, p.bytes() + written});
        problem.expect(
            "dnegative",
            dnegative,
            [&](int64_t i) {
                const int64_t row = i / s.columns;
                if (row >= p.real()) return Expected{0.0, 0.0};
                const double all = double{p.positive.at(row)} + p.loss(row);
                const double scale = static_cast<double>(s.columns);
                return near(scale * std::exp(p.s(row, i % s.columns) - all));
            },
            kPlaces);
        for (const auto& [name, idea, launcher] :
             wb::implementations("sampled_softmax_backward", &sampled_softmax_backward))
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(p.input(),
                         losses.data(),
                         grad.data(),
                         dpositive.data(),
                         dnegative.data(),
                         stream);
            });
    }
}
