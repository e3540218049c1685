/// sums_of_sums.cuh: the backward pass around add_share(): sorts the indices, zeros the
/// rows without any, and launches one level of sums after the other. Included by
/// embedding_lookup_fast.cu, below that function. There is nothing to write here.
#pragma once

#include <wb/check.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include "lookup.cuh"
#include "row_sort.cuh"
#include "shares.cuh"

// #region v4-backward
/// sum_shares_v4: each warp has an equal share, 32 summands in sorted order. It writes
/// the sum of a run of equal rows to the table if the whole run is in its share.
///
/// @tparam V  floats of a load; a row is a whole number of them
///
/// Launch   grid ceil_div(shares, kWarps), block kThreads
template <int V>
__global__ void sum_shares_v4_kernel(Summands<Pack<float, V>> in,
                                     Pack<float, V>* grad_table,  // [num_rows, packs]
                                     Partials<Pack<float, V>> partials,
                                     int32_t num_rows,
                                     int packs) {
    if (warp_of_grid() * kShare >= in.count) return;  // the whole warp
    const Share share = share_of_warp(in, num_rows);
    name_partials(share, partials, num_rows);
    for (int first = 0; first < packs; first += wb::kWarpSize)
        add_share(share,
                  in.rows,
                  grad_table,
                  partials,
                  num_rows,
                  packs,
                  first + lane_of_warp());
}
// #endregion v4-backward

// #region v4-levels
/// Sums of sums: the partial sums of a level are the summands of the next one, until
/// one warp is enough. There are a sixteenth of them each time.
template <int V>
static void launch_backward_v4(const float* grad_out,
                               float* grad_table,
                               const Lookup& lookup,
                               int64_t padding,
                               cudaStream_t stream) {
    using Packed = Pack<float, V>;
    const int packs = static_cast<int>(lookup.cols / V);
    const RowSort sort(lookup, padding, stream);
    const SortedRows sorted = sort.result();
    auto* table = reinterpret_cast<Packed*>(grad_table);
    const unsigned zero_blocks = wb::grid_size(lookup.num_rows, kThreads);
    zero_rows_kernel<V>
        <<<zero_blocks, kThreads, 0, stream>>>(table, sorted, lookup.num_rows, packs);
    CUDA_CHECK_LAUNCH();

    // Levels take turns with two pieces of memory.
    const int64_t most = 2 * wb::ceil_div(lookup.count, int64_t{kShare});
    const int64_t then = 2 * wb::ceil_div(most, int64_t{kShare});
    const wb::Scratch<Packed> rows((most + then) * packs, stream);
    const wb::Scratch<int32_t> belongs(most + then, stream);
    Partials<Packed> partials = {rows.data(), belongs.data()};
    Partials<Packed> others = {rows.data() + most * packs, belongs.data() + most};
    Summands<Packed> summands = {reinterpret_cast<const Packed*>(grad_out),
                                 sorted.rows,
                                 sorted.positions,
                                 lookup.count};
    for (;;) {
        const int64_t shares = wb::ceil_div(summands.count, int64_t{kShare});
        sum_shares_v4_kernel<V><<<wb::grid_size(shares, kWarps), kThreads, 0, stream>>>(
            summands, table, partials, static_cast<int32_t>(lookup.num_rows), packs);
        CUDA_CHECK_LAUNCH();
        if (shares == 1) return;
        summands = {partials.rows, partials.belongs, nullptr, 2 * shares};
        const Partials<Packed> free = others;
        others = partials;
        partials = free;
    }
}
// #endregion v4-levels

static void embedding_backward_v4(const float* grad_out,
                                  float* grad_table,
                                  const Lookup& lookup,
                                  int64_t padding,
                                  cudaStream_t stream) {
    const int64_t row_bytes = lookup.cols * int64_t{sizeof(float)};
    if (lookup.count == 0) {
        CUDA_CHECK(cudaMemsetAsync(grad_table, 0, lookup.num_rows * row_bytes, stream));
        return;
    }
    if (word_bytes(grad_out, grad_table, row_bytes) == 16)
        return launch_backward_v4<4>(grad_out, grad_table, lookup, padding, stream);
    launch_backward_v4<1>(grad_out, grad_table, lookup, padding, stream);
}
