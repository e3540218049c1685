/// wb/hopper_gemm/split_k.h: a matrix product whose K is cut into parts: where C has
/// few tiles, several clusters compute one, each over its part of K. Their sums, which
/// are floats, go to a memory of their own; a second kernel adds them, always in the
/// same order.
#pragma once

#include <wb/scratch.h>

#include "wb/hopper_gemm/kernel.h"

namespace wb::hopper_gemm {

// #region store-part
/// Stores a warpgroup's sums as they are: each thread two neighbours of a row at a
/// time, 8 bytes; four lanes a whole sector.
///
/// @param g_part  [M, N] floats, without gaps
template <class S>
__device__ __forceinline__ void store_part(
    const Problem& p, float* g_part, const Place& at, int group, const Sums<S>& sums) {
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize % 4;
#pragma unroll
    for (int i = 0; i < S::kRowBlocks; ++i) {
        const int row =
            at.row + group * S::kGroupRows + i * kWgmmaRows + warp * 16 + lane / 4;
        float* const g_row = g_part + int64_t{row} * p.N;
        float* const g_lower = g_row + int64_t{8} * p.N;
#pragma unroll
        for (int j = 0; j < S::BN / 8; ++j) {
            const int col = at.col + j * 8 + lane % 4 * 2;
            if (col >= p.N) continue;
            const float* const x = &sums.d[i][4 * j];
            if (row < p.M) *reinterpret_cast<float2*>(g_row + col) = {x[0], x[1]};
            if (row + 8 < p.M) *reinterpret_cast<float2*>(g_lower + col) = {x[2], x[3]};
        }
    }
}
// #endregion store-part

// #region parts-kernel
/// g_parts[part] = A * B over a part of K, for all parts.
///
/// @param g_parts  [parts.count, M, N]
///
/// Launch   clusters of S::kCluster blocks, as many as there is room for, or one for
///          each part of a tile; block S::kThreads; dynamic shared memory
///          kSharedBytes<S>
/// Traffic  loads as hopper_gemm_kernel; writes 4 M N bytes a part, to L2 for the most
template <class S>
__global__ void __launch_bounds__(S::kThreads, 1)
    hopper_gemm_parts_kernel(const __grid_constant__ TensorMaps maps,
                             const __grid_constant__ Problem problem,
                             const __grid_constant__ Parts parts,
                             float* g_parts) {
    extern __shared__ unsigned char s_dynamic[];
    SharedTiles<S>& shared = shared_tiles<S>(s_dynamic);
    make_barriers<S>(shared);
    const int group = consumer_group();
    const unsigned rank = rank_in_cluster<S>();
    const int tiles = problem.down * problem.across;
    const int all = tiles * parts.count;
    const int clusters = static_cast<int>(gridDim.x) / S::kCluster;
    const int first = static_cast<int>(blockIdx.x) / S::kCluster;
    // A part of all tiles, then the next part: clusters that run at the same time read
    // the same columns of A and rows of B.
    wb::ptx::PipelineState<S::kStages> ring;
    if (group < 0) {
        if constexpr (S::kProducerRegisters > 0)
            wb::ptx::registers_give_back<S::kProducerRegisters>();
        if (threadIdx.x < wb::kWarpSize && wb::ptx::elect_one()) {
            for (int i = first; i < all; i += clusters) {
                const Place at = place_of<S>(problem, i % tiles, rank);
                produce_tile<S>(shared, maps, parts[i / tiles], at, rank, ring);
            }
        }
        __syncwarp();
    } else {
        if constexpr (S::kConsumerRegisters > 0)
            wb::ptx::registers_take<S::kConsumerRegisters>();
        for (int i = first; i < all; i += clusters) {
            const Place at = place_of<S>(problem, i % tiles, rank);
            const Steps steps = parts[i / tiles];
            float* const g_part = g_parts + int64_t{i / tiles} * problem.M * problem.N;
            Sums<S> sums;
            consume_tile<S>(shared, steps.end - steps.begin, group, rank, sums, ring);
            store_part<S>(problem, g_part, at, group, sums);
        }
    }
    // Blocks of this cluster may still arrive at this one's barriers.
    if constexpr (S::kCluster > 1) wb::ptx::cluster_sync();
}
// #endregion parts-kernel

// #region total-kernel
inline constexpr int kThreadsTotal = 256;

/// C = epilogue(the sum of all parts), from the first to the last: two calls give the
/// same bits. A thread has four elements, as an Epilogue wants them: two neighbours of
/// a row, and of the row 8 below it.
///
/// Launch   one thread for each four elements of C, with M rounded up to 16
/// Traffic  reads 4 M N bytes a part, writes C once
template <class CType, class Epilogue>
__global__ void __launch_bounds__(kThreadsTotal)
    hopper_gemm_total_kernel(const __grid_constant__ Problem p,
                             const float* g_parts,
                             int parts,
                             const __grid_constant__ typename Epilogue::Params params) {
    // In 32 bits: with more than 2^32 of them, no GPU has memory for the parts.
    const uint32_t i = blockIdx.x * uint32_t{kThreadsTotal} + threadIdx.x;
    const uint32_t pairs = static_cast<uint32_t>(p.N) / 2;
    const int64_t row_of_eight = i / pairs;  // rows 0 to 7, 16 to 23, 32 to 39 ...
    const int64_t row = row_of_eight / 8 * 16 + row_of_eight % 8;
    const int col = static_cast<int>(i % pairs) * 2;
    const bool has_upper = row < p.M;
    const bool has_lower = row + 8 < p.M;
    const int64_t upper = row * p.N + col;
    const int64_t lower = upper + int64_t{8} * p.N;
    float x[4] = {};
    for (int part = 0; part < parts; ++part) {
        const float* const g_part = g_parts + int64_t{part} * p.M * p.N;
        if (has_upper) {
            const float2 pair = *reinterpret_cast<const float2*>(g_part + upper);
            x[0] += pair.x;
            x[1] += pair.y;
        }
        if (has_lower) {
            const float2 pair = *reinterpret_cast<const float2*>(g_part + lower);
            x[2] += pair.x;
            x[3] += pair.y;
        }
    }
    Epilogue epilogue(params, p, static_cast<int>(row));
    epilogue.apply(x, col);
    using wb::ptx::pack;
    CType* const g_c = static_cast<CType*>(p.C) + row * p.ldc + col;
    if (has_upper) *reinterpret_cast<uint32_t*>(g_c) = pack<CType>(x[0], x[1]);
    if (has_lower)
        *reinterpret_cast<uint32_t*>(g_c + 8 * p.ldc) = pack<CType>(x[2], x[3]);
    epilogue.finish();
}
// #endregion total-kernel

// #region launch-parts
/// Launches both kernels, for a product that has elements, and K > 0.
///
/// Throws wb::CudaError if there is no memory for the parts.
template <class S, class Epilogue>
void launch_parts(const Product<typename S::T, typename S::CType>& product,
                  const typename Epilogue::Params& params,
                  int band,
                  const Parts& parts) {
    using CType = typename S::CType;
    const Problem problem = problem_of<S>(product, band);
    const int64_t all = int64_t{problem.down} * problem.across * parts.count;
    const int64_t clusters = wb::ceil_div(all, rounds_of<S>(all));
    const wb::Scratch<float> g_parts(parts.count * product.M * product.N,
                                     product.stream);
    wb::launch_clusters(hopper_gemm_parts_kernel<S>,
                        wb::grid_size(clusters * S::kCluster, 1),
                        S::kThreads,
                        S::kCluster,
                        kSharedBytes<S>,
                        product.stream,
                        tensor_maps<S>(product),
                        problem,
                        parts,
                        g_parts.data());
    const int64_t threads = wb::ceil_div(product.M, int64_t{16}) * 8 * (product.N / 2);
    wb::launch_kernel(hopper_gemm_total_kernel<CType, Epilogue>,
                      wb::grid_size(threads, kThreadsTotal),
                      kThreadsTotal,
                      0,
                      product.stream,
                      problem,
                      static_cast<const float*>(g_parts.data()),
                      parts.count,
                      params);
}
// #endregion launch-parts

}  // namespace wb::hopper_gemm
