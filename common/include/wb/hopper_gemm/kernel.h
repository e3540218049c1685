/// wb/hopper_gemm/kernel.h: a matrix product by one warp that produces and warpgroups
/// that consume, in clusters, for tile after tile.
#pragma once

#include <wb/device.h>
#include <wb/gemm.h>
#include <wb/launch_kernel.h>

#include <algorithm>

#include "wb/hopper_gemm/epilogue.h"
#include "wb/hopper_gemm/produce.h"
#include "wb/hopper_gemm/store_bytes.h"

namespace wb::hopper_gemm {

// #region kernel
/// C = epilogue(A * B).
///
/// Launch   clusters of S::kCluster blocks, as many as there is room for, or one for
///          each tile; block S::kThreads; dynamic shared memory kSharedBytes<S>
/// Traffic  a block reads (BM / kClusterColumns + BN / kClusterRows) * BK elements for
///          BM * BN * BK products, from L2, and writes each element of C once
template <class S, class Epilogue>
__global__ void __launch_bounds__(S::kThreads, 1)
    hopper_gemm_kernel(const __grid_constant__ TensorMaps maps,
                       const __grid_constant__ Problem problem,
                       const __grid_constant__ typename Epilogue::Params params) {
    extern __shared__ unsigned char s_dynamic[];
    SharedTiles<S>& shared = shared_tiles<S>(s_dynamic);
    if (threadIdx.x == 0) {
        wb::ptx::tma_prefetch_map(&maps.a);
        wb::ptx::tma_prefetch_map(&maps.b);
    }
    make_barriers<S>(shared);
    const int group = consumer_group();
    const unsigned rank = rank_in_cluster<S>();
    const int tiles = problem.down * problem.across;
    const int clusters = static_cast<int>(gridDim.x) / S::kCluster;
    const int first = static_cast<int>(blockIdx.x) / S::kCluster;
    wb::ptx::PipelineState<S::kStages> ring;
    if (group < 0) {
        if constexpr (S::kProducerRegisters > 0)
            wb::ptx::registers_give_back<S::kProducerRegisters>();
        if (threadIdx.x < wb::kWarpSize && wb::ptx::elect_one()) {
            for (int tile = first; tile < tiles; tile += clusters) {
                const Place at = place_of<S>(problem, tile, rank);
                produce_tile<S>(shared, maps, {0, problem.steps}, at, rank, ring);
            }
        }
        __syncwarp();
    } else {
        if constexpr (S::kConsumerRegisters > 0)
            wb::ptx::registers_take<S::kConsumerRegisters>();
        int buffer = 0;
        for (int tile = first; tile < tiles; tile += clusters) {
            const Place at = place_of<S>(problem, tile, rank);
            Sums<S> sums;
            consume_tile<S>(shared, problem.steps, group, rank, sums, ring);
            if constexpr (S::kTmaStore) {
                store_by_tma<S, Epilogue>(
                    shared, maps, problem, params, at, group, sums, buffer);
            } else if constexpr (sizeof(typename S::CType) == 1) {
                store_bytes<S, Epilogue>(problem, params, at, group, sums);
            } else {
                store_from_registers<S, Epilogue>(problem, params, at, group, sums);
            }
        }
        finish_stores<S>();
    }
    // Blocks of this cluster may still arrive at this one's barriers.
    if constexpr (S::kCluster > 1) wb::ptx::cluster_sync();
}
// #endregion kernel

// #region product
/// One call: C = A * B, matrices as GemmShape (wb/gemm.h) has them. A is not
/// transposed, B is where its layout is rows_of_n; K > 0, leading dimensions are
/// multiples of 16 bytes.
template <class T, class CType>
struct Product {
    int64_t M, N, K;
    const T* A;
    const T* B;
    CType* C;
    int64_t lda, ldb, ldc;
    cudaStream_t stream;

    static Product of(
        const wb::GemmShape& s, const T* A, const T* B, CType* C, cudaStream_t stream) {
        return {s.M, s.N, s.K, A, B, C, s.lda, s.ldb, s.ldc, stream};
    }
};
// #endregion product

// #region maps
/// The map of a row-major matrix, for boxes of 128 bytes by `box_rows` rows. Where rows
/// do not begin at multiples of 128 bytes (N = 5000), fetches of 256 bytes cost a fifth
/// of the speed on an H100; where they do, 128 are as good.
template <class T>
wb::ptx::TensorMap matrix_map(const char* name,
                              const T* matrix,
                              int64_t rows,
                              int64_t columns,
                              int64_t ld,
                              int box_rows) {
    const auto bytes = static_cast<int64_t>(sizeof(T));
    return wb::ptx::make_tensor_map(
        name,
        {.base = matrix,
         .element_bytes = static_cast<int>(bytes),
         .sizes = {columns, rows, 1, 1},
         .strides = {ld * bytes, ld * bytes, ld * bytes},
         .box = {wb::ptx::kSwizzleBytes / static_cast<int>(bytes), box_rows, 1, 1},
         .l2_bytes = 128});
}

template <class S>
TensorMaps tensor_maps(const Product<typename S::T, typename S::CType>& product) {
    TensorMaps maps;
    maps.a = matrix_map(
        "A", product.A, product.M, product.K, product.lda, S::BM / S::kClusterColumns);
    if constexpr (S::kRowsOfK)
        maps.b = matrix_map(
            "B", product.B, product.K, product.N, product.ldb, S::BK / S::kClusterRows);
    else
        maps.b = matrix_map(
            "B", product.B, product.N, product.K, product.ldb, S::BN / S::kClusterRows);
    maps.c =
        matrix_map("C", product.C, product.M, product.N, product.ldc, S::kStoreRows);
    return maps;
}
// #endregion maps

// #region launch
/// How a launch hands out tiles.
struct Schedule {
    bool persistent = true;  ///< no more clusters than there is room for at once
    int band = 8;            ///< rows of clusters that are worked on together; > 0
};

/// What each block of a launch is told.
template <class S>
Problem problem_of(const Product<typename S::T, typename S::CType>& product, int band) {
    const auto tiles = [](int64_t size, int64_t of_cluster) {
        return static_cast<int>(wb::ceil_div(size, of_cluster));
    };
    return {.M = static_cast<int>(product.M),
            .N = static_cast<int>(product.N),
            .steps = static_cast<int>(wb::ceil_div(product.K, int64_t{S::BK})),
            .down = tiles(product.M, int64_t{S::BM} * S::kClusterRows),
            .across = tiles(product.N, int64_t{S::BN} * S::kClusterColumns),
            .band = band,
            .C = product.C,
            .ldc = product.ldc};
}

/// How many of these tiles of a cluster the busiest one has, if as many clusters run as
/// there is room for.
template <class S>
int64_t rounds_of(int64_t tiles) {
    const int room = std::max(wb::multiprocessors() / S::kCluster, 1);
    return wb::ceil_div(tiles, int64_t{room});
}

/// Launches the kernel for a product that has elements, and K > 0.
template <class S, class Epilogue>
void launch(const Product<typename S::T, typename S::CType>& product,
            const typename Epilogue::Params& params,
            const Schedule& schedule) {
    const Problem problem = problem_of<S>(product, schedule.band);
    int64_t clusters = int64_t{problem.down} * problem.across;
    if (schedule.persistent) {
        // With fewer clusters than there is room for, if that takes no more rounds: 64
        // clusters of two were up to 1.5 % faster than 66 on an H100.
        clusters = wb::ceil_div(clusters, rounds_of<S>(clusters));
    }
    wb::launch_clusters(hopper_gemm_kernel<S, Epilogue>,
                        wb::grid_size(clusters * S::kCluster, 1),
                        S::kThreads,
                        S::kCluster,
                        kSharedBytes<S>,
                        product.stream,
                        tensor_maps<S>(product),
                        problem,
                        params);
}
// #endregion launch

}  // namespace wb::hopper_gemm
