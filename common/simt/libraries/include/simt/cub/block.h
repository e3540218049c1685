/// simt/cub/block.h: cub's cooperation of the threads of a block.
///
/// Thread 0 does the work on values that all threads have put into shared memory.
#pragma once
#include <algorithm>
#include <numeric>

#include "simt/cub/common.h"

namespace cub {
enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS,
};
enum BlockScanAlgorithm {
    BLOCK_SCAN_RAKING,
    BLOCK_SCAN_RAKING_MEMOIZE,
    BLOCK_SCAN_WARP_SCANS,
};

/// Reductions over a block; the result is valid in thread 0.
template <class T, int kX, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS,
          int kY = 1, int kZ = 1, int = 0>
class BlockReduce {
 public:
    struct TempStorage {
        T values[kX * kY * kZ];
    };
    explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

    /// Of the first `valid` threads' values.
    template <class Op>
    T Reduce(T value, Op op, int valid = kX * kY * kZ) {
        storage_.values[detail::rank()] = value;
        __syncthreads();
        if (detail::rank() == 0) value = detail::fold(storage_.values, valid, op);
        return value;
    }
    template <int kItems, class Op>
    T Reduce(T (&values)[kItems], Op op) {
        return Reduce(detail::fold(values, kItems, op), op);
    }
    T Sum(T value, int valid = kX * kY * kZ) {
        return Reduce(value, cub::Sum(), valid);
    }
    template <int kItems>
    T Sum(T (&values)[kItems]) {
        return Reduce(values, cub::Sum());
    }

 private:
    TempStorage& storage_;
};

/// Prefix sums over a block.
template <class T, int kX, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int kY = 1,
          int kZ = 1, int = 0>
class BlockScan {
    static constexpr int kThreads = kX * kY * kZ;

 public:
    struct TempStorage {
        T values[kThreads];
        T total;
    };
    explicit BlockScan(TempStorage& storage) : storage_(storage) {}

    void ExclusiveSum(T in, T& out) { run(in, out, T(), true, false, cub::Sum()); }
    void ExclusiveSum(T in, T& out, T& total) {
        ExclusiveSum(in, out);
        total = storage_.total;
    }
    void InclusiveSum(T in, T& out) { run(in, out, T(), false, true, cub::Sum()); }
    void InclusiveSum(T in, T& out, T& total) {
        InclusiveSum(in, out);
        total = storage_.total;
    }
    template <class Op>
    void ExclusiveScan(T in, T& out, T initial, Op op) {
        run(in, out, initial, true, false, op);
    }
    template <class Op>
    void ExclusiveScan(T in, T& out, T initial, Op op, T& total) {
        ExclusiveScan(in, out, initial, op);
        total = storage_.total;
    }
    template <class Op>
    void InclusiveScan(T in, T& out, Op op) {
        run(in, out, T(), false, true, op);
    }
    template <class Op>
    void InclusiveScan(T in, T& out, Op op, T& total) {
        InclusiveScan(in, out, op);
        total = storage_.total;
    }
    /// Of several consecutive values of each thread.
    template <int kItems>
    void ExclusiveSum(T (&in)[kItems], T (&out)[kItems]) {
        T prefix;
        ExclusiveSum(detail::fold(in, kItems, cub::Sum()), prefix);
        std::copy(in, in + kItems, out);
        detail::scan(out, kItems, prefix, true, false, cub::Sum());
    }
    template <int kItems>
    void ExclusiveSum(T (&in)[kItems], T (&out)[kItems], T& total) {
        ExclusiveSum(in, out);
        total = storage_.total;
    }
    template <int kItems>
    void InclusiveSum(T (&in)[kItems], T (&out)[kItems]) {
        T prefix;
        ExclusiveSum(detail::fold(in, kItems, cub::Sum()), prefix);
        std::copy(in, in + kItems, out);
        detail::scan(out, kItems, prefix, true, true, cub::Sum());
    }
    template <int kItems>
    void InclusiveSum(T (&in)[kItems], T (&out)[kItems], T& total) {
        InclusiveSum(in, out);
        total = storage_.total;
    }

 private:
    template <class Op>
    void run(T in, T& out, T initial, bool has_initial, bool inclusive, Op op) {
        storage_.values[detail::rank()] = in;
        __syncthreads();
        if (detail::rank() == 0)
            storage_.total = detail::scan(storage_.values, kThreads, initial,
                                          has_initial, inclusive, op);
        __syncthreads();
        out = storage_.values[detail::rank()];
    }
    TempStorage& storage_;
};

/// Stable sorts of the kItems consecutive keys (and values) of each thread.
template <class Key, int kX, int kItems, class Value = NullType>
class BlockRadixSort {
 public:
    struct TempStorage {
        Key keys[kX * kItems];
        Value values[kX * kItems];
        int order[kX * kItems];
    };
    explicit BlockRadixSort(TempStorage& storage) : storage_(storage) {}

    void Sort(Key (&keys)[kItems]) { run<true>(keys, none_, std::less<>()); }
    void SortDescending(Key (&keys)[kItems]) {
        run<true>(keys, none_, std::greater<>());
    }
    void Sort(Key (&keys)[kItems], Value (&values)[kItems]) {
        run<true>(keys, values, std::less<>());
    }
    void SortDescending(Key (&keys)[kItems], Value (&values)[kItems]) {
        run<true>(keys, values, std::greater<>());
    }
    /// The result is striped: thread t has elements t, t + kX, t + 2 kX, …
    void SortBlockedToStriped(Key (&keys)[kItems]) {
        run<false>(keys, none_, std::less<>());
    }

 private:
    template <bool kBlocked, class Less>
    void run(Key (&keys)[kItems], Value (&values)[kItems], Less less) {
        const int t = static_cast<int>(detail::rank());
        for (int i = 0; i < kItems; ++i) {
            storage_.keys[t * kItems + i] = keys[i];
            storage_.values[t * kItems + i] = values[i];
        }
        __syncthreads();
        if (t == 0) {
            std::iota(storage_.order, storage_.order + kX * kItems, 0);
            std::stable_sort(
                storage_.order, storage_.order + kX * kItems,
                [&](int a, int b) { return less(storage_.keys[a], storage_.keys[b]); });
        }
        __syncthreads();
        for (int i = 0; i < kItems; ++i) {
            const int from = storage_.order[kBlocked ? t * kItems + i : t + i * kX];
            keys[i] = storage_.keys[from];
            values[i] = storage_.values[from];
        }
    }
    TempStorage& storage_;
    Value none_[kItems] = {};
};

/// Elements change their threads: blocked, thread t has kItems from t * kItems on;
/// striped, it has t, t + kX, t + 2 kX, …; warp-striped, the same within its warp's.
template <class T, int kX, int kItems, bool = false, int kY = 1, int kZ = 1>
class BlockExchange {
    static constexpr int kThreads = kX * kY * kZ;
    static int blocked(int t, int i) { return t * kItems + i; }
    static int striped(int t, int i) { return t + i * kThreads; }
    static int warp_striped(int t, int i) {
        const int lanes = kThreads - t / 32 * 32 < 32 ? kThreads % 32 : 32;
        return t / 32 * 32 * kItems + t % 32 + i * lanes;
    }

 public:
    struct TempStorage {
        T values[kThreads * kItems];
    };
    explicit BlockExchange(TempStorage& storage) : storage_(storage) {}

#define SIMT_EXCHANGE(NAME, FROM, TO)                         \
    template <class Out>                                      \
    void NAME(const T(&in)[kItems], Out(&out)[kItems]) {      \
        move(                                                 \
            in, out, [](int t, int i) { return FROM(t, i); }, \
            [](int t, int i) { return TO(t, i); });           \
    }                                                         \
    void NAME(T(&items)[kItems]) {                            \
        NAME(items, items);                                   \
    }
    SIMT_EXCHANGE(BlockedToStriped, blocked, striped)
    SIMT_EXCHANGE(StripedToBlocked, striped, blocked)
    SIMT_EXCHANGE(BlockedToWarpStriped, blocked, warp_striped)
    SIMT_EXCHANGE(WarpStripedToBlocked, warp_striped, blocked)
#undef SIMT_EXCHANGE
    /// Item i goes to place ranks[i].
#define SIMT_EXCHANGE(NAME, TO)                                                \
    template <class Out, class Rank>                                           \
    void NAME(const T(&in)[kItems], Out(&out)[kItems], Rank(&ranks)[kItems]) { \
        move(                                                                  \
            in, out, [&](int, int i) { return static_cast<int>(ranks[i]); },   \
            [](int t, int i) { return TO(t, i); });                            \
    }                                                                          \
    template <class Rank>                                                      \
    void NAME(T(&items)[kItems], Rank(&ranks)[kItems]) {                       \
        NAME(items, items, ranks);                                             \
    }
    SIMT_EXCHANGE(ScatterToBlocked, blocked)
    SIMT_EXCHANGE(ScatterToStriped, striped)
#undef SIMT_EXCHANGE

 private:
    template <class Out, class From, class To>
    void move(const T (&in)[kItems], Out (&out)[kItems], From from, To to) {
        const int t = static_cast<int>(detail::rank());
        for (int i = 0; i < kItems; ++i)
            storage_.values[from(t, i)] = in[i];
        __syncthreads();
        for (int i = 0; i < kItems; ++i)
            out[i] = storage_.values[to(t, i)];
    }
    TempStorage& storage_;
};

/// items[i] = from[t * kItems + i]
template <class T, int kItems, class It>
void LoadDirectBlocked(int t, It from, T (&items)[kItems]) {
    for (int i = 0; i < kItems; ++i)
        items[i] = from[t * kItems + i];
}
template <class T, int kItems, class It>
void StoreDirectBlocked(int t, It to, T (&items)[kItems]) {
    for (int i = 0; i < kItems; ++i)
        to[t * kItems + i] = items[i];
}
/// items[i] = from[t + i * kThreads]
template <int kThreads, class T, int kItems, class It>
void LoadDirectStriped(int t, It from, T (&items)[kItems]) {
    for (int i = 0; i < kItems; ++i)
        items[i] = from[t + i * kThreads];
}
template <int kThreads, class T, int kItems, class It>
void StoreDirectStriped(int t, It to, T (&items)[kItems]) {
    for (int i = 0; i < kItems; ++i)
        to[t + i * kThreads] = items[i];
}

enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
};
/// Loads kItems consecutive elements for each thread (striped ones, if so told).
template <class T, int kX, int kItems, BlockLoadAlgorithm kHow = BLOCK_LOAD_DIRECT>
class BlockLoad {
    static constexpr bool kStriped = kHow == BLOCK_LOAD_STRIPED;
    static int place(int i) {
        const int t = static_cast<int>(detail::rank());
        return kStriped ? t + i * kX : t * kItems + i;
    }

 public:
    struct TempStorage {};
    BlockLoad() = default;
    explicit BlockLoad(TempStorage&) {}
    template <class It>
    void Load(It from, T (&items)[kItems]) {
        for (int i = 0; i < kItems; ++i)
            items[i] = from[place(i)];
    }
    template <class It>
    void Load(It from, T (&items)[kItems], int valid) {
        for (int i = 0; i < kItems; ++i)
            if (place(i) < valid) items[i] = from[place(i)];
    }
    template <class It, class Default>
    void Load(It from, T (&items)[kItems], int valid, Default otherwise) {
        for (int i = 0; i < kItems; ++i)
            items[i] = place(i) < valid ? from[place(i)] : static_cast<T>(otherwise);
    }
};
template <class T, int kX, int kItems, BlockStoreAlgorithm kHow = BLOCK_STORE_DIRECT>
class BlockStore {
    static constexpr bool kStriped = kHow == BLOCK_STORE_STRIPED;

 public:
    struct TempStorage {};
    BlockStore() = default;
    explicit BlockStore(TempStorage&) {}
    template <class It>
    void Store(It to, T (&items)[kItems], int valid = kX * kItems) {
        const int t = static_cast<int>(detail::rank());
        for (int i = 0; i < kItems; ++i) {
            const int place = kStriped ? t + i * kX : t * kItems + i;
            if (place < valid) to[place] = items[i];
        }
    }
};
}  // namespace cub
