// bf16_weights.cuh: given with this exercise: the gradients of several matrices in one
// launch. There is nothing to write here.
//
//     dw = dy^T x      dy is [tokens, outputs], x [tokens, inputs]
//
// These products are deep and small: thousands of tokens are added up, for a matrix of
// a few tiles. So tiles are cut along the tokens, and work is counted in steps of 64
// tokens of a tile. All steps of all matrices are laid end to end, and each cluster
// gets as many of them as all others: the end of a tile, perhaps a whole one, and the
// beginning of the next. What a cluster has summed up of a tile is a piece; a second
// kernel adds the pieces of each tile, in their order.
#pragma once

#include <wb/hopper_gemm/split_k.h>

#include <algorithm>

#include "bf16_products.cuh"
#include "bf16_shares.h"

// #region weight-tiles
/// 384 x 192 numbers a cluster: 320 rows and columns fill five sixths of them.
using WeightTiles = hopper::TileSizes<Bf16,
                                      Bf16,
                                      hopper::LayoutB::rows_of_k,
                                      hopper::Tiling{.block_rows = 192,
                                                     .block_columns = 192,
                                                     .stages = 4,
                                                     .consumers = 3,
                                                     .cluster_rows = 2,
                                                     .store_buffers = 0,
                                                     .producer_registers = 32,
                                                     .consumer_registers = 160}>;
static_assert(WeightTiles::BM * WeightTiles::kClusterRows == kWeightRows &&
                  WeightTiles::BN == kWeightColumns && WeightTiles::BK == kWeightDepth,
              "as WeightShares counts");
// #endregion weight-tiles

// #region weight-work
/// A matrix of a launch.
struct WeightProduct {
    const Bf16* dy_turned;  ///< [outputs, tokens]
    const Bf16* x;          ///< [tokens, inputs]
    float* dw;              ///< [outputs, inputs]
    int64_t outputs, inputs;
};

/// What both kernels are told.
struct WeightWork {
    struct Matrix {
        hopper::TensorMaps maps;
        float* dw;
        int rows, columns;
        int first;   ///< of its tiles
        int across;  ///< tiles side by side
    };
    Matrix matrix[kMostTogether];  ///< their tiles are numbered one after the other
    int count;
    WeightShares shares;
    float* pieces;  ///< [tiles, most_pieces, kWeightRows, kWeightColumns]

    __device__ __forceinline__ int matrix_of(int tile) const {
        int i = 0;
        while (i + 1 < count && tile >= matrix[i + 1].first)
            ++i;
        return i;
    }
};
// #endregion weight-work

// #region weight-pieces
/// Each cluster: its share of all steps, piece by piece.
///
/// Launch   as many clusters as have a share; block S::kThreads; dynamic shared memory
///          kSharedBytes<S>
/// Traffic  a block reads (BM + BN / 2) * BK elements a step; writes 4 BM BN bytes a
///          piece
template <class S>
__global__ void __launch_bounds__(S::kThreads, 1)
    weight_pieces_kernel(const __grid_constant__ WeightWork work) {
    extern __shared__ unsigned char s_dynamic[];
    auto& shared = hopper::shared_tiles<S>(s_dynamic);
    hopper::make_barriers<S>(shared);
    const int group = hopper::consumer_group();
    const unsigned rank = hopper::rank_in_cluster<S>();
    const int cluster = static_cast<int>(blockIdx.x) / S::kCluster;
    const WeightShares& shares = work.shares;
    const int begin = cluster * shares.share;
    const int end = min(begin + shares.share, shares.tiles * shares.steps);
    wb::ptx::PipelineState<S::kStages> ring;
    // Gives each piece to the function: its tile, and its steps of that tile.
    const auto for_pieces = [&](auto function) {
        for (int at = begin; at < end;) {
            const int tile = at / shares.steps;
            const int step = at - tile * shares.steps;
            const int stop = min(shares.steps, step + end - at);
            function(tile, hopper::Steps{step, stop});
            at += stop - step;
        }
    };
    if (group < 0) {
        wb::ptx::registers_give_back<S::kProducerRegisters>();
        if (threadIdx.x < wb::kWarpSize && wb::ptx::elect_one()) {
            for_pieces([&](int tile, const hopper::Steps& steps) {
                const WeightWork::Matrix& m = work.matrix[work.matrix_of(tile)];
                const int of_matrix = tile - m.first;
                const int down = of_matrix / m.across;
                const int across = of_matrix - down * m.across;
                const int row =
                    (down * S::kClusterRows + static_cast<int>(rank)) * S::BM;
                hopper::produce_tile<S>(
                    shared, m.maps, steps, {row, across * S::BN}, rank, ring);
            });
        }
        __syncwarp();
    } else {
        wb::ptx::registers_take<S::kConsumerRegisters>();
        hopper::Problem piece = {};
        piece.M = kWeightRows;
        piece.N = kWeightColumns;
        for_pieces([&](int tile, const hopper::Steps& steps) {
            hopper::Sums<S> sums;
            hopper::consume_tile<S>(
                shared, steps.end - steps.begin, group, rank, sums, ring);
            const int number =
                tile * shares.most_pieces + cluster - shares.first_of(tile);
            hopper::store_part<S>(piece,
                                  work.pieces + int64_t{number} * kPieceElements,
                                  {static_cast<int>(rank) * S::BM, 0},
                                  group,
                                  sums);
        });
    }
    // The other block may still arrive at this one's barriers.
    wb::ptx::cluster_sync();
}
// #endregion weight-pieces

// #region weight-totals
/// dw = the sum of the pieces of each tile.
///
/// Launch   grid (a thread for four elements of the largest matrix, matrices), block
///          kBf16Threads
/// Traffic  reads 4 B an element and piece, most of it from L2; writes 4 B an element
static __global__ void __launch_bounds__(kBf16Threads)
    weight_totals_kernel(const __grid_constant__ WeightWork work) {
    const WeightWork::Matrix& m = work.matrix[blockIdx.y];
    const int vectors = m.columns / 4;
    const int row = static_cast<int>(thread_of_grid()) / vectors;
    const int col = (static_cast<int>(thread_of_grid()) - row * vectors) * 4;
    if (row >= m.rows) return;
    const int down = row / kWeightRows;
    const int across = col / kWeightColumns;
    const int tile = m.first + down * m.across + across;
    const int pieces = work.shares.pieces_of(tile);
    const float* from =
        work.pieces + int64_t{tile} * work.shares.most_pieces * kPieceElements +
        (row - down * kWeightRows) * kWeightColumns + col - across * kWeightColumns;
    float sum[4] = {};
#pragma unroll 4
    for (int i = 0; i < pieces; ++i, from += kPieceElements) {
        float more[4];
        FourFloats::load(from).unpack(more);
#pragma unroll
        for (int k = 0; k < 4; ++k)
            sum[k] += more[k];
    }
    FourFloats::pack(sum).store(m.dw + int64_t{row} * m.columns + col);
}
// #endregion weight-totals

// #region weight-launch
/// The gradients of up to kMostTogether matrices.
///
/// @param pieces  WeightShares::elements() floats; overwritten
inline void weight_gradients(const WeightProduct* products,
                             int count,
                             int64_t tokens,
                             float* pieces,
                             cudaStream_t stream) {
    using S = WeightTiles;
    WeightWork work = {};
    work.count = count;
    work.pieces = pieces;
    int tiles = 0;
    int64_t most = 0;
    for (int i = 0; i < count; ++i) {
        const WeightProduct& p = products[i];
        WeightWork::Matrix& m = work.matrix[i];
        m.maps.a = hopper::matrix_map(
            "dy", p.dy_turned, p.outputs, tokens, tokens, S::BM / S::kClusterColumns);
        m.maps.b = hopper::matrix_map(
            "x", p.x, tokens, p.inputs, p.inputs, S::BK / S::kClusterRows);
        m.dw = p.dw;
        m.rows = static_cast<int>(p.outputs);
        m.columns = static_cast<int>(p.inputs);
        m.first = tiles;
        m.across = static_cast<int>(wb::ceil_div(p.inputs, int64_t{kWeightColumns}));
        tiles += WeightShares::tiles_of(p.outputs, p.inputs);
        most = std::max(most, p.outputs * p.inputs / 4);
    }
    work.shares = WeightShares::of(tiles, tokens);
    wb::launch_clusters(weight_pieces_kernel<S>,
                        wb::grid_size(int64_t{work.shares.clusters()} * S::kCluster, 1),
                        S::kThreads,
                        S::kCluster,
                        hopper::kSharedBytes<S>,
                        stream,
                        work);
    weight_totals_kernel<<<dim3(wb::grid_size(most, kBf16Threads),
                                static_cast<unsigned>(count)),
                           kBf16Threads,
                           0,
                           stream>>>(work);
    CUDA_CHECK_LAUNCH();
}
// #endregion weight-launch
