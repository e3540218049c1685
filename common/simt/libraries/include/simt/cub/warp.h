/// simt/cub/warp.h: cub's cooperation of the lanes of a warp, or of a part of it.
#pragma once
#include "simt/cub/common.h"

namespace cub {
namespace detail {
/// The lanes of the caller's part of kWidth lanes.
template <int kWidth>
unsigned part_mask() {
    const unsigned lane = rank() % 32;
    return kWidth == 32 ? 0xffffffffu
                        : ((1u << (kWidth % 32)) - 1) << (lane / kWidth * kWidth);
}
}  // namespace detail

/// Reductions over kWidth lanes; the result is valid in the first of them.
template <class T, int kWidth = 32>
class WarpReduce {
 public:
    struct TempStorage {
        T values[kWidth];
    };
    explicit WarpReduce(TempStorage& storage) : storage_(storage) {}

    /// Of the first `valid` lanes' values.
    template <class Op>
    T Reduce(T value, Op op, int valid = kWidth) {
        const unsigned lane = detail::rank() % kWidth;
        storage_.values[lane] = value;
        __syncwarp(detail::part_mask<kWidth>());
        if (lane == 0) value = detail::fold(storage_.values, valid, op);
        __syncwarp(detail::part_mask<kWidth>());
        return value;
    }
    T Sum(T value, int valid = kWidth) { return Reduce(value, cub::Sum(), valid); }

 private:
    TempStorage& storage_;
};

/// Prefix sums over kWidth lanes.
template <class T, int kWidth = 32>
class WarpScan {
 public:
    struct TempStorage {
        T values[kWidth];
        T total;
    };
    explicit WarpScan(TempStorage& storage) : storage_(storage) {}

    void InclusiveSum(T in, T& out) { run(in, out, T(), false, true, cub::Sum()); }
    void InclusiveSum(T in, T& out, T& total) {
        total = run(in, out, T(), false, true, cub::Sum());
    }
    void ExclusiveSum(T in, T& out) { run(in, out, T(), true, false, cub::Sum()); }
    void ExclusiveSum(T in, T& out, T& total) {
        total = run(in, out, T(), true, false, cub::Sum());
    }
    template <class Op>
    void InclusiveScan(T in, T& out, Op op) {
        run(in, out, T(), false, true, op);
    }
    template <class Op>
    void ExclusiveScan(T in, T& out, T initial, Op op) {
        run(in, out, initial, true, false, op);
    }
    /// Leaves the first lane's result undefined.
    template <class Op>
    void ExclusiveScan(T in, T& out, Op op) {
        run(in, out, T(), false, false, op);
    }
    /// The value of one of the lanes, for all.
    T Broadcast(T value, unsigned from) {
        return __shfl_sync(detail::part_mask<kWidth>(), value, static_cast<int>(from),
                           kWidth);
    }

 private:
    template <class Op>
    T run(T in, T& out, T initial, bool has_initial, bool inclusive, Op op) {
        const unsigned lane = detail::rank() % kWidth;
        const unsigned mask = detail::part_mask<kWidth>();
        storage_.values[lane] = in;
        __syncwarp(mask);
        if (lane == 0)
            storage_.total = detail::scan(storage_.values, kWidth, initial, has_initial,
                                          inclusive, op);
        __syncwarp(mask);
        out = storage_.values[lane];
        const T total = storage_.total;
        __syncwarp(mask);
        return total;
    }
    TempStorage& storage_;
};
}  // namespace cub
