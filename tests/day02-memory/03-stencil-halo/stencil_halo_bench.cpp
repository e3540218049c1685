// Times day02-memory/03-stencil-halo: how close do results of many neighbours come to
// the bandwidth of a copy, whose results need one element each?
#include "stencil_halo.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <cmath>
#include <string>
#include <vector>

using namespace wb::bench;

namespace {

struct Size {
    int64_t batch, rows, cols;
    int radius;

    int64_t count() const { return batch * rows * cols; }
    double bytes() const { return 8.0 * static_cast<double>(count()); }
    std::string text() const {
        std::string text = "radius " + std::to_string(radius);
        if (rows == 1) return "n = " + std::to_string(cols) + ", " + text;
        text = std::to_string(rows) + " x " + std::to_string(cols) + ", " + text;
        return batch == 1 ? text : std::to_string(batch) + " of " + text;
    }
};

/// A weight for the element at (y, x) from the middle; no two of them are the same.
float weight_at(int y, int x) {
    return 0.1f + 0.03f * static_cast<float>(y) + 0.002f * static_cast<float>(x);
}

Taps taps_of(int radius, float scale) {
    Taps taps = {radius, {}};
    for (int k = -radius; k <= radius; ++k)
        taps.weight[k + radius] = scale * weight_at(k, 0);
    return taps;
}

/// What one element of the output should be, with zeros outside of the image.
/// @param weight  of the element at (y, x) from the middle
template <class Weight>
Expected expected_at(
    const Array<float>& in, const Size& s, int64_t i, int up, Weight weight) {
    const int64_t row = i / s.cols % s.rows;
    const int64_t col = i % s.cols;
    double sum = 0.0;
    double magnitude = 0.0;
    for (int y = -up; y <= up; ++y)
        for (int x = -s.radius; x <= s.radius; ++x) {
            const bool inside =
                row + y >= 0 && row + y < s.rows && col + x >= 0 && col + x < s.cols;
            const double term = inside ? weight(y, x) * in.at(i + y * s.cols + x) : 0.0;
            sum += term;
            magnitude += std::abs(term);
        }
    return {sum, 1e-5 * magnitude};
}

std::vector<Size> images(const Bench& bench, const std::vector<Size>& full) {
    return bench.sizes<Size>({{1, 33, 65, 1}, {2, 17, 132, 4}},
                             {{1, 1024, 1024, 1}, {1, 1024, 1024, 4}},
                             full,
                             {{1, 256, 256, 1}});
}

}  // namespace

WB_BENCH(stencil_1d, bench) {
    for (const Size& s :
         bench.sizes<Size>({{1, 1, 1000, 1}},
                           {{1, 1, 1 << 22, 1}, {1, 1, 1 << 22, 4}},
                           {{1, 1, 1 << 20, 1}, {1, 1, 1 << 28, 1}, {1, 1, 1 << 28, 4}},
                           {{1, 1, 1 << 16, 4}})) {
        if (!bench.fits(s.bytes())) continue;
        const auto in = bench.random_normal(s.count());
        const auto out = bench.output<float>(s.count());
        const Taps taps = taps_of(s.radius, 1.0f);
        auto problem = bench.problem({s.text(), Ceiling::copy, s.bytes()});
        problem.expect("out", out, [&](int64_t i) {
            return expected_at(in, s, i, 0, [&](int, int x) {
                return double{taps.weight[x + s.radius]};
            });
        });
        for (const auto& [name, idea, launcher] :
             wb::implementations("stencil_1d", stencil_1d)) {
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(in.data(), out.data(), s.cols, taps, Border::zero, stream);
            });
        }
    }
}

WB_BENCH(convolve_2d, bench) {
    for (const Size& s : images(bench,
                                {{1, 1024, 1024, 1},
                                 {1, 4097, 8191, 1},
                                 {64, 1080, 1920, 1},
                                 {1, 16384, 16384, 1},
                                 {1, 16384, 16384, 4}})) {
        if (!bench.fits(s.bytes())) continue;
        const auto in = bench.random_normal(s.count());
        const auto out = bench.output<float>(s.count());
        Filter filter = {s.radius, {}};
        const int side = 2 * s.radius + 1;
        for (int i = 0; i < side * side; ++i)
            filter.weight[i] = weight_at(i / side - s.radius, i % side - s.radius);
        auto problem = bench.problem({s.text(), Ceiling::copy, s.bytes()});
        problem.expect("out", out, [&](int64_t i) {
            return expected_at(in, s, i, s.radius, [&](int y, int x) {
                return double{filter.weight[(y + s.radius) * side + x + s.radius]};
            });
        });
        for (const auto& [name, idea, launcher] :
             wb::implementations("convolve_2d", convolve_2d)) {
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(in.data(),
                         out.data(),
                         s.batch,
                         s.rows,
                         s.cols,
                         filter,
                         Border::zero,
                         stream);
            });
        }
    }
}

WB_BENCH(convolve_separable, bench) {
    for (const Size& s : images(bench,
                                {{1, 1024, 1024, 4},
                                 {1, 4097, 8191, 4},
                                 {1, 16384, 16384, 1},
                                 {1, 16384, 16384, 4}})) {
        if (!bench.fits(2.0 * s.bytes())) continue;  // two passes need one more image
        const auto in = bench.random_normal(s.count());
        const auto out = bench.output<float>(s.count());
        const Taps vertical = taps_of(s.radius, 1.0f);
        const Taps horizontal = taps_of(s.radius, 2.0f);
        auto problem = bench.problem({s.text(), Ceiling::copy, s.bytes()});
        problem.expect("out", out, [&](int64_t i) {
            return expected_at(in, s, i, s.radius, [&](int y, int x) {
                return double{vertical.weight[y + s.radius]} *
                       double{horizontal.weight[x + s.radius]};
            });
        });
        for (const auto& [name, idea, launcher] :
             wb::implementations("convolve_separable", convolve_separable)) {
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(in.data(),
                         out.data(),
                         s.batch,
                         s.rows,
                         s.cols,
                         vertical,
                         horizontal,
                         Border::zero,
                         stream);
            });
        }
    }
}
