// jagged_tensors.cu: rows of different lengths, one behind the other, padded and back.
// #solution
//
// v2 is in 02_words.cuh, v3 in 03_search_a_word.cuh. The fastest versions are in
// jagged_tensors_fast.cu, the second stage, but jagged_offsets_v2, which is given, in
// tiled_offsets.cuh of the lesson's folder.
//
// <Ladder of="jagged_offsets" at="4194304 rows">
//       GB/s  idea                  what limits it
//   v1  2.26  one block             one multiprocessor, and its barriers
//   v2   729  1024 lengths a block  barriers; reads lengths twice
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
//
// <Ladder of="jagged_to_dense" at="262144 rows of 20, dim 64">
//        GB/s  idea                       what limits it
//   v1  1,990  one block a row            words of 2 bytes: few bytes under way
//   v2  2,840  words of several elements  blocks idle at the end of their row
//   v3  2,770  a division a word          instructions; one load under way
//   v4  2,900  a tile a block             the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
//
// <Ladder of="dense_to_jagged" at="262144 rows of 20, dim 64">
//        GB/s  idea                         what limits it
//   v1  1,540  one block a row              words of 2 bytes: few bytes under way
//   v2  2,590  words of several elements    blocks idle at the end of their row
//   v3  1,500  a search a word              18 steps, each waits for the one before it
//   v4  2,910  a tile and a search a block  the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
//
// <Ladder of="jagged_concat" at="262144 rows of 20, dim 64">
//        GB/s  idea                         what limits it
//   v1  1,710  one block a row              words of 2 bytes: few bytes under way
//   v4  2,980  a tile and a search a block  the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
//
// <Ladder of="jagged_split" at="262144 rows of 20, dim 64">
//        GB/s  idea                         what limits it
//   v1  1,710  one block a row              words of 2 bytes: few bytes under way
//   v4  2,980  a tile and a search a block  the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
// #end
#include "jagged_tensors.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

#include "given.h"
// #solution

#define WB_VERSION_ONLY
#include "jagged_tensors_fast.cu"
// #end

// #region offsets-v1
/// jagged_offsets_v1: one block, which takes kThreads lengths at a time. In shared
/// memory, each thread adds what stands 1, 2, 4, ... places before it:
///
///     lengths   3  0  2  1
///     step 1    3  3  2  3     each with its neighbour
///     step 2    3  3  5  6     each with the sum two places before
///
/// Launch   grid 1, block kThreads, static shared memory of kThreads sums
template <class Offset>
__global__ void jagged_offsets_v1_kernel(const int32_t* lengths,  // [num_rows]
                                         Offset* offsets,         // [num_rows + 1]
                                         int64_t num_rows,
                                         JaggedStatus* status) {
    const int tid = threadIdx.x;
    if (tid == 0) offsets[0] = 0;
    // TODO(learner): an array s_sums in shared memory, a sum of 64 bits for each
    // thread. For each kThreads lengths in turn: this thread's one, which
    // checked_length() gives, 0 past the end, goes into s_sums. In steps 1, 2, 4, ...
    // < kThreads add what stands `step` places before, with a barrier between reading
    // and writing, and one behind it. Then s_sums[tid] is the sum of this thread's
    // length and all before it in these kThreads, and the last of s_sums is the sum of
    // the round. Each thread keeps the sum of all rounds before in a variable: add it,
    // store_offset() what you have, then add this round's sum to the variable. All must
    // have read s_sums before the next round writes it (about 18 lines)
    // #solution
    __shared__ int64_t s_sums[kThreads];
    int64_t before = 0;  // the sum of the rounds before
    for (int64_t first = 0; first < num_rows; first += kThreads) {
        const int64_t r = first + tid;
        s_sums[tid] = r < num_rows ? checked_length(lengths, r, status) : 0;
        __syncthreads();
        for (int step = 1; step < kThreads; step *= 2) {
            const int64_t more = tid >= step ? s_sums[tid - step] : 0;
            __syncthreads();
            s_sums[tid] += more;
            __syncthreads();
        }
        if (r < num_rows) store_offset(offsets, r, before + s_sums[tid], status);
        before += s_sums[kThreads - 1];
        __syncthreads();  // all have read the last sum before it is overwritten
    }
    // #end
}
// #endregion offsets-v1

static void jagged_offsets_v1(const int32_t* lengths,
                              wb::OffsetsOut offsets,
                              int64_t num_rows,
                              JaggedStatus* status,
                              cudaStream_t stream) {
    if (offsets.is_wide()) {
        jagged_offsets_v1_kernel<int64_t>
            <<<1, kThreads, 0, stream>>>(lengths, offsets.wide(), num_rows, status);
    } else {
        jagged_offsets_v1_kernel<int32_t>
            <<<1, kThreads, 0, stream>>>(lengths, offsets.narrow(), num_rows, status);
    }
    CUDA_CHECK_LAUNCH();
}

// #region to-dense-v1
/// jagged_to_dense_v1: one block a row of dense.
///
/// Launch   grid num_rows, block kThreads, no shared memory
template <class Offset>
__global__ void jagged_to_dense_v1_kernel(const bf16* values,     // [total, dim]
                                          const Offset* offsets,  // [num_rows + 1]
                                          bf16* dense,  // [num_rows, max_length, dim]
                                          int64_t max_length,
                                          int64_t dim,
                                          const JaggedStatus* status) {
    if (status->fault != 0) return;  // the offsets are wrong: nothing is safe
    // TODO(learner): block r writes the max_length * dim elements of row r of dense,
    // its threads side by side. Element i of it is element i of row r of values, as far
    // as that row goes, and __float2bfloat16(0.0f) behind it (about 9 lines)
    // #solution
    const int64_t row = blockIdx.x;
    const int64_t first = offsets[row];
    const int64_t elements = (int64_t{offsets[row + 1]} - first) * dim;
    for (int64_t i = threadIdx.x; i < max_length * dim; i += kThreads) {
        dense[row * max_length * dim + i] =
            i < elements ? values[first * dim + i] : __float2bfloat16(0.0f);
    }
    // #end
}
// #endregion to-dense-v1

static void jagged_to_dense_v1(const bf16* values,
                               wb::Offsets offsets,
                               bf16* dense,
                               const JaggedShape& shape,
                               JaggedStatus* status,
                               cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(shape.num_rows);
    with_offsets(offsets, [&](const auto* typed) {
        check_offsets(typed, shape, status, stream);
        jagged_to_dense_v1_kernel<<<blocks, kThreads, 0, stream>>>(
            values, typed, dense, shape.max_length, shape.dim, status);
    });
    CUDA_CHECK_LAUNCH();
}

// #region from-dense-v1
/// dense_to_jagged_v1: one block a row of values, however long it is.
///
/// Launch   grid num_rows, block kThreads, no shared memory
template <class Offset>
__global__ void dense_to_jagged_v1_kernel(const bf16* dense,  // [num_rows, max_length,
                                                              //  dim]
                                          const Offset* offsets,  // [num_rows + 1]
                                          bf16* values,           // [total, dim]
                                          int64_t max_length,
                                          int64_t dim,
                                          const JaggedStatus* status) {
    if (status->fault != 0) return;
    // TODO(learner): block r writes the elements of row r of values, its threads side
    // by side: those of row r of dense, as far as that goes, and zeros behind them
    // (about 8 lines)
    // #solution
    const int64_t row = blockIdx.x;
    const int64_t first = offsets[row];
    const int64_t elements = (int64_t{offsets[row + 1]} - first) * dim;
    for (int64_t i = threadIdx.x; i < elements; i += kThreads) {
        values[first * dim + i] = i < max_length * dim
                                      ? dense[row * max_length * dim + i]
                                      : __float2bfloat16(0.0f);
    }
    // #end
}
// #endregion from-dense-v1

static void dense_to_jagged_v1(const bf16* dense,
                               wb::Offsets offsets,
                               bf16* values,
                               const JaggedShape& shape,
                               JaggedStatus* status,
                               cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(shape.num_rows);
    with_offsets(offsets, [&](const auto* typed) {
        check_offsets(typed, shape, status, stream);
        dense_to_jagged_v1_kernel<<<blocks, kThreads, 0, stream>>>(
            dense, typed, values, shape.max_length, shape.dim, status);
    });
    CUDA_CHECK_LAUNCH();
}

// #region concat-v1
/// jagged_concat_v1: one block a row, as in the kernels above. Row r of the result
/// begins where both inputs' rows before it end: a_offsets[r] + b_offsets[r].
///
/// Launch   grid num_rows, block kThreads, no shared memory
template <class Offset>
__global__ void jagged_concat_v1_kernel(const bf16* a,            // [a_total, dim]
                                        const Offset* a_offsets,  // [num_rows + 1]
                                        const bf16* b,            // [b_total, dim]
                                        const Offset* b_offsets,  // [num_rows + 1]
                                        bf16* values,     // [a_total + b_total, dim]
                                        Offset* offsets,  // [num_rows + 1]
                                        int64_t dim,
                                        const JaggedStatus* status) {
    if (status->fault != 0) return;
    const int64_t row = blockIdx.x;
    const int64_t a_first = a_offsets[row];
    const int64_t b_first = b_offsets[row];
    const int64_t a_elements = (int64_t{a_offsets[row + 1]} - a_first) * dim;
    const int64_t b_elements = (int64_t{b_offsets[row + 1]} - b_first) * dim;
    const int64_t begin = (a_first + b_first) * dim;
    for (int64_t i = threadIdx.x; i < a_elements + b_elements; i += kThreads) {
        values[begin + i] =
            i < a_elements ? a[a_first * dim + i] : b[b_first * dim + i - a_elements];
    }
    if (threadIdx.x == 0) offsets[row + 1] = a_offsets[row + 1] + b_offsets[row + 1];
    if (threadIdx.x == 0 && row == 0) offsets[0] = 0;
}
// #endregion concat-v1

static void jagged_concat_v1(const bf16* a,
                             wb::Offsets a_offsets,
                             const bf16* b,
                             wb::Offsets b_offsets,
                             bf16* values,
                             wb::OffsetsOut offsets,
                             const PairShape& shape,
                             JaggedStatus* status,
                             cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(shape.num_rows);
    with_offsets(a_offsets, b_offsets, [&](const auto* a_typed, const auto* b_typed) {
        check_offsets(a_typed, b_typed, shape, status, stream);
        jagged_concat_v1_kernel<<<blocks, kThreads, 0, stream>>>(
            a, a_typed, b, b_typed, values, like(a_typed, offsets), shape.dim, status);
    });
    CUDA_CHECK_LAUNCH();
}

// #region split-v1
/// jagged_split_v1: jagged_concat_v1 with its copies turned round.
///
/// Launch   grid num_rows, block kThreads, no shared memory
template <class Offset>
__global__ void jagged_split_v1_kernel(const bf16* values,  // [a_total + b_total, dim]
                                       const Offset* a_offsets,  // [num_rows + 1]
                                       const Offset* b_offsets,  // [num_rows + 1]
                                       bf16* a,                  // [a_total, dim]
                                       bf16* b,                  // [b_total, dim]
                                       int64_t dim,
                                       const JaggedStatus* status) {
    if (status->fault != 0) return;
    const int64_t row = blockIdx.x;
    const int64_t a_first = a_offsets[row];
    const int64_t b_first = b_offsets[row];
    const int64_t a_elements = (int64_t{a_offsets[row + 1]} - a_first) * dim;
    const int64_t b_elements = (int64_t{b_offsets[row + 1]} - b_first) * dim;
    const int64_t begin = (a_first + b_first) * dim;
    for (int64_t i = threadIdx.x; i < a_elements + b_elements; i += kThreads) {
        if (i < a_elements)
            a[a_first * dim + i] = values[begin + i];
        else
            b[b_first * dim + i - a_elements] = values[begin + i];
    }
}
// #endregion split-v1

static void jagged_split_v1(const bf16* values,
                            wb::Offsets a_offsets,
                            wb::Offsets b_offsets,
                            bf16* a,
                            bf16* b,
                            const PairShape& shape,
                            JaggedStatus* status,
                            cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(shape.num_rows);
    with_offsets(a_offsets, b_offsets, [&](const auto* a_typed, const auto* b_typed) {
        check_offsets(a_typed, b_typed, shape, status, stream);
        jagged_split_v1_kernel<<<blocks, kThreads, 0, stream>>>(
            values, a_typed, b_typed, a, b, shape.dim, status);
    });
    CUDA_CHECK_LAUNCH();
}
// #solution

WB_RUNG(jagged_offsets, jagged_offsets_v1, "one block");
WB_RUNG(jagged_to_dense, jagged_to_dense_v1, "one block a row");
WB_RUNG(dense_to_jagged, dense_to_jagged_v1, "one block a row");
WB_RUNG(jagged_concat, jagged_concat_v1, "one block a row");
WB_RUNG(jagged_split, jagged_split_v1, "one block a row");

#include "02_words.cuh"
#include "03_search_a_word.cuh"

WB_RUNG(jagged_offsets, jagged_offsets_v2, "1024 lengths a block");
WB_RUNG(jagged_to_dense, jagged_to_dense_v4, "a tile a block");
WB_RUNG(dense_to_jagged, dense_to_jagged_v4, "a tile and a search a block");
WB_RUNG(jagged_concat, jagged_concat_v4, "a tile and a search a block");
WB_RUNG(jagged_split, jagged_split_v4, "a tile and a search a block");
// #end

// #region contract
void jagged_offsets(const int32_t* lengths,
                    wb::OffsetsOut offsets,
                    int64_t num_rows,
                    JaggedStatus* status,
                    cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when its kernel is written
    check_jagged_offsets(lengths, offsets, num_rows, status);
    // #solution
    jagged_offsets_v2(lengths, offsets, num_rows, status, stream);
    // #end
    // #starter jagged_offsets_v1(lengths, offsets, num_rows, status, stream);
}

void jagged_to_dense(const bf16* values,
                     wb::Offsets offsets,
                     bf16* dense,
                     const JaggedShape& shape,
                     JaggedStatus* status,
                     cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when its kernel is written
    if (!check_conversion("jagged_to_dense", values, offsets, dense, shape, status) ||
        shape.max_length == 0)
        return;
    // #solution
    jagged_to_dense_v4(values, offsets, dense, shape, status, stream);
    // #end
    // #starter jagged_to_dense_v1(values, offsets, dense, shape, status, stream);
}

void dense_to_jagged(const bf16* dense,
                     wb::Offsets offsets,
                     bf16* values,
                     const JaggedShape& shape,
                     JaggedStatus* status,
                     cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when its kernel is written
    if (!check_conversion("dense_to_jagged", values, offsets, dense, shape, status))
        return;
    // #solution
    dense_to_jagged_v4(dense, offsets, values, shape, status, stream);
    // #end
    // #starter dense_to_jagged_v1(dense, offsets, values, shape, status, stream);
}

void jagged_concat(const bf16* a,
                   wb::Offsets a_offsets,
                   const bf16* b,
                   wb::Offsets b_offsets,
                   bf16* values,
                   wb::OffsetsOut offsets,
                   const PairShape& shape,
                   JaggedStatus* status,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line too: its kernel is given
    if (!check_concat(a, a_offsets, b, b_offsets, values, offsets, shape, status))
        return;
    // #solution
    const auto launch = jagged_concat_v4;
    // #end
    // #starter const auto launch = jagged_concat_v1;
    launch(a, a_offsets, b, b_offsets, values, offsets, shape, status, stream);
}

void jagged_split(const bf16* values,
                  wb::Offsets a_offsets,
                  wb::Offsets b_offsets,
                  bf16* a,
                  bf16* b,
                  const PairShape& shape,
                  JaggedStatus* status,
                  cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line too: its kernel is given
    if (!check_split(values, a_offsets, b_offsets, a, b, shape, status)) return;
    // #solution
    const auto launch = jagged_split_v4;
    // #end
    // #starter const auto launch = jagged_split_v1;
    launch(values, a_offsets, b_offsets, a, b, shape, status, stream);
}
// #endregion contract
