// embedding_lookup.cu: rows of a table are gathered, and gradients scattered to them.
#include "embedding_lookup.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include "lookup.cuh"

// #region v2-kernel
/// gather_v2: a warp for each index copies its row.
///
/// @tparam T  element: float or uint16_t, or a word of 16 bytes
///
/// Launch   grid ceil_div(count, kWarps), block kThreads
template <class T>
__global__ void gather_v2_kernel(const T* table,  // [num_rows, cols]
                                 T* out,          // [count, cols]
                                 Lookup lookup,
                                 int64_t cols) {  // in elements of type T
    const int64_t i = warp_of_grid();
    if (i >= lookup.count) return;
    // TODO(learner): look up the warp's index. If it is no row, one lane counts it, and
    // the warp is done. Else the lanes copy the row together, so that neighbours read
    // neighbours (about 8 lines)
}
// #endregion v2-kernel

// #region v2-launch
template <class T>
static void launch_gather_v2(
    const T* table, T* out, const Lookup& lookup, int64_t cols, cudaStream_t stream) {
    // TODO(learner): a warp for each index, kWarps of them in a block (about 3 lines)
    CUDA_CHECK_LAUNCH();
}
// #endregion v2-launch

static void embedding_v2(const float* table,
                         float* out,
                         const Lookup& lookup,
                         cudaStream_t stream) {
    launch_gather_v2(table, out, lookup, lookup.cols, stream);
}

static void embedding_u16_v2(const uint16_t* table,
                             uint16_t* out,
                             const Lookup& lookup,
                             cudaStream_t stream) {
    launch_gather_v2(table, out, lookup, lookup.cols, stream);
}

// #region v2-bag
/// bag_v2: a warp for each bag adds up its rows; lanes are columns.
///
/// @tparam T  float, __half or __nv_bfloat16
///
/// Launch   grid ceil_div(num_bags, kWarps), block kThreads
template <class T>
__global__ void bag_v2_kernel(const T* table,  // [num_rows, cols]
                              T* out,          // [num_bags, cols]
                              Lookup lookup,
                              Bags bags) {
    const int64_t bag = warp_of_grid();
    if (bag >= bags.num_bags) return;
    const int lane = lane_of_warp();
    const int64_t begin = bags.offsets[bag];
    const int64_t end = bags.offsets[bag + 1];
    if (begin < 0 || begin > end || end > lookup.count) {
        if (lane == 0) count_bad(lookup);
        return;
    }
    for (int64_t col = lane; col < lookup.cols; col += wb::kWarpSize) {
        // TODO(learner): add up this column of all rows in the bag, in float. Leave out
        // the padding, and what is no row; count the latter once, not once a column. A
        // mean divides by the number of rows that were added (about 14 lines)
    }
}
// #endregion v2-bag

template <class T>
static void launch_bag_v2(const T* table,
                          T* out,
                          const Lookup& lookup,
                          const Bags& bags,
                          cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(bags.num_bags, kWarps);
    bag_v2_kernel<<<blocks, kThreads, 0, stream>>>(table, out, lookup, bags);
    CUDA_CHECK_LAUNCH();
}

constexpr auto& embedding_bag_v2 = launch_bag_v2<float>;
constexpr auto& embedding_bag_fp16_v2 = launch_bag_v2<__half>;
constexpr auto& embedding_bag_bf16_v2 = launch_bag_v2<__nv_bfloat16>;

// #region v1-backward
/// scatter_v1: a warp for each index adds its gradients to the row of the table.
///
/// Launch   grid ceil_div(count, kWarps), block kThreads; grad_table is all zeros
__global__ void scatter_v1_kernel(const float* grad_out,  // [count, cols]
                                  float* grad_table,      // [num_rows, cols]
                                  Lookup lookup,
                                  int64_t padding) {
    const int64_t i = warp_of_grid();
    if (i >= lookup.count) return;
    // TODO(learner): as in the gather, but the other way round. Two warps may add to
    // the same row at the same time (about 9 lines)
}

static void embedding_backward_v1(const float* grad_out,
                                  float* grad_table,
                                  const Lookup& lookup,
                                  int64_t padding,
                                  cudaStream_t stream) {
    // TODO(learner): set all of grad_table to 0 on the stream. Then, if there is any
    // index, a launch like that of the gather (about 6 lines)
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-backward

// #region contract
void embedding(const float* table,
               float* out,
               const Lookup& lookup,
               cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when two TODOs are written
    if (!check_embedding("embedding", table, out, lookup)) return;
    embedding_v2(table, out, lookup, stream);
}

void embedding_u16(const uint16_t* table,
                   uint16_t* out,
                   const Lookup& lookup,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    if (!check_embedding("embedding_u16", table, out, lookup)) return;
    embedding_u16_v2(table, out, lookup, stream);
}

void embedding_bag(const float* table,
                   float* out,
                   const Lookup& lookup,
                   const Bags& bags,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // these three, when the TODO of the bags is written
    if (!check_bags("embedding_bag", table, out, lookup, bags)) return;
    embedding_bag_v2(table, out, lookup, bags, stream);
}

void embedding_bag_fp16(const __half* table,
                        __half* out,
                        const Lookup& lookup,
                        const Bags& bags,
                        cudaStream_t stream) {
    WB_NOT_SOLVED();
    if (!check_bags("embedding_bag_fp16", table, out, lookup, bags)) return;
    embedding_bag_fp16_v2(table, out, lookup, bags, stream);
}

void embedding_bag_bf16(const __nv_bfloat16* table,
                        __nv_bfloat16* out,
                        const Lookup& lookup,
                        const Bags& bags,
                        cudaStream_t stream) {
    WB_NOT_SOLVED();
    if (!check_bags("embedding_bag_bf16", table, out, lookup, bags)) return;
    embedding_bag_bf16_v2(table, out, lookup, bags, stream);
}

void embedding_backward(const float* grad_out,
                        float* grad_table,
                        const Lookup& lookup,
                        int64_t padding,
                        cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one, when the last two TODOs are written
    if (!check_backward(grad_out, grad_table, lookup, padding)) return;
    embedding_backward_v1(grad_out, grad_table, lookup, padding, stream);
}
// #endregion contract
