// harris.cuh: v1 to v7, but for the tree of v3, which reduction.cu has: the seven steps
// of M. Harris, Optimizing Parallel Reduction in CUDA (2007), for a GPU of today.
#pragma once

/// Adds the values of a block in shared memory in a way of its own; the sum is thread
/// 0's. All threads of the block must call it.
using TreeSum = float (*)(float value);

// #region v1-tree
/// Every second thread adds its neighbour's value, then every fourth, and so on: within
/// a warp some lanes work and others wait.
__device__ inline float tree_sum_v1(float value) {
    __shared__ float s_sum[kThreads];
    const int tid = threadIdx.x;
    s_sum[tid] = value;
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        if (tid % (2 * distance) == 0) s_sum[tid] += s_sum[tid + distance];
        __syncthreads();
    }
    return s_sum[0];
}
// #endregion v1-tree

// #region v2-tree
/// The same additions by the first threads: whole warps work, and whole warps do not.
/// Their words are 2 * distance apart: bank conflicts.
__device__ inline float tree_sum_v2(float value) {
    __shared__ float s_sum[kThreads];
    const int tid = threadIdx.x;
    s_sum[tid] = value;
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        const int place = 2 * distance * tid;
        if (place < kThreads) s_sum[place] += s_sum[place + distance];
        __syncthreads();
    }
    return s_sum[0];
}
// #endregion v2-tree

// #region v5-tree
/// When one warp is left, it needs no barrier of the block. It does need an order:
/// lanes of a warp do not run in step, so that a barrier of the warp stands between the
/// reading of a step and its writing, and between its writing and the next reading.
__device__ inline float tree_sum_v5(float value) {
    __shared__ float s_sum[kThreads];
    const int tid = threadIdx.x;
    s_sum[tid] = value;
    __syncthreads();
#pragma unroll 1
    for (int active = kThreads / 2; active > wb::kWarpSize; active /= 2) {
        if (tid < active) s_sum[tid] += s_sum[tid + active];
        __syncthreads();
    }
    if (tid < wb::kWarpSize) {
#pragma unroll 1
        for (int active = wb::kWarpSize; active > 0; active /= 2) {
            const float more = s_sum[tid + active];
            __syncwarp();
            s_sum[tid] += more;
            __syncwarp();
        }
    }
    return s_sum[tid];  // the sum is thread 0's; warp 0 may still write to [0]
}
// #endregion v5-tree

// #region v6-tree
/// v5 without loops: the size of the block is known, so that the compiler writes all
/// steps out. (For v5 it was told not to.)
__device__ inline float tree_sum_v6(float value) {
    __shared__ float s_sum[kThreads];
    const int tid = threadIdx.x;
    s_sum[tid] = value;
    __syncthreads();
#pragma unroll
    for (int active = kThreads / 2; active > wb::kWarpSize; active /= 2) {
        if (tid < active) s_sum[tid] += s_sum[tid + active];
        __syncthreads();
    }
    if (tid < wb::kWarpSize) {
#pragma unroll
        for (int active = wb::kWarpSize; active > 0; active /= 2) {
            const float more = s_sum[tid + active];
            __syncwarp();
            s_sum[tid] += more;
            __syncwarp();
        }
    }
    return s_sum[tid];  // the sum is thread 0's; warp 0 may still write to [0]
}
// #endregion v6-tree

/// v1 and v2: v3 with another tree.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads
template <TreeSum kTree>
__global__ void reduce_sum_v1_kernel(const float* x,   // [n]
                                     float* partials,  // [gridDim.x]
                                     int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const float sum = kTree(i < n ? x[i] : 0.0f);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

// #region v4-kernel
/// v4 to v6: each thread loads two elements and adds them, so that half as many blocks
/// have a tree to climb.
///
/// @tparam kTree  of v3, v5 or v6
///
/// Launch   grid ceil_div(n, 2 * kThreads), block kThreads
template <TreeSum kTree>
__global__ void reduce_sum_v4_kernel(const float* x,   // [n]
                                     float* partials,  // [gridDim.x]
                                     int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * (2 * kThreads) + threadIdx.x;
    float sum = i < n ? x[i] : 0.0f;
    if (i + kThreads < n) sum += x[i + kThreads];
    sum = kTree(sum);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}
// #endregion v4-kernel

// #region v7-kernel
/// v7: each thread adds as many elements as there are, in steps of the grid, before the
/// tree begins. A grid of few blocks climbs few trees.
///
/// Launch   grid at most kMaxBlocks, block kThreads
__global__ void reduce_sum_v7_kernel(const float* x,   // [n]
                                     float* partials,  // [gridDim.x]
                                     int64_t n) {
    const int64_t step = int64_t{gridDim.x} * kThreads;
    float sum = 0.0f;
    for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step)
        sum += x[i];
    sum = tree_sum_v6(sum);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}
// #endregion v7-kernel

/// As many blocks as n elements can use, but at most kMaxBlocks.
static unsigned few_blocks(int64_t n);

static void reduce_sum_v1(
    const float* x, float* result, int64_t n, unsigned*, cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kThreads);
    launch_two(reduce_sum_v1_kernel<tree_sum_v1>, blocks, x, result, n, stream);
}

static void reduce_sum_v2(
    const float* x, float* result, int64_t n, unsigned*, cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kThreads);
    launch_two(reduce_sum_v1_kernel<tree_sum_v2>, blocks, x, result, n, stream);
}

static void reduce_sum_v4(
    const float* x, float* result, int64_t n, unsigned*, cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, 2 * kThreads);
    launch_two(reduce_sum_v4_kernel<tree_sum>, blocks, x, result, n, stream);
}

static void reduce_sum_v5(
    const float* x, float* result, int64_t n, unsigned*, cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, 2 * kThreads);
    launch_two(reduce_sum_v4_kernel<tree_sum_v5>, blocks, x, result, n, stream);
}

static void reduce_sum_v6(
    const float* x, float* result, int64_t n, unsigned*, cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, 2 * kThreads);
    launch_two(reduce_sum_v4_kernel<tree_sum_v6>, blocks, x, result, n, stream);
}

static void reduce_sum_v7(
    const float* x, float* result, int64_t n, unsigned*, cudaStream_t stream) {
    launch_two(reduce_sum_v7_kernel, few_blocks(n), x, result, n, stream);
}

WB_RUNG(reduce_sum, reduce_sum_v1, "every second thread adds");
WB_RUNG(reduce_sum, reduce_sum_v2, "neighbouring threads add");
WB_RUNG(reduce_sum, reduce_sum_v3, "the upper half into the lower");
WB_RUNG(reduce_sum, reduce_sum_v4, "an addition while loading");
WB_RUNG(reduce_sum, reduce_sum_v5, "the last warp without barriers");
WB_RUNG(reduce_sum, reduce_sum_v6, "a tree without a loop");
WB_RUNG(reduce_sum, reduce_sum_v7, "many elements a thread");
