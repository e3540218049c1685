/// trace.h: the five kernels again, on the CPU, to count what their warps ask for. They
/// follow the code of given_kernels.h access by access; the simulator's checker agrees
/// (the hidden case of roofline_test.cpp).
#pragma once

#include "roofline.h"

#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

/// Collects accesses, as warps make them.
class Trace {
 public:
    static constexpr int kLanes = 32;

    /// One load or store of a warp: `lanes` lanes want floats `step` apart, the first
    /// one at `first`; array 0, 1, 2 … each begin at a multiple of 32 bytes.
    void global(
        bool write, int array, int64_t first, int64_t step = 1, int lanes = kLanes) {
        ++cost_.requests;
        auto& sectors = write ? written_ : read_;
        const int elements = step == 0 ? 1 : lanes;
        for (int lane = 0; lane < elements; ++lane) {
            const int64_t element = first + lane * step;
            if (lane == 0 || element / 8 != (element - step) / 8)
                sectors.insert((int64_t{array} << 56) + element / 8);
            wanted_.insert((int64_t{array} << 56) + element + (int64_t{write} << 55));
        }
    }

    /// Loads or stores of shared memory by one warp.
    void shared(int count) { cost_.requests += count; }

    void flop(double count) { cost_.flop += count; }

    /// All of it.
    Cost cost() const {
        Cost all = cost_;
        all.dram_bytes = 32.0 * static_cast<double>(read_.size() + written_.size());
        return all;
    }

    /// What wrong counts would give, to name the mistake: sectors that are read only,
    /// and bytes that are wanted, sectors forgotten.
    double read_bytes() const { return 32.0 * static_cast<double>(read_.size()); }
    double wanted_bytes() const { return 4.0 * static_cast<double>(wanted_.size()); }

    /// A stretch of n elements, warp by warp: f(first element, lanes).
    template <class Function>
    static void each_warp(int64_t n, Function f) {
        for (int64_t first = 0; first < n; first += kLanes) {
            f(first, static_cast<int>(n - first < kLanes ? n - first : kLanes));
        }
    }

 private:
    Cost cost_{};
    std::unordered_set<int64_t> read_;
    std::unordered_set<int64_t> written_;
    std::unordered_set<int64_t> wanted_;
};

inline Trace trace_saxpy(int64_t n) {
    Trace trace;
    Trace::each_warp(n, [&](int64_t first, int lanes) {
        trace.global(false, 0, first, 1, lanes);
        trace.global(false, 1, first, 1, lanes);
        trace.flop(2.0 * lanes);
        trace.global(true, 1, first, 1, lanes);
    });
    return trace;
}

inline Trace trace_strided_scale(int64_t n, int64_t stride) {
    Trace trace;
    Trace::each_warp(n, [&](int64_t first, int lanes) {
        trace.global(false, 0, first * stride, stride, lanes);
        trace.flop(1.0 * lanes);
        trace.global(true, 1, first, 1, lanes);
    });
    return trace;
}

inline Trace trace_polynomial(int64_t n, int64_t degree) {
    Trace trace;
    Trace::each_warp(n, [&](int64_t first, int lanes) {
        trace.global(false, 0, first, 1, lanes);
        for (int64_t step = 0; step < degree; ++step)
            trace.flop(2.0 * lanes);
        trace.global(true, 1, first, 1, lanes);
    });
    return trace;
}

inline Trace trace_matmul_naive(int64_t n) {
    Trace trace;
    for (int64_t row = 0; row < n; ++row) {
        Trace::each_warp(n, [&](int64_t column, int lanes) {
            for (int64_t k = 0; k < n; ++k) {
                trace.global(false, 0, row * n + k, 0);
                trace.global(false, 1, k * n + column);
                trace.flop(2.0 * lanes);
            }
            trace.global(true, 2, row * n + column);
        });
    }
    return trace;
}

inline Trace trace_matmul_tiled(int64_t n) {
    constexpr int kTile = 32;
    Trace trace;
    for (int64_t row = 0; row < n; ++row) {
        Trace::each_warp(n, [&](int64_t column, int lanes) {
            for (int64_t first = 0; first < n; first += kTile) {
                trace.global(false, 0, row * n + first);
                trace.global(false, 1, (first + row % kTile) * n + column);
                trace.shared(2);  // two stores
                for (int k = 0; k < kTile; ++k) {
                    trace.shared(2);  // two loads
                    trace.flop(2.0 * lanes);
                }
            }
            trace.global(true, 2, row * n + column);
        });
    }
    return trace;
}
