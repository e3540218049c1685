// 07_split_rows.cuh: v7: a row is split over blocks: over a cluster of 2, 4 or 8, which
// hold it in their registers; or over many, in two kernels, which read it twice.
#pragma once

#include <cooperative_groups.h>
#include <wb/device.h>
#include <wb/scratch.h>

#include <algorithm>

/// Threads of a block in v7.
inline constexpr int kSplitThreads = 1024;

/// The most blocks of a cluster on every GPU that has clusters.
inline constexpr int kMostBlocks = 8;

// #region v7-share
/// Elements of each block if a row is split over `blocks`: whole vectors, but for the
/// last one's.
template <class T>
__host__ __device__ inline int64_t share_of(int64_t columns, int64_t blocks) {
    const int64_t columns_each = (columns + blocks - 1) / blocks;
    return (columns_each + kPerVector<T> - 1) / kPerVector<T> * kPerVector<T>;
}

/// Part `rank` of a row, which is so wide that the last one is not empty.
template <class T>
__device__ inline Slice<T> slice_of(
    const T* x, T* y, int64_t row, int64_t columns, int64_t share, int64_t rank) {
    const int64_t from = rank * share;
    const int64_t first = row * columns + from;
    return {x + first, y + first, min(share, columns - from)};
}
// #endregion v7-share

// #region v7-cluster
/// softmax_v7: each block of a cluster holds a part of the row, and tells all others
/// what it knows, in their shared memory.
///
/// Launch   grid rows * blocks of a cluster, block kSplitThreads; sm_90
/// Traffic  reads each element once, writes it once
template <class T>
__global__ void __launch_bounds__(kSplitThreads)
    softmax_v7_cluster_kernel(const T* x,  // [rows, columns]
                              T* y,        // [rows, columns]
                              int64_t columns,
                              int64_t share) {
#if defined(SIMT_CPU) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
    __shared__ MaxSum s_warps[wb::kWarpSize];
    __shared__ MaxSum s_blocks[kMostBlocks];
    const auto cluster = cooperative_groups::this_cluster();
    const int blocks = static_cast<int>(cluster.num_blocks());
    const int rank = static_cast<int>(cluster.block_rank());
    const int tid = threadIdx.x;
    cluster.barrier_arrive();  // this block runs: its shared memory is there
    const Slice<T> slice =
        slice_of(x, y, int64_t{blockIdx.x} / blocks, columns, share, rank);
    Part<T, kSplitThreads, kMostElements / kPerVector<T>> r_part;
    r_part.load(slice, tid);
    const MaxSum mine = merge_warps(r_part.measure(), s_warps);
    cluster.barrier_wait();
    if (tid < blocks) cluster.map_shared_rank(s_blocks, tid)[rank] = mine;
    cluster.sync();  // all have told all; nobody's memory is needed after that
    const int lane = tid % wb::kWarpSize;
    r_part.store(slice, tid, merge_lanes(lane < blocks ? s_blocks[lane] : MaxSum{}));
#else
    __trap();  // an older GPU has no clusters: launch_v7() does not come here
#endif
}
// #endregion v7-cluster

// #region v7-two-kernels
/// Each block's part of each row, measured.
///
/// Launch   grid rows * parts, block kSplitThreads
template <class T>
__global__ void __launch_bounds__(kSplitThreads)
    softmax_v7_measure_kernel(const T* x,       // [rows, columns]
                              MaxSum* partial,  // [rows, parts]
                              int64_t columns,
                              int64_t share,
                              int parts) {
    __shared__ MaxSum s_warps[wb::kWarpSize];
    const T* const g_row = x + blockIdx.x / parts * columns;
    const int64_t end = min((blockIdx.x % parts + 1) * share, columns);
    MaxSum known;
    for (int64_t col = blockIdx.x % parts * share + threadIdx.x; col < end;
         col += blockDim.x)
        known = with_element(known, to_float(g_row[col]));
    known = merge_warps(merge_lanes(known), s_warps);
    if (threadIdx.x == 0) partial[blockIdx.x] = known;
}

/// Merges the parts of a row, and writes one of them.
///
/// Launch   as above
template <class T>
__global__ void __launch_bounds__(kSplitThreads)
    softmax_v7_store_kernel(const T* x,             // [rows, columns]
                            const MaxSum* partial,  // [rows, parts]
                            T* y,                   // [rows, columns]
                            int64_t columns,
                            int64_t share,
                            int parts) {
    __shared__ MaxSum s_warps[wb::kWarpSize];
    const int64_t row = blockIdx.x / parts;
    MaxSum known;
    for (int part = threadIdx.x; part < parts; part += blockDim.x)
        known = merged(known, partial[row * parts + part]);
    known = merge_warps(merge_lanes(known), s_warps);
    const float max = below(known.max);
    const float scale = 1.0f / known.sum;
    const int64_t end = min((blockIdx.x % parts + 1) * share, columns);
    for (int64_t col = blockIdx.x % parts * share + threadIdx.x; col < end;
         col += blockDim.x)
        y[row * columns + col] =
            to_element<T>(weight<T>(to_float(x[row * columns + col]), max) * scale);
}
// #endregion v7-two-kernels

// #region v7-launch
template <class T>
static void launch_cluster(
    const T* x, T* y, int64_t rows, int64_t columns, int blocks, cudaStream_t s) {
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = count_blocks(rows * blocks, 1);
    config.blockDim = kSplitThreads;
    config.stream = s;
    config.attrs = &cluster;
    config.numAttrs = 1;
    CUDA_CHECK(cudaLaunchKernelEx(&config,
                                  softmax_v7_cluster_kernel<T>,
                                  x,
                                  y,
                                  columns,
                                  share_of<T>(columns, blocks)));
}

/// In parts for all multiprocessors, of 2^14 elements or more.
template <class T>
static void launch_two(
    const T* x, T* y, int64_t rows, int64_t columns, cudaStream_t s) {
    const int64_t wanted = wb::ceil_div(int64_t{4} * wb::multiprocessors(), rows);
    const int64_t most = wb::ceil_div(columns, int64_t{1} << 14);
    const int parts = static_cast<int>(std::min(wanted, most));
    const int64_t share = share_of<T>(columns, parts);
    const wb::Scratch<MaxSum> partial(rows * parts, s);
    const unsigned blocks = count_blocks(rows * parts, 1);
    softmax_v7_measure_kernel<<<blocks, kSplitThreads, 0, s>>>(
        x, partial.data(), columns, share, parts);
    CUDA_CHECK_LAUNCH();
    softmax_v7_store_kernel<<<blocks, kSplitThreads, 0, s>>>(
        x, partial.data(), y, columns, share, parts);
    CUDA_CHECK_LAUNCH();
}

/// A row that one block can hold has one, unless there are few and wide ones: then more
/// multiprocessors have a part of it.
template <class T>
static void launch_v7(const T* x, T* y, int64_t rows, int64_t columns, cudaStream_t s) {
    constexpr int64_t kWorth = kSplitThreads * kPerVector<T>;  // a block of one vector
    const int64_t all = wb::multiprocessors();
    int blocks = 1;
    while (blocks < kMostBlocks &&
           (columns > blocks * kWidest ||
            (2 * blocks * rows <= all && columns > blocks * kWorth)))
        blocks *= 2;
    const bool is_held = columns <= blocks * kWidest;
    if (blocks > 1 && is_held && wb::compute_capability() >= 90)
        launch_cluster(x, y, rows, columns, blocks, s);
    else if (columns <= kWidest || (rows >= all && fits_in_shared<T>(columns)))
        launch_v6(x, y, rows, columns, s);
    else
        launch_two(x, y, rows, columns, s);
}
// #endregion v7-launch

static void softmax_v7(
    const float* x, float* y, int64_t rows, int64_t columns, cudaStream_t s) {
    launch_v7(x, y, rows, columns, s);
}
static void softmax_bf16_v7(
    const Bf16* x, Bf16* y, int64_t rows, int64_t columns, cudaStream_t s) {
    launch_v7(x, y, rows, columns, s);
}
WB_RUNG(softmax, softmax_v7, "a row split over blocks");
WB_RUNG(softmax_bf16, softmax_bf16_v7, "a row split over blocks");
