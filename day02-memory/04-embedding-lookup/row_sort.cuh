/// row_sort.cuh: sorts the indices of a backward pass, so that those of one row stand
/// side by side. Given: day 3 is about sorting.
///
///     const RowSort sort(lookup, padding, stream);
///     const SortedRows sorted = sort.result();
///
/// A radix sort: as many passes as the number of rows has groups of eight bits. A pass
/// counts how often each digit occurs in each tile of indices, adds up where each tile
/// may put them, and puts them there. It is stable (equal rows keep their order), so
/// that the result is the same in every call.
#pragma once

#include <wb/check.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include <cstdint>

#include "lookup.cuh"

// #region sorted
/// The indices in the order of their rows; those of one row in their own order.
struct SortedRows {
    const int32_t* rows;       ///< [count] rising. num_rows: padding, or no row at all
    const int32_t* positions;  ///< [count] which of lookup.indices that was
    const int32_t* begins;     ///< [num_rows] the first of each row among the sorted
    const int32_t* ends;       ///< [num_rows] one past the last. Both are 0 for a row
                               ///< that no index means
};
// #endregion sorted

inline constexpr int kDigitBits = 8;
inline constexpr int kDigits = 1 << kDigitBits;
static_assert(kDigits == kThreads, "each thread of a block has a digit");

/// Indices that a thread moves in a pass, and a block.
inline constexpr int kSortItems = 8;
inline constexpr int kSortTile = kSortItems * kThreads;

/// Where everything is between two passes.
struct SortArrays {
    const int32_t* rows_in;       // [count]
    const int32_t* positions_in;  // [count]
    int32_t* rows_out;            // [count]
    int32_t* positions_out;       // [count]
    int32_t* counts;              // [kDigits, tiles]
    int32_t* totals;              // [kDigits]
    int count;
    int tiles;
    int shift;  // of the digit of this pass
};

/// The digit of a row in this pass.
__device__ inline int digit_of(const SortArrays& s, int32_t row) {
    return (row >> s.shift) % kDigits;
}

/// Rows in the order of the indices. Counts those that are none.
static __global__ void begin_sort_kernel(Lookup lookup,
                                         int64_t padding,
                                         int32_t* rows,         // [count]
                                         int32_t* positions) {  // [count]
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= lookup.count) return;
    const int64_t index = lookup.indices[i];
    const bool is_right = is_row(lookup, index);
    if (!is_right) count_bad(lookup);
    const bool is_used = is_right && index != padding;
    rows[i] = static_cast<int32_t>(is_used ? index : lookup.num_rows);
    positions[i] = static_cast<int32_t>(i);
}

/// How often each digit occurs in each tile.
static __global__ void count_digits_kernel(SortArrays s) {
    __shared__ int32_t s_count[kDigits];
    const int tid = static_cast<int>(threadIdx.x);
    s_count[tid] = 0;
    __syncthreads();
    for (int item = 0; item < kSortItems; ++item) {
        const int64_t i = int64_t{blockIdx.x} * kSortTile + item * kThreads + tid;
        if (i < s.count) atomicAdd(&s_count[digit_of(s, s.rows_in[i])], 1);
    }
    __syncthreads();
    s.counts[int64_t{tid} * s.tiles + blockIdx.x] = s_count[tid];
}

/// The sum of a value over this lane and all below it.
__device__ inline int32_t sum_to_lane(int32_t value) {
    for (int step = 1; step < wb::kWarpSize; step *= 2) {
        const int32_t below = __shfl_up_sync(wb::kAllLanes, value, step);
        if (lane_of_warp() >= step) value += below;
    }
    return value;
}

/// A warp for each digit: the counts of its tiles become sums of those before them.
static __global__ void add_up_tiles_kernel(SortArrays s) {
    const int64_t digit = warp_of_grid();
    const int lane = lane_of_warp();
    int32_t before = 0;
    for (int first = 0; first < s.tiles; first += wb::kWarpSize) {
        const int tile = first + lane;
        int32_t* place = s.counts + digit * s.tiles + tile;
        const int32_t count = tile < s.tiles ? *place : 0;
        const int32_t sum = sum_to_lane(count);
        if (tile < s.tiles) *place = before + sum - count;
        before += __shfl_sync(wb::kAllLanes, sum, wb::kWarpSize - 1);
    }
    if (lane == 0) s.totals[digit] = before;
}

/// Which lanes of the warp have the digit of this one: a vote on each of its bits.
/// __match_any_sync() says the same, but takes longer the more digits there are.
__device__ inline unsigned lanes_with_digit(int digit) {
    unsigned same = wb::kAllLanes;
#pragma unroll
    for (int bit = 0; bit <= kDigitBits; ++bit) {  // kDigits itself has the last one
        const bool is_set = (digit >> bit & 1) != 0;
        const unsigned votes = __ballot_sync(wb::kAllLanes, is_set);
        same &= is_set ? votes : ~votes;
    }
    return same;
}

/// The sum of the values of all threads of the block below this one. All of them must
/// call it.
__device__ inline int32_t sum_below_thread(int32_t value) {
    __shared__ int32_t s_warp_sum[kWarps];
    const int warp = static_cast<int>(threadIdx.x) / wb::kWarpSize;
    const int32_t sum = sum_to_lane(value);
    __syncthreads();  // the sums of the call before have been read
    if (lane_of_warp() == wb::kWarpSize - 1) s_warp_sum[warp] = sum;
    __syncthreads();
    int32_t below = sum - value;
    for (int w = 0; w < warp; ++w)
        below += s_warp_sum[w];
    return below;
}

/// Puts each index of a tile behind those of smaller digits, of earlier tiles, and of
/// its own tile's earlier indices of the same digit. First in shared memory: there the
/// indices of a digit come to stand side by side, and they are then written that way.
static __global__ void move_tile_kernel(SortArrays s) {
    __shared__ int32_t s_next[kWarps][kDigits];  // where the next one goes, in the tile
    __shared__ int32_t s_shift[kDigits];         // from there to the place among all
    __shared__ int32_t s_rows[kSortTile];
    __shared__ int32_t s_positions[kSortTile];
    const int tid = static_cast<int>(threadIdx.x);
    const int lane = lane_of_warp();
    const int warp = tid / wb::kWarpSize;
    const int64_t first_of_tile = int64_t{blockIdx.x} * kSortTile;
    const int in_tile = static_cast<int>(
        s.count - first_of_tile < kSortTile ? s.count - first_of_tile : kSortTile);
    for (int w = 0; w < kWarps; ++w)
        s_next[w][tid] = 0;
    __syncthreads();

    // Of each index: how many of its digit this warp has had before.
    const int first = warp * (kSortItems * wb::kWarpSize) + lane;
    int32_t r_row[kSortItems];
    int32_t r_position[kSortItems];
    int32_t r_rank[kSortItems];
#pragma unroll
    for (int item = 0; item < kSortItems; ++item) {
        const int i = first + item * wb::kWarpSize;
        r_row[item] = i < in_tile ? s.rows_in[first_of_tile + i] : 0;
        r_position[item] = i < in_tile ? s.positions_in[first_of_tile + i] : 0;
    }
#pragma unroll
    for (int item = 0; item < kSortItems; ++item) {
        const bool is_there = first + item * wb::kWarpSize < in_tile;
        const int digit = is_there ? digit_of(s, r_row[item]) : kDigits;
        const unsigned same = lanes_with_digit(digit);
        const int before = __popc(same & ((1u << lane) - 1));
        const int32_t had = is_there ? s_next[warp][digit] : 0;
        __syncwarp();
        if (is_there && before == 0) s_next[warp][digit] = had + __popc(same);
        __syncwarp();
        r_rank[item] = had + before;
    }
    __syncthreads();
    // Of each digit, one a thread: where the first one of each warp goes.
    int32_t of_tile = 0;
    for (int w = 0; w < kWarps; ++w)
        of_tile += s_next[w][tid];
    const int32_t in_order = sum_below_thread(of_tile);
    const int32_t among_all =
        sum_below_thread(s.totals[tid]) + s.counts[int64_t{tid} * s.tiles + blockIdx.x];
    s_shift[tid] = among_all - in_order;
    int32_t next = in_order;
    for (int w = 0; w < kWarps; ++w) {
        const int32_t of_warp = s_next[w][tid];
        s_next[w][tid] = next;
        next += of_warp;
    }
    __syncthreads();
#pragma unroll
    for (int item = 0; item < kSortItems; ++item) {
        if (first + item * wb::kWarpSize >= in_tile) continue;
        const int32_t place = s_next[warp][digit_of(s, r_row[item])] + r_rank[item];
        s_rows[place] = r_row[item];
        s_positions[place] = r_position[item];
    }
    __syncthreads();
    for (int i = tid; i < in_tile; i += kThreads) {
        const int32_t place = i + s_shift[digit_of(s, s_rows[i])];
        s.rows_out[place] = s_rows[i];
        s.positions_out[place] = s_positions[i];
    }
}

/// Where each row begins and ends among the sorted.
static __global__ void find_rows_kernel(const int32_t* rows,  // [count] sorted
                                        int32_t* begins,      // [num_rows] zeros
                                        int32_t* ends,        // [num_rows] zeros
                                        int count,
                                        int num_rows) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count || rows[i] >= num_rows) return;
    const auto place = static_cast<int32_t>(i);
    if (i == 0 || rows[i - 1] != rows[i]) begins[rows[i]] = place;
    if (i + 1 == count || rows[i + 1] != rows[i]) ends[rows[i]] = place + 1;
}

/// The sorted indices of a lookup, in memory that is given back with this object, in
/// the order of the stream.
class RowSort {
 public:
    /// @param lookup   checked by check_backward(); count > 0
    /// @param padding  sorted like an index that is no row, but not counted as bad
    RowSort(const Lookup& lookup, int64_t padding, cudaStream_t stream)
        : count_(lookup.count),
          num_rows_(lookup.num_rows),
          tiles_(wb::ceil_div(lookup.count, int64_t{kSortTile})),
          memory_(4 * count_ + 2 * num_rows_ + kDigits * (tiles_ + 1), stream) {
        const unsigned blocks = wb::grid_size(count_, kThreads);
        begin_sort_kernel<<<blocks, kThreads, 0, stream>>>(
            lookup, padding, rows(0), positions(0));
        CUDA_CHECK_LAUNCH();
        for (int shift = 0; num_rows_ >> shift != 0; shift += kDigitBits) {
            pass(shift, stream);
        }
        CUDA_CHECK(
            cudaMemsetAsync(begins(), 0, 2 * num_rows_ * sizeof(int32_t), stream));
        find_rows_kernel<<<blocks, kThreads, 0, stream>>>(rows(now_),
                                                          begins(),
                                                          begins() + num_rows_,
                                                          static_cast<int>(count_),
                                                          static_cast<int>(num_rows_));
        CUDA_CHECK_LAUNCH();
    }

    SortedRows result() const {
        return {rows(now_), positions(now_), begins(), begins() + num_rows_};
    }

 private:
    // One allocation: rows, positions, both once more, begins, ends, counts, totals.
    int32_t* rows(int which) const { return memory_.data() + 2 * which * count_; }
    int32_t* positions(int which) const { return rows(which) + count_; }
    int32_t* begins() const { return memory_.data() + 4 * count_; }

    void pass(int shift, cudaStream_t stream) {
        int32_t* counts = begins() + 2 * num_rows_;
        const int other = 1 - now_;
        const SortArrays arrays = {rows(now_),
                                   positions(now_),
                                   rows(other),
                                   positions(other),
                                   counts,
                                   counts + kDigits * tiles_,
                                   static_cast<int>(count_),
                                   static_cast<int>(tiles_),
                                   shift};
        const auto tiles = static_cast<unsigned>(tiles_);
        count_digits_kernel<<<tiles, kThreads, 0, stream>>>(arrays);
        CUDA_CHECK_LAUNCH();
        add_up_tiles_kernel<<<kDigits / kWarps, kThreads, 0, stream>>>(arrays);
        CUDA_CHECK_LAUNCH();
        move_tile_kernel<<<tiles, kThreads, 0, stream>>>(arrays);
        CUDA_CHECK_LAUNCH();
        now_ = other;
    }

    int64_t count_;
    int64_t num_rows_;
    int64_t tiles_;
    wb::Scratch<int32_t> memory_;
    int now_ = 0;  ///< which of the two copies is the newer one
};
