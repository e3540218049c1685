// Times day02-memory/06-async-copy: how close do the peaks of a signal come to just
// reading it, with few threads and with many?
#include "async_copy.h"

#include <wb/bench/bench.h>
#include <wb/device.h>
#include <wb/implementations.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace wb::bench;

namespace {

constexpr int kThreads = 256;

struct Size {
    int64_t n;
    int blocks_per_sm;

    std::string text() const {
        return "n = " + std::to_string(n) + ", " + std::to_string(blocks_per_sm) +
               (blocks_per_sm == 1 ? " block an SM" : " blocks an SM");
    }
    int64_t num_peaks() const { return (n - 1) / kSegment + 1; }
    double bytes() const {
        return static_cast<double>(n + num_peaks()) * sizeof(float);
    }
    /// Percent of the threads that a multiprocessor can hold.
    double occupancy() const {
        return 100.0 * blocks_per_sm * kThreads /
               wb::device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    }
};

/// A signal of a gigabyte with 12.5, 25, 50 and 100 % of an H100's threads; and one
/// that is over before the ring has gone round twice.
std::vector<Size> sizes(const Bench& bench) {
    return bench.sizes<Size>(
        {{5000, 1}, {3000, 2}},
        {{1 << 20, 2}, {1 << 24, 2}},
        {{1 << 21, 2}, {1 << 28, 1}, {1 << 28, 2}, {1 << 28, 4}, {1 << 28, 8}},
        {{1 << 18, 1}});
}

/// The peak of segment k.
Expected peak_of(const Array<float>& x, const Size& s, int64_t k) {
    const int64_t first = k * kSegment;
    const int64_t windows = std::min<int64_t>(kSegment, s.n - first);
    std::vector<double> squares;
    for (int64_t i = first; i < std::min(first + windows + kWindow - 1, s.n); ++i)
        squares.push_back(double{x.at(i)} * double{x.at(i)});
    squares.resize(static_cast<size_t>(windows + kWindow - 1));  // zeros past the end
    double peak = 0.0;
    for (size_t i = 0; i < static_cast<size_t>(windows); ++i) {
        double energy = 0.0;
        for (size_t j = i; j < i + kWindow; ++j)
            energy += squares[j];
        peak = std::max(peak, energy);
    }
    return {peak, 1e-6 * peak};
}

}  // namespace

WB_BENCH(peak_energy, bench) {
    for (const Size& s : sizes(bench)) {
        if (!bench.fits(s.bytes())) continue;
        const auto x = bench.random_normal(s.n);
        const auto peaks = bench.output<float>(s.num_peaks());
        auto problem = bench.problem({s.text(), Ceiling::read, s.bytes()});
        problem.expect("peaks", peaks, [&](int64_t k) { return peak_of(x, s, k); });
        for (const auto& [name, idea, launcher] :
             wb::implementations("peak_energy", peak_energy)) {
            problem.note("occupancy_percent", s.occupancy());
            problem.time(
                name, idea, [&, launcher = launcher, s = s](cudaStream_t stream) {
                    launcher(x.data(), peaks.data(), s.n, s.blocks_per_sm, stream);
                });
        }
        if (s.blocks_per_sm == 2) problem.time_reading();
    }
}
