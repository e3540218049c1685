// embedding_lookup.cu: rows of a table are gathered, and gradients scattered to them.
// #solution
//
// v4 of all functions is in embedding_lookup_fast.cu, v2 and v3 of the backward pass
// are in backward_sorted.cuh; all others are here.
//
// <Ladder of="embedding" at="1048576 of 1048576 x 128, uniform">
//        GB/s  idea                 what limits it
//   v1    105  a thread a row       each lane reads another row
//   v2  2,170  a warp a row         4 bytes a lane, few loads under way
//   v3  2,630  16 bytes a lane      one load under way; short rows leave lanes idle
//   v4  2,890  four words a thread  the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
//
// <Ladder of="embedding_u16" at="1048576 of 1048576 x 256, uniform">
//        GB/s  idea                 what limits it
//   v2  1,500  a warp a row         2 bytes a lane, few loads under way
//   v3  2,630  16 bytes a lane      one load under way; short rows leave lanes idle
//   v4  2,890  four words a thread  the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
//
// <Ladder of="embedding_bag" at="bags of 20, 1048560 of 1048576 x 128, uniform">
//        GB/s  idea                        what limits it
//   v2  1,790  a warp a bag                one load under way
//   v4  2,830  16 bytes a lane, four rows  the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
//
// <Ladder of="embedding_bag_fp16" at="bags of 20, 1048560 of 1048576 x 128, uniform">
//        GB/s  idea                        what limits it
//   v2  1,020  a warp a bag                one load of 2 bytes under way
//   v4  2,320  16 bytes a lane, four rows  half of the lanes are idle
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
//
// <Ladder of="embedding_bag_bf16" at="bags of 20, 1048560 of 1048576 x 128, uniform">
//        GB/s  idea                        what limits it
//   v2  1,020  a warp a bag                one load of 2 bytes under way
//   v4  2,010  16 bytes a lane, four rows  half of the lanes are idle
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
//
// <Ladder of="embedding_backward" at="1048576 of 1048576 x 128, uniform">
//        GB/s  idea                            what limits it
//   v1  1,280  atomic additions                zeros first, then atomics: 3 passes
//   v2  1,330  sorted, a warp a row            a row looked up often has one warp
//   v3  1,570  equal shares, atomics at edges  zeros first; one load under way
//   v4  2,090  sums of sums in a fixed order   the sort, and the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
// #end
#include "embedding_lookup.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

#include "lookup.cuh"

// #solution
// #region v1-kernel
/// gather_v1: a thread for each index copies the whole row.
///
/// Launch   grid ceil_div(count, kThreads), block kThreads
__global__ void gather_v1_kernel(const float* table,  // [num_rows, cols]
                                 float* out,          // [count, cols]
                                 Lookup lookup) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= lookup.count) return;
    const int64_t index = lookup.indices[i];
    if (!is_row(lookup, index)) return count_bad(lookup);
    for (int64_t col = 0; col < lookup.cols; ++col)
        out[i * lookup.cols + col] = table[index * lookup.cols + col];
}
// #endregion v1-kernel

// #region v1-launch
static void embedding_v1(const float* table,
                         float* out,
                         const Lookup& lookup,
                         cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(lookup.count, kThreads);
    gather_v1_kernel<<<blocks, kThreads, 0, stream>>>(table, out, lookup);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launch
WB_RUNG(embedding, embedding_v1, "a thread a row");
// #end

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
    // #solution
    const int lane = lane_of_warp();
    const int64_t index = lookup.indices[i];  // 32 lanes, one address: one sector
    if (!is_row(lookup, index)) {
        if (lane == 0) count_bad(lookup);
        return;
    }
    for (int64_t col = lane; col < cols; col += wb::kWarpSize)
        out[i * cols + col] = table[index * cols + col];
    // #end
}
// #endregion v2-kernel

// #region v2-launch
template <class T>
static void launch_gather_v2(
    const T* table, T* out, const Lookup& lookup, int64_t cols, cudaStream_t stream) {
    // TODO(learner): a warp for each index, kWarps of them in a block (about 3 lines)
    // #solution
    const unsigned blocks = wb::grid_size(lookup.count, kWarps);
    gather_v2_kernel<<<blocks, kThreads, 0, stream>>>(table, out, lookup, cols);
    // #end
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
// #solution
WB_RUNG(embedding, embedding_v2, "a warp a row");
WB_RUNG(embedding_u16, embedding_u16_v2, "a warp a row");

// #region v3-launch
/// gather_v3: the kernel of v2 moves words of 16 bytes, where rows consist of them.
template <class T>
static void launch_gather_v3(const T* table,
                             T* out,
                             const Lookup& lookup,
                             cudaStream_t stream) {
    const int64_t row_bytes = lookup.cols * int64_t{sizeof(T)};
    if (word_bytes(table, out, row_bytes) != 16)
        return launch_gather_v2(table, out, lookup, lookup.cols, stream);
    launch_gather_v2(reinterpret_cast<const uint4*>(table),
                     reinterpret_cast<uint4*>(out),
                     lookup,
                     row_bytes / int64_t{sizeof(uint4)},
                     stream);
}
// #endregion v3-launch

static void embedding_v3(const float* table,
                         float* out,
                         const Lookup& lookup,
                         cudaStream_t stream) {
    launch_gather_v3(table, out, lookup, stream);
}

static void embedding_u16_v3(const uint16_t* table,
                             uint16_t* out,
                             const Lookup& lookup,
                             cudaStream_t stream) {
    launch_gather_v3(table, out, lookup, stream);
}
WB_RUNG(embedding, embedding_v3, "16 bytes a lane");
WB_RUNG(embedding_u16, embedding_u16_v3, "16 bytes a lane");

#define WB_VERSION_ONLY
#include "embedding_lookup_fast.cu"
WB_RUNG(embedding, embedding_v4, "four words a thread");
WB_RUNG(embedding_u16, embedding_u16_v4, "four words a thread");
// #end

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
        // #solution
        float sum = 0.0f;
        int64_t used = 0;
        for (int64_t i = begin; i < end; ++i) {
            const int64_t index = lookup.indices[i];
            if (!is_row(lookup, index)) {
                if (col == 0) count_bad(lookup);
            } else if (index != bags.padding) {
                sum += static_cast<float>(table[index * lookup.cols + col]);
                ++used;
            }
        }
        if (bags.pool == Pool::mean && used > 0) sum /= static_cast<float>(used);
        out[bag * lookup.cols + col] = static_cast<T>(sum);
        // #end
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
// #solution
WB_RUNG(embedding_bag, embedding_bag_v2, "a warp a bag");
WB_RUNG(embedding_bag_fp16, embedding_bag_fp16_v2, "a warp a bag");
WB_RUNG(embedding_bag_bf16, embedding_bag_bf16_v2, "a warp a bag");
WB_RUNG(embedding_bag, embedding_bag_v4, "16 bytes a lane, four rows");
WB_RUNG(embedding_bag_fp16, embedding_bag_fp16_v4, "16 bytes a lane, four rows");
WB_RUNG(embedding_bag_bf16, embedding_bag_bf16_v4, "16 bytes a lane, four rows");
// #end

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
    // #solution
    const int lane = lane_of_warp();
    const int64_t index = lookup.indices[i];
    if (!is_row(lookup, index)) {
        if (lane == 0) count_bad(lookup);
        return;
    }
    if (index == padding) return;
    for (int64_t col = lane; col < lookup.cols; col += wb::kWarpSize)
        atomicAdd(&grad_table[index * lookup.cols + col],
                  grad_out[i * lookup.cols + col]);
    // #end
}

static void embedding_backward_v1(const float* grad_out,
                                  float* grad_table,
                                  const Lookup& lookup,
                                  int64_t padding,
                                  cudaStream_t stream) {
    // TODO(learner): set all of grad_table to 0 on the stream. Then, if there is any
    // index, a launch like that of the gather (about 6 lines)
    // #solution
    const int64_t bytes = lookup.num_rows * lookup.cols * int64_t{sizeof(float)};
    CUDA_CHECK(cudaMemsetAsync(grad_table, 0, static_cast<size_t>(bytes), stream));
    if (lookup.count == 0) return;
    const unsigned blocks = wb::grid_size(lookup.count, kWarps);
    scatter_v1_kernel<<<blocks, kThreads, 0, stream>>>(
        grad_out, grad_table, lookup, padding);
    // #end
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-backward
// #solution
WB_RUNG(embedding_backward, embedding_backward_v1, "atomic additions");

#include "backward_sorted.cuh"
WB_RUNG(embedding_backward, embedding_backward_v4, "sums of sums in a fixed order");
// #end

// #region contract
void embedding(const float* table,
               float* out,
               const Lookup& lookup,
               cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when two TODOs are written
    if (!check_embedding("embedding", table, out, lookup)) return;
    // #solution
    embedding_v4(table, out, lookup, stream);
    // #end
    // #starter embedding_v2(table, out, lookup, stream);
}

void embedding_u16(const uint16_t* table,
                   uint16_t* out,
                   const Lookup& lookup,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!check_embedding("embedding_u16", table, out, lookup)) return;
    // #solution
    embedding_u16_v4(table, out, lookup, stream);
    // #end
    // #starter embedding_u16_v2(table, out, lookup, stream);
}

void embedding_bag(const float* table,
                   float* out,
                   const Lookup& lookup,
                   const Bags& bags,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // these three, when the TODO of the bags is written
    if (!check_bags("embedding_bag", table, out, lookup, bags)) return;
    // #solution
    embedding_bag_v4(table, out, lookup, bags, stream);
    // #end
    // #starter embedding_bag_v2(table, out, lookup, bags, stream);
}

void embedding_bag_fp16(const __half* table,
                        __half* out,
                        const Lookup& lookup,
                        const Bags& bags,
                        cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();
    if (!check_bags("embedding_bag_fp16", table, out, lookup, bags)) return;
    // #solution
    embedding_bag_fp16_v4(table, out, lookup, bags, stream);
    // #end
    // #starter embedding_bag_fp16_v2(table, out, lookup, bags, stream);
}

void embedding_bag_bf16(const __nv_bfloat16* table,
                        __nv_bfloat16* out,
                        const Lookup& lookup,
                        const Bags& bags,
                        cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();
    if (!check_bags("embedding_bag_bf16", table, out, lookup, bags)) return;
    // #solution
    embedding_bag_bf16_v4(table, out, lookup, bags, stream);
    // #end
    // #starter embedding_bag_bf16_v2(table, out, lookup, bags, stream);
}

void embedding_backward(const float* grad_out,
                        float* grad_table,
                        const Lookup& lookup,
                        int64_t padding,
                        cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when the last two TODOs are written
    if (!check_backward(grad_out, grad_table, lookup, padding)) return;
    // #solution
    embedding_backward_v4(grad_out, grad_table, lookup, padding, stream);
    // #end
    // #starter embedding_backward_v1(grad_out, grad_table, lookup, padding, stream);
}
// #endregion contract
