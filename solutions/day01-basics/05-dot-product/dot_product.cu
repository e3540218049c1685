// dot_product.cu: the sum of a[i] * b[i], which all threads have to agree on.
// #solution
//
// <Ladder of="dot_product" at="n = 67108864">
//        GB/s  idea                     what limits it
//   v1      -  n atomics                one address: one atomic after the other
//   v2    981  a tree in shared memory  a tree and an atomic for each 256 elements
//   v3  2,800  a grid-stride loop       bytes in flight: each access is of 4
//   v4  2,880  float4                   the speed of memory
//   v5  2,800  two kernels, no atomics  as v4; always the same bits
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "dot_product.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>
// #solution
#include <wb/scratch.h>

#include <algorithm>
// #end

/// Threads in a block: a power of two, so that the tree can halve it down to one.
constexpr int kThreads = 256;
static_assert((kThreads & (kThreads - 1)) == 0,
              "the tree halves kThreads until it is 1");
// #solution

/// Blocks of v3 to v5: several times as many as a large GPU of today runs at once, so
/// that no multiprocessor idles long while another finishes the last ones. Fixed, so
/// that the order of additions is the same on every GPU.
constexpr int64_t kMaxBlocks = 4096;

// #region v1-kernel
/// dot_product_v1: every thread adds its product to the result.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads, no shared memory
__global__ void dot_product_v1_kernel(const float* a,  // [n]
                                      const float* b,  // [n]
                                      float* result,   // [1], 0 at the start
                                      int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(result, a[i] * b[i]);
}
// #endregion v1-kernel

// #region v1-launch
static void dot_product_v1(
    const float* a, const float* b, float* result, int64_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof(float), stream));
    const unsigned blocks = wb::grid_size(n, kThreads);
    dot_product_v1_kernel<<<blocks, kThreads, 0, stream>>>(a, b, result, n);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launch
WB_RUNG(dot_product, dot_product_v1, "an atomic for each element");
// #end

// #region v2-kernel
/// dot_product_v2: the threads of a block add up in shared memory, then one adds the
/// block's sum to the result.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads, static shared memory of
///          kThreads floats
__global__ void dot_product_v2_kernel(const float* a,  // [n]
                                      const float* b,  // [n]
                                      float* result,   // [1], 0 at the start
                                      int64_t n) {
    // TODO(learner): in shared memory, an array s_sum of one float a thread. Write this
    // thread's product into it, or 0 past the end; halve the number of adding threads
    // until s_sum[0] holds the block's sum, with a barrier before every step; let one
    // thread add that to *result (about 11 lines)
    // #solution
    __shared__ float s_sum[kThreads];
    const int tid = threadIdx.x;
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + tid;
    // Past the end there is no early return: every thread must reach every barrier,
    // and the tree reads what each of them wrote.
    s_sum[tid] = i < n ? a[i] * b[i] : 0.0f;
    __syncthreads();
    for (int active = kThreads / 2; active > 0; active /= 2) {
        if (tid < active) s_sum[tid] += s_sum[tid + active];
        __syncthreads();  // outside of the if: all threads meet here
    }
    if (tid == 0) atomicAdd(result, s_sum[0]);
    // #end
}
// #endregion v2-kernel

// #region v2-launch
static void dot_product_v2(
    const float* a, const float* b, float* result, int64_t n, cudaStream_t stream) {
    // TODO(learner): set *result to 0 on the stream, for whatever it holds now would be
    // part of the sum; then launch enough blocks for n elements (about 4 lines)
    // #solution
    CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof(float), stream));
    const unsigned blocks = wb::grid_size(n, kThreads);
    dot_product_v2_kernel<<<blocks, kThreads, 0, stream>>>(a, b, result, n);
    // #end
    CUDA_CHECK_LAUNCH();
}
// #endregion v2-launch

// #solution
WB_RUNG(dot_product, dot_product_v2, "a tree in shared memory");

// #region block-sum
/// The sum of one value of each thread of the block: the tree of v2 as a function.
/// Every thread of the block must call it; the result is thread 0's.
__device__ float block_sum(float value) {
    __shared__ float s_sum[kThreads];
    const int tid = threadIdx.x;
    s_sum[tid] = value;
    __syncthreads();
    for (int active = kThreads / 2; active > 0; active /= 2) {
        if (tid < active) s_sum[tid] += s_sum[tid + active];
        __syncthreads();
    }
    return s_sum[0];
}
// #endregion block-sum

// #region v3-kernel
/// This thread's share of the sum, in steps of the grid.
__device__ float thread_sum_v3(const float* a,  // [n]
                               const float* b,  // [n]
                               int64_t n) {
    const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t step = int64_t{gridDim.x} * blockDim.x;
    float sum = 0.0f;
    for (int64_t i = first; i < n; i += step) {
        sum += a[i] * b[i];
    }
    return sum;
}

/// dot_product_v3: each thread adds up its share in a register before the tree begins.
///
/// Launch   grid min(ceil_div(n, kThreads), kMaxBlocks), block kThreads
__global__ void dot_product_v3_kernel(const float* a,  // [n]
                                      const float* b,  // [n]
                                      float* result,   // [1], 0 at the start
                                      int64_t n) {
    const float sum = block_sum(thread_sum_v3(a, b, n));
    if (threadIdx.x == 0) atomicAdd(result, sum);
}
// #endregion v3-kernel

/// As many blocks as `items` can use, but at most kMaxBlocks.
static unsigned num_blocks(int64_t items) {
    return static_cast<unsigned>(
        std::min(wb::ceil_div(items, int64_t{kThreads}), kMaxBlocks));
}

// #region v3-launch
static void dot_product_v3(
    const float* a, const float* b, float* result, int64_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof(float), stream));
    dot_product_v3_kernel<<<num_blocks(n), kThreads, 0, stream>>>(a, b, result, n);
    CUDA_CHECK_LAUNCH();
}
// #endregion v3-launch
WB_RUNG(dot_product, dot_product_v3, "a grid-stride loop before the tree");

// #region v4-kernel
/// This thread's share of the sum, in steps of the grid: four products at a time, and
/// the n % 4 last ones by the first thread of the grid.
__device__ float thread_sum_v4(const float* a,  // [n] 16-byte aligned
                               const float* b,  // [n] 16-byte aligned
                               int64_t n) {
    const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t step = int64_t{gridDim.x} * blockDim.x;
    const int64_t num_vectors = n / 4;
    float sum = 0.0f;
    for (int64_t v = first; v < num_vectors; v += step) {
        const float4 x = reinterpret_cast<const float4*>(a)[v];
        const float4 y = reinterpret_cast<const float4*>(b)[v];
        sum += (x.x * y.x + x.y * y.y) + (x.z * y.z + x.w * y.w);
    }
    if (first == 0) {
        for (int64_t i = 4 * num_vectors; i < n; ++i) {
            sum += a[i] * b[i];
        }
    }
    return sum;
}

/// dot_product_v4: v3 with float4 loads.
///
/// Launch   grid min(ceil_div(n / 4 + 1, kThreads), kMaxBlocks), block kThreads
__global__ void dot_product_v4_kernel(const float* a,  // [n] 16-byte aligned
                                      const float* b,  // [n] 16-byte aligned
                                      float* result,   // [1], 0 at the start
                                      int64_t n) {
    const float sum = block_sum(thread_sum_v4(a, b, n));
    if (threadIdx.x == 0) atomicAdd(result, sum);
}
// #endregion v4-kernel

/// Whether a pointer may be read as float4.
static bool is_aligned_for_float4(const void* pointer) {
    return reinterpret_cast<uintptr_t>(pointer) % alignof(float4) == 0;
}

// #region v4-launch
static void dot_product_v4(
    const float* a, const float* b, float* result, int64_t n, cudaStream_t stream) {
    if (!is_aligned_for_float4(a) || !is_aligned_for_float4(b)) {
        return dot_product_v3(a, b, result, n, stream);
    }
    CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof(float), stream));
    dot_product_v4_kernel<<<num_blocks(n / 4 + 1), kThreads, 0, stream>>>(
        a, b, result, n);
    CUDA_CHECK_LAUNCH();
}
// #endregion v4-launch
WB_RUNG(dot_product, dot_product_v4, "float4: four products a step");

// #region v5-kernels
/// dot_product_v5, first kernel: like v4, or v3 where there is no float4 to be had, but
/// each block has a place of its own for its sum. Nobody waits, nobody comes first.
///
/// @tparam kFloat4  whether a and b are 16-byte aligned
///
/// Launch   grid of v4 or v3, block kThreads
template <bool kFloat4>
__global__ void dot_product_v5_partials_kernel(const float* a,   // [n]
                                               const float* b,   // [n]
                                               float* partials,  // [gridDim.x]
                                               int64_t n) {
    const float mine = kFloat4 ? thread_sum_v4(a, b, n) : thread_sum_v3(a, b, n);
    const float sum = block_sum(mine);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

/// dot_product_v5, second kernel: adds the blocks' sums. It starts when the first has
/// ended; no stronger barrier is needed, or to be had so cheaply.
///
/// Launch   one block of kThreads
__global__ void dot_product_v5_total_kernel(const float* partials,  // [num_partials]
                                            unsigned num_partials,
                                            float* result  // [1]
) {
    float sum = 0.0f;
    for (unsigned i = threadIdx.x; i < num_partials; i += kThreads) {
        sum += partials[i];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) *result = sum;
}
// #endregion v5-kernels

// #region v5-launch
static void dot_product_v5(
    const float* a, const float* b, float* result, int64_t n, cudaStream_t stream) {
    const bool float4s = is_aligned_for_float4(a) && is_aligned_for_float4(b);
    const unsigned blocks = num_blocks(float4s ? n / 4 + 1 : n);
    const wb::Scratch<float> partials(blocks, stream);
    const auto partials_kernel = float4s ? dot_product_v5_partials_kernel<true>
                                         : dot_product_v5_partials_kernel<false>;
    partials_kernel<<<blocks, kThreads, 0, stream>>>(a, b, partials.data(), n);
    CUDA_CHECK_LAUNCH();
    dot_product_v5_total_kernel<<<1, kThreads, 0, stream>>>(
        partials.data(), blocks, result);
    CUDA_CHECK_LAUNCH();
}
// #endregion v5-launch
WB_RUNG(dot_product, dot_product_v5, "two kernels: the same bits each time");
// #end

// #region contract
void dot_product(
    const float* a, const float* b, float* result, int64_t n, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when both TODOs are written
    wb::Arguments("dot_product")
        .size("n", n)
        .device("a", a, n)
        .device("b", b, n)
        .device("result", result, 1);
    if (n == 0) {  // no kernel to launch, but an empty sum is 0, and somebody reads it
        CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof(float), stream));
        return;
    }
    // #solution
    dot_product_v5(a, b, result, n, stream);
    // #end
    // #starter dot_product_v2(a, b, result, n, stream);
}
// #endregion contract
