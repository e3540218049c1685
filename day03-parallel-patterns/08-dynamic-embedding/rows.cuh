/// rows.cuh: what stands around finding and claiming: the clock, rows of new keys, the
/// sorted backward pass, export and import. There is nothing to write here.
#pragma once

#include <wb/check.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include <cstdint>
#include <type_traits>

#include "../../day02-memory/04-embedding-lookup/row_sort.cuh"
#include "claims.cuh"
#include "table_memory.h"

// #region groups
/// A few lanes of a warp that share a row: as many as it has packs of V floats, a power
/// of two. Each warp has kWarpSize / lanes such groups.
struct Groups {
    int lanes;      ///< of a group
    int64_t packs;  ///< of V floats, in a row

    __device__ int lane() const { return static_cast<int>(threadIdx.x) % lanes; }
    /// The number of this group in the grid.
    __device__ int64_t number() const {
        return (int64_t{blockIdx.x} * kThreads + threadIdx.x) / lanes;
    }
};

/// V floats that one load brings.
template <int V>
struct alignas(V * sizeof(float)) RowPack {
    float at[V];
};

inline Groups groups_of(int64_t packs) {
    int lanes = 1;
    while (lanes < packs && lanes < wb::kWarpSize)
        lanes *= 2;
    return {lanes, packs};
}

/// Calls launch(groups, a constant that is V): 4, if packs of 4 floats may be loaded
/// from the rows of the table and from `rows`, else 1.
template <class Launch>
void with_packs(const Table& table, const float* rows, Launch launch) {
    const auto address = [](const void* p) { return reinterpret_cast<uintptr_t>(p); };
    const uintptr_t all = address(table.hot) | address(table.cold) | address(rows);
    if (table.cols % 4 == 0 && all % 16 == 0)
        launch(groups_of(table.cols / 4), std::integral_constant<int, 4>());
    else
        launch(groups_of(table.cols), std::integral_constant<int, 1>());
}

/// A pack of a row.
template <int V>
__device__ inline RowPack<V>* packs_of(float* row) {
    return reinterpret_cast<RowPack<V>*>(row);
}
template <int V>
__device__ inline const RowPack<V>* packs_of(const float* row) {
    return reinterpret_cast<const RowPack<V>*>(row);
}
// #endregion groups

/// Blocks for `groups` groups of so many lanes.
inline unsigned group_blocks(int64_t groups, int lanes) {
    return wb::grid_size(groups, kThreads / lanes);
}

// #region clock
/// A call that inserts begins: the clock goes on. By the GPU, not by the host: a CUDA
/// graph that has captured a call may be launched again.
static __global__ void tick_kernel(TableState* state) {
    ++state->clock;
}

inline void tick(const Table& table, cudaStream_t stream) {
    tick_kernel<<<1, 1, 0, stream>>>(table.state);
    CUDA_CHECK_LAUNCH();
}
// #endregion clock

// #region new-rows
/// The rows of new keys: `initial`, or zeros. Key i writes the row if the slot was
/// given to it.
///
/// Launch   grid group_blocks(n, groups.lanes), block kThreads
template <int V>
__global__ void new_rows_kernel(Table table,
                                const int32_t* slots,  // [n]
                                const float* initial,  // [n, cols], or null
                                int64_t n,
                                Groups groups) {
    const int64_t i = groups.number();
    if (i >= n || slots[i] == kNoSlot) return;
    const Claim claim = make_claim(table.state->clock, kNew, i);
    if (table.claims[slots[i]] != claim) return;
    RowPack<V>* row = packs_of<V>(row_of(table, slots[i]));
    for (int64_t pack = groups.lane(); pack < groups.packs; pack += groups.lanes) {
        RowPack<V> zeros = {};
        row[pack] =
            initial == nullptr ? zeros : packs_of<V>(initial + i * table.cols)[pack];
    }
}

inline void write_new_rows(const Table& table,
                           const int32_t* slots,
                           const float* initial,
                           int64_t n,
                           cudaStream_t stream) {
    with_packs(table, initial, [&](Groups groups, auto v) {
        new_rows_kernel<v.value>
            <<<group_blocks(n, groups.lanes), kThreads, 0, stream>>>(
                table, slots, initial, n, groups);
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion new-rows

// #region sorted
/// Slots as the rows of a table, for the sort of day 2. What is no slot is no row, and
/// comes last.
static __global__ void widen_kernel(const int32_t* slots,  // [n]
                                    int64_t* rows,         // [n]
                                    int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < n) rows[i] = slots[i];
}

/// A group of lanes for each place in the sorted order; it does the work if a slot's
/// gradients begin there.
template <int V>
__global__ void sorted_sums_kernel(Table table,
                                   const int32_t* sorted,     // [n] slots, rising
                                   const int32_t* positions,  // [n] i of each
                                   const float* grad,         // [n, cols]
                                   float scale,
                                   int64_t n,
                                   Groups groups) {
    const int64_t first = groups.number();
    if (first >= n || !is_slot(table, sorted[first])) return;
    const int32_t slot = sorted[first];
    if (first > 0 && sorted[first - 1] == slot) return;
    RowPack<V>* row = packs_of<V>(row_of(table, slot));
    for (int64_t pack = groups.lane(); pack < groups.packs; pack += groups.lanes) {
        RowPack<V> sum = {};
        for (int64_t k = first; k < n && sorted[k] == slot; ++k) {
            const auto g = packs_of<V>(grad + positions[k] * table.cols)[pack];
#pragma unroll
            for (int j = 0; j < V; ++j)
                sum.at[j] += g.at[j];
        }
        RowPack<V> r = row[pack];
#pragma unroll
        for (int j = 0; j < V; ++j)
            r.at[j] = fmaf(scale, sum.at[j], r.at[j]);
        row[pack] = r;
    }
}

/// Sorts by slot; the sort is stable, so that the gradients of a slot keep their order.
inline void backward_sorted(const Table& table,
                            const int32_t* slots,
                            const float* grad,
                            float scale,
                            int64_t n,
                            cudaStream_t stream) {
    const wb::Scratch<int64_t> rows(n, stream);
    const wb::Scratch<unsigned long long> bad(1, stream);  // of no interest here
    CUDA_CHECK(cudaMemsetAsync(bad.data(), 0, sizeof *bad.data(), stream));
    widen_kernel<<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(
        slots, rows.data(), n);
    CUDA_CHECK_LAUNCH();
    const Lookup lookup = {rows.data(), n, capacity_of(table), table.cols, bad.data()};
    const RowSort sort(lookup, -1, stream);
    const SortedRows sorted = sort.result();
    with_packs(table, grad, [&](Groups groups, auto v) {
        sorted_sums_kernel<v.value>
            <<<group_blocks(n, groups.lanes), kThreads, 0, stream>>>(
                table, sorted.rows, sorted.positions, grad, scale, n, groups);
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion sorted

// #region export
/// A thread a slot. Those of a warp that have a key take neighbouring entries: one
/// atomic addition a warp.
static __global__ void export_keys_kernel(Table table,
                                          uint64_t* keys,    // [capacity]
                                          uint64_t* scores,  // [capacity]
                                          int32_t* slots,    // [capacity] of each key
                                          int64_t* num) {    // [1], 0
    const int64_t slot = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const int64_t capacity = table.num_buckets * kPlaces;
    const Claim claim = slot < capacity ? table.claims[slot] : 0;
    const unsigned used = __ballot_sync(wb::kAllLanes, claim != 0);
    const int lane = static_cast<int>(threadIdx.x) % wb::kWarpSize;
    unsigned long long first = 0;
    if (lane == 0 && used != 0)
        first = atomicAdd(reinterpret_cast<unsigned long long*>(num),
                          static_cast<unsigned long long>(__popc(used)));
    first = __shfl_sync(wb::kAllLanes, first, 0);
    if (claim == 0) return;
    const auto entry = static_cast<int64_t>(first) + __popc(used & ((1u << lane) - 1));
    keys[entry] = table.buckets[slot / kPlaces].keys[slot % kPlaces];
    scores[entry] = uint64_t{table.counts[slot]} << 32 | clock_of(claim);
    slots[entry] = static_cast<int32_t>(slot);
}

/// The rows of the keys, in their order.
template <int V>
__global__ void export_rows_kernel(Table table,
                                   const int32_t* slots,  // [*num]
                                   const int64_t* num,
                                   float* rows,  // [capacity, cols]
                                   Groups groups) {
    const int64_t i = groups.number();
    if (i >= *num) return;
    const RowPack<V>* row = packs_of<V>(row_of(table, slots[i]));
    for (int64_t pack = groups.lane(); pack < groups.packs; pack += groups.lanes)
        packs_of<V>(rows + i * table.cols)[pack] = row[pack];
}

inline void export_all(const Table& table,
                       uint64_t* keys,
                       uint64_t* scores,
                       float* rows,
                       int64_t* num,
                       cudaStream_t stream) {
    const int64_t capacity = capacity_of(table);
    const wb::Scratch<int32_t> slots(capacity, stream);
    CUDA_CHECK(cudaMemsetAsync(num, 0, sizeof *num, stream));
    export_keys_kernel<<<wb::grid_size(capacity, kThreads), kThreads, 0, stream>>>(
        table, keys, scores, slots.data(), num);
    CUDA_CHECK_LAUNCH();
    with_packs(table, rows, [&](Groups groups, auto v) {
        export_rows_kernel<v.value>
            <<<group_blocks(capacity, groups.lanes), kThreads, 0, stream>>>(
                table, slots.data(), num, rows, groups);
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion export

// #region import
/// After the keys have slots: of each slot, the key whose index its claim has writes
/// row and score. No other key can have it afterwards: the claim says kNobody.
template <int V>
__global__ void import_rows_kernel(Table table,
                                   const int32_t* slots,  // [n]
                                   const float* rows,     // [n, cols]
                                   int64_t n,
                                   Groups groups) {
    const int64_t i = groups.number();
    if (i >= n || slots[i] == kNoSlot) return;
    if (index_of(table.claims[slots[i]]) != i) return;
    RowPack<V>* row = packs_of<V>(row_of(table, slots[i]));
    for (int64_t pack = groups.lane(); pack < groups.packs; pack += groups.lanes)
        row[pack] = packs_of<V>(rows + i * table.cols)[pack];
}

static __global__ void import_scores_kernel(Table table,
                                            const int32_t* slots,    // [n]
                                            const uint64_t* scores,  // [n]
                                            int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= n || slots[i] == kNoSlot) return;
    const int64_t slot = slots[i];
    if (index_of(load_claim(table, slot)) != i) return;
    const uint64_t clock = scores[i] & 0xFFFFFFFFu;
    table.counts[slot] = static_cast<uint32_t>(scores[i] >> 32);
    ClaimRef(table.claims[slot])
        .store(make_claim(clock, 0, kNobody), cuda::memory_order_relaxed);
    atomicMax(&table.state->clock, static_cast<unsigned long long>(clock));
}

inline void import_all(const Table& table,
                       const int32_t* slots,
                       const uint64_t* scores,
                       const float* rows,
                       int64_t n,
                       cudaStream_t stream) {
    with_packs(table, rows, [&](Groups groups, auto v) {
        import_rows_kernel<v.value>
            <<<group_blocks(n, groups.lanes), kThreads, 0, stream>>>(
                table, slots, rows, n, groups);
        CUDA_CHECK_LAUNCH();
    });
    import_scores_kernel<<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(
        table, slots, scores, n);
    CUDA_CHECK_LAUNCH();
}
// #endregion import
