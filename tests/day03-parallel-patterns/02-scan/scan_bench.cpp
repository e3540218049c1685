// Times day03-parallel-patterns/02-scan: how close do scans come to just copying, and
// to CUB?
#include "scan.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "scan_bench_peers.h"

using namespace wb::bench;

namespace {

struct Size {
    int64_t n;
    int64_t length = 0;  ///< of a segment; 0: no segments

    std::string text() const {
        return "n = " + std::to_string(n) +
               (length > 0 ? ", segments of " + std::to_string(length) : "");
    }
    double bytes() const { return static_cast<double>(n) * (length > 0 ? 9 : 8); }
};

/// One that is over as soon as it has begun, one that fits into the L2 cache, and a
/// gigabyte.
std::vector<Size> sizes(const Bench& bench) {
    return bench.sizes<Size>({{5000}},
                             {{1 << 16}, {1 << 22}},
                             {{1 << 16}, {1 << 22}, {1 << 28}},
                             {{1 << 16}});
}

/// Short segments, which most tiles have a head of, and long ones, which most have not.
std::vector<Size> segment_sizes(const Bench& bench) {
    return bench.sizes<Size>({{5000, 100}},
                             {{1 << 22, 1000}},
                             {{1 << 28, 100}, {1 << 28, 1 << 20}},
                             {{1 << 16, 1000}});
}

/// Standard normal numbers, or as integers the bits of such numbers.
template <class T>
Array<T> random_input(Bench& bench, int64_t n) {
    if constexpr (std::is_same_v<T, float>) {
        return bench.random_normal(n);
    } else {
        const auto numbers = bench.random_normal(n);
        Array<T> x(n);
        CUDA_CHECK(
            cudaMemcpy(x.data(), numbers.data(), x.bytes(), cudaMemcpyDeviceToDevice));
        return x;
    }
}

/// The right sums at any place: the sums at some places, from which the rest is added.
template <class T>
class Sums {
 public:
    /// @param length  of a segment, whose sums begin anew; 0: there is one
    Sums(const Array<T>& x, int64_t length) : x_(x), length_(length) {
        for (int64_t i = 0; length == 0 && i < x.size(); i += kStep) {
            before_.push_back(total_);
            add(i, std::min(kStep, x.size() - i));
        }
    }

    /// The inclusive sum at i.
    Expected at(int64_t i) {
        const int64_t first = length_ > 0 ? i / length_ * length_ : i / kStep * kStep;
        total_ = length_ > 0 ? Total{} : before_[static_cast<size_t>(i / kStep)];
        add(first, i + 1 - first);
        if constexpr (std::is_integral_v<T>)
            return {static_cast<double>(static_cast<int32_t>(total_.wrapped)), 0.0};
        const double roundings = 64.0 + static_cast<double>(i / 1024);
        return {total_.sum, roundings * std::ldexp(1.0, -24) * total_.magnitude};
    }

 private:
    static constexpr int64_t kStep = 1 << 20;

    struct Total {
        double sum = 0.0;
        double magnitude = 0.0;
        uint32_t wrapped = 0;
    };

    void add(int64_t first, int64_t count) {
        for (const T value : x_.host(first, count)) {
            if constexpr (std::is_integral_v<T>) {
                total_.wrapped += static_cast<uint32_t>(value);
            } else {
                total_.sum += double{value};
                total_.magnitude += std::abs(double{value});
            }
        }
    }

    const Array<T>& x_;
    int64_t length_;
    std::vector<Total> before_;
    Total total_;
};

/// All versions of a scan without segments, and CUB's.
template <class T, class Scan>
void time_scans(Bench& bench, const char* exercise, Scan* contract) {
    for (const Size& s : sizes(bench)) {
        if (!bench.fits(s.bytes())) continue;
        const auto x = random_input<T>(bench, s.n);
        const auto y = bench.output<T>(s.n);
        Sums<T> sums(x, 0);
        auto problem = bench.problem({s.text(), Ceiling::copy, s.bytes()});
        problem.expect("y", y, [&](int64_t i) { return sums.at(i); });
        for (const auto& [name, idea, launcher] :
             wb::implementations(exercise, contract))
            problem.time(
                name, idea, [&, launcher = launcher, s = s](cudaStream_t stream) {
                    launcher(x.data(), y.data(), s.n, ScanKind::inclusive, stream);
                });
        const Array<unsigned char> scratch(
            static_cast<int64_t>(scan_peers::scratch_bytes(s.n)));
        problem.time("cub::DeviceScan", "library", [&, s = s](cudaStream_t stream) {
            scan_peers::inclusive(
                scratch.data(), scratch.bytes(), x.data(), y.data(), s.n, stream);
        });
    }
}

/// All versions of a scan of segments.
template <class T, class Scan>
void time_segments(Bench& bench, const char* exercise, Scan* contract) {
    for (const Size& s : segment_sizes(bench)) {
        if (!bench.fits(s.bytes())) continue;
        const auto x = random_input<T>(bench, s.n);
        const auto y = bench.output<T>(s.n);
        const Array<uint8_t> heads(s.n);
        std::vector<uint8_t> flags(static_cast<size_t>(s.n));
        for (int64_t i = 0; i < s.n; i += s.length)
            flags[static_cast<size_t>(i)] = 1;
        heads.upload(flags);
        Sums<T> sums(x, s.length);
        auto problem = bench.problem({s.text(), Ceiling::copy, s.bytes()});
        problem.expect("y", y, [&](int64_t i) { return sums.at(i); });
        for (const auto& [name, idea, launcher] :
             wb::implementations(exercise, contract))
            problem.time(
                name, idea, [&, launcher = launcher, s = s](cudaStream_t stream) {
                    launcher(x.data(),
                             heads.data(),
                             y.data(),
                             s.n,
                             ScanKind::inclusive,
                             stream);
                });
    }
}

}  // namespace

WB_BENCH(scan_int32, bench) {
    time_scans<int32_t>(bench, "scan_int32", scan_int32);
}

WB_BENCH(scan_float, bench) {
    time_scans<float>(bench, "scan_float", scan_float);
}

WB_BENCH(segmented_scan_int32, bench) {
    time_segments<int32_t>(bench, "segmented_scan_int32", segmented_scan_int32);
}

WB_BENCH(segmented_scan_float, bench) {
    time_segments<float>(bench, "segmented_scan_float", segmented_scan_float);
}
