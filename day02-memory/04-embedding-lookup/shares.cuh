/// shares.cuh: what "Go faster" is given: several elements as one load brings them,
/// sums that are not complete yet, and zeros for rows that nobody has looked up.
#pragma once

#include <wb/launch.h>

#include <cstdint>

#include "row_sort.cuh"

/// So many elements of a row as one load can bring.
template <class T, int V>
struct alignas(V * sizeof(T)) Pack {
    T at[V];
};

/// Summands that a warp adds up: one for each lane to know.
inline constexpr int kShare = wb::kWarpSize;

// #region shares
/// What is added up: rows, each of which belongs to a row of the table. First these are
/// the gradients in sorted order, then the partial sums of the level before.
template <class Pack>
struct Summands {
    const Pack* rows;          // [*, packs]
    const int32_t* belongs;    // [count] row of the table; num_rows: none
    const int32_t* positions;  // [count] which of rows; null: the first is first
    int64_t count;
};

/// What the shares could not finish: each has two partial sums. The run of summands
/// that began in an earlier share is the first, the run that goes on is the second.
template <class Pack>
struct Partials {
    Pack* rows;        // [shares, 2, packs]
    int32_t* belongs;  // [shares, 2] row of the table; num_rows: there is none
};

/// What a warp knows of its share before it adds anything.
struct Share {
    int64_t number;
    int64_t position;    ///< of this lane's summand, among the rows
    int32_t row;         ///< of the table, to which this lane's summand belongs
    int32_t row_before;  ///< of the summand in front of the share; num_rows: none
    int32_t row_behind;  ///< of the one behind it
    unsigned ends;       ///< bit i: summand i is the last of its run in this share
    unsigned used;       ///< bit i: summand i belongs to a row
};
// #endregion shares

/// The share of this warp, whose lanes must all be here.
template <class Pack>
__device__ Share share_of_warp(const Summands<Pack>& in, int32_t num_rows) {
    Share share;
    share.number = warp_of_grid();
    const int lane = lane_of_warp();
    const int64_t first = share.number * kShare;
    const int64_t mine = first + lane;
    const int64_t behind = first + kShare;
    const bool is_there = mine < in.count;
    share.row = is_there ? in.belongs[mine] : num_rows;
    share.position = is_there && in.positions != nullptr ? in.positions[mine] : mine;
    share.row_before = first > 0 ? in.belongs[first - 1] : num_rows;
    share.row_behind = behind < in.count ? in.belongs[behind] : num_rows;
    const int32_t next = __shfl_down_sync(wb::kAllLanes, share.row, 1);
    const bool is_end = lane == kShare - 1 || next != share.row;
    share.ends = __ballot_sync(wb::kAllLanes, is_end);
    share.used = __ballot_sync(wb::kAllLanes, share.row < num_rows);
    return share;
}

/// Says to which rows the two partial sums of a share belong: to those that it has in
/// common with its neighbours.
template <class Pack>
__device__ void name_partials(const Share& share,
                              const Partials<Pack>& partials,
                              int32_t num_rows) {
    const int lane = lane_of_warp();
    int32_t* belongs = partials.belongs + 2 * share.number;
    if (lane == 0) belongs[0] = share.row == share.row_before ? share.row : num_rows;
    if (lane == kShare - 1)
        belongs[1] = share.row == share.row_behind ? share.row : num_rows;
}

// #region zeros
/// Zeros for the rows of the table that no index means. A warp looks at 32 of them.
/// @tparam V  floats of a store; a row is a whole number of them
///
/// Launch   grid ceil_div(num_rows, kThreads), block kThreads
template <int V>
__global__ void zero_rows_kernel(Pack<float, V>* grad_table,  // [num_rows, packs]
                                 SortedRows sorted,
                                 int64_t num_rows,
                                 int packs) {
    const int64_t first = warp_of_grid() * wb::kWarpSize;
    const int64_t mine = first + lane_of_warp();
    const bool is_empty = mine < num_rows && sorted.begins[mine] == sorted.ends[mine];
    const unsigned empty = __ballot_sync(wb::kAllLanes, is_empty);
    for (int i = 0; i < wb::kWarpSize; ++i) {
        if ((empty >> i & 1u) == 0) continue;
        for (int pack = lane_of_warp(); pack < packs; pack += wb::kWarpSize)
            grad_table[(first + i) * packs + pack] = {};
    }
}
// #endregion zeros
