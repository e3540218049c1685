// Times day03-parallel-patterns/06-histogram: how close does counting come to just
// reading, for few bins and many, whatever the values are?
#include "histogram.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "histogram_bench_peers.h"

using namespace wb::bench;

namespace {

enum class Kind { uniform, skewed, constant };

struct Size {
    int64_t n;
    int64_t bins;
    Kind kind;

    std::string text() const {
        constexpr const char* kNames[] = {"uniform", "skewed", "constant"};
        return "n = " + std::to_string(n) + ", " + std::to_string(bins) + " bins, " +
               kNames[static_cast<int>(kind)];
    }
};

constexpr Kind kKinds[] = {Kind::uniform, Kind::skewed, Kind::constant};

/// Each number of bins with each kind of values.
std::vector<Size> all_kinds(int64_t n, const std::vector<int64_t>& all_bins) {
    std::vector<Size> sizes;
    for (const int64_t bins : all_bins)
        for (const Kind kind : kKinds)
            sizes.push_back({n, bins, kind});
    return sizes;
}

std::vector<Size> sizes_i32(const Bench& bench) {
    auto full = all_kinds(1 << 26, {256, 1 << 16});
    full.push_back({1 << 26, 8, Kind::uniform});
    full.push_back({1 << 20, 1 << 16, Kind::uniform});
    return bench.sizes<Size>({{3000, 256, Kind::skewed}, {3000, 1 << 16, Kind::skewed}},
                             {{1 << 24, 256, Kind::uniform}},
                             full,
                             {{1 << 18, 256, Kind::uniform}});
}

std::vector<Size> sizes_u8(const Bench& bench) {
    const std::vector<Size> full = {{1 << 28, 256, Kind::uniform},
                                    {1 << 26, 256, Kind::skewed},
                                    {1 << 26, 256, Kind::constant}};
    return bench.sizes<Size>({{3000, 256, Kind::skewed}},
                             {{1 << 24, 256, Kind::uniform}},
                             full,
                             {{1 << 18, 256, Kind::uniform}});
}

/// Values on the device and their counts: up to 2^22 are made, and repeated.
template <class T>
struct Values {
    Array<T> values;
    std::vector<double> counts;

    explicit Values(const Size& size)
        : values(size.n), counts(static_cast<size_t>(size.bins), 0.0) {
        constexpr int64_t kMade = 1 << 22;
        std::mt19937_64 random(1);
        std::vector<T> host(static_cast<size_t>(std::min(size.n, kMade)));
        const auto made = static_cast<int64_t>(host.size());
        for (T& value : host) {
            const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;
            const auto bin = bin_of(size, uniform);
            value = static_cast<T>(bin);
            counts[bin] += static_cast<double>(size.n / made);
        }
        for (int64_t first = 0; first < size.n; first += made)
            CUDA_CHECK(cudaMemcpy(values.data() + first,
                                  host.data(),
                                  host.size() * sizeof(T),
                                  cudaMemcpyHostToDevice));
    }

 private:
    /// Of a number in [0, 1). Skewed: bin b has a share of nearly 1 / ((b + 1)
    /// log(bins)), as words of a text have.
    static size_t bin_of(const Size& size, double uniform) {
        const auto bins = static_cast<double>(size.bins);
        double place = bins / 2.0;
        if (size.kind == Kind::uniform) place = uniform * bins;
        if (size.kind == Kind::skewed) place = std::pow(bins + 1.0, uniform) - 1.0;
        return static_cast<size_t>(std::min(place, bins - 1.0));
    }
};

template <class T>
using Function = void(const T*, uint32_t*, int64_t, int64_t, cudaStream_t);

template <class T>
void time_counting(Bench& bench,
                   const char* exercise,
                   Function<T>* contract,
                   const std::vector<Size>& all) {
    for (const Size& size : all) {
        const double bytes = sizeof(T) * static_cast<double>(size.n);
        if (!bench.fits(bytes)) continue;
        const Values<T> made(size);
        const auto counts = bench.output<uint32_t>(size.bins);
        auto problem = bench.problem({size.text(), Ceiling::read, bytes});
        problem.expect("counts", counts, [&](int64_t i) {
            return Expected{made.counts[static_cast<size_t>(i)], 0.0};
        });
        const T* const values = made.values.data();
        for (const auto& [name, idea, call] : wb::implementations(exercise, contract))
            problem.time(name, idea, [&, call = call](cudaStream_t stream) {
                call(values, counts.data(), size.n, size.bins, stream);
            });
        const Array<char> scratch(
            static_cast<int64_t>(histogram_peers::scratch_bytes(size.n, size.bins)));
        problem.time("cub HistogramEven", "library", [&](cudaStream_t stream) {
            histogram_peers::even(scratch.data(),
                                  scratch.bytes(),
                                  values,
                                  counts.data(),
                                  size.n,
                                  size.bins,
                                  stream);
        });
        if (size.kind == Kind::uniform) problem.time_reading();
    }
}

}  // namespace

WB_BENCH(histogram_i32, bench) {
    time_counting<int32_t>(bench, "histogram_i32", histogram_i32, sizes_i32(bench));
}

WB_BENCH(histogram_u8, bench) {
    time_counting<uint8_t>(bench, "histogram_u8", histogram_u8, sizes_u8(bench));
}
