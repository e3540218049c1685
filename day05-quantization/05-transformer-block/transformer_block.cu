// transformer_block.cu: a block of a transformer, made of this book's kernels.
#include "transformer_block.h"

#include <wb/check.h>
#include <wb/exercise.h>

#include "calls.h"
#include "pieces.cuh"

// #region v1-plan
BlockPlan plan_block(const BlockShape& shape,
                     bool is_quantized,
                     int64_t tokens,
                     bool keep) {
    WB_NOT_SOLVED();  // delete this line when this TODO is written
    const BlockArguments arguments("plan_block");
    arguments.of_shape(shape);
    arguments.of_tokens(tokens);
    BlockPlan p = {};
    // TODO(learner): give each array a place behind the one before it, and p.bytes the
    // sum. Places are multiples of 256. Without keep, hidden and qkv are one place, of
    // the larger of the two, and so are attended and normed (about 20 lines)
    return p;
}
// #endregion v1-plan

// #region v1-places
/// Where the next token of each sequence is, and how long the sequence is with it. A
/// sequence that is full keeps its length: the position that it gets does not exist,
/// which append() reports.
///
/// Launch   a thread a sequence, block kElementThreads
__global__ void __launch_bounds__(kElementThreads)
    next_places_kernel(int32_t* sequences,  // [batch]
                       int32_t* positions,  // [batch]
                       int32_t* lengths,    // [batch]
                       int64_t batch,
                       int64_t capacity) {
    const int64_t i = int64_t{blockIdx.x} * kElementThreads + threadIdx.x;
    if (i >= batch) return;
    // TODO(learner): token i belongs to sequence i. Which position does it get, of a
    // sequence that has lengths[i] tokens, 0 to lengths[i] - 1? (about 4 lines)
}

static void find_places(const Call& c) {
    auto* const sequences = c.at<int32_t>(c.plan.sequences);
    auto* const positions = c.at<int32_t>(c.plan.positions);
    int32_t* const lengths = c.cache->lengths;
    if (c.decodes)
        next_places_kernel<<<wb::grid_size(c.rows(), kElementThreads),
                             kElementThreads,
                             0,
                             c.stream>>>(
            sequences, positions, lengths, c.rows(), c.cache->pages.capacity());
    else
        first_places_kernel<<<wb::grid_size(c.tokens.sequences, 1),
                              kElementThreads,
                              0,
                              c.stream>>>(
            c.tokens.starts, sequences, positions, lengths);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-places

// #region v1-attention
/// From qkv to attended, and new keys and values to the cache, if there is one.
static void attend(const Call& c) {
    const int64_t d = c.shape().d_model;
    const __nv_bfloat16* const qkv = c.at(c.plan.qkv);
    __nv_bfloat16* const queries = c.at(c.plan.queries);
    // TODO(learner): where do K and V begin in the first row of qkv? What are scores
    // multiplied by? (about 3 lines)
    const __nv_bfloat16 *const k = nullptr, *const v = nullptr;
    const float scale = 0.0f;
    if (c.cache == nullptr)
        return attend_sequences(c, qkv, 3 * d, k, v, scale, c.at(c.plan.attended));
    // The queries by themselves: they turn there, and decoding wants them dense.
    const auto row = static_cast<size_t>(d) * sizeof(__nv_bfloat16);
    CUDA_CHECK(cudaMemcpy2DAsync(queries,
                                 row,
                                 qkv,
                                 3 * row,
                                 row,
                                 static_cast<size_t>(c.rows()),
                                 cudaMemcpyDeviceToDevice,
                                 c.stream));
    // TODO(learner): find_places(c), then append(), then attention: for whole sequences
    // attend_sequences() with the dense queries, and paged_attention() for a step of
    // decoding, with c.pages() and without lse (about 12 lines)
    (void)queries, (void)find_places;
}
// #endregion v1-attention

// #region v1-block
/// The block: which kernel reads what.
static void run_block(const Call& c) {
    const Block& b = c.block;
    const __nv_bfloat16* const x = c.tokens.x;
    __nv_bfloat16* const y = c.tokens.y;
    __nv_bfloat16* const normed = c.at(c.plan.normed);
    __nv_bfloat16* const middle = c.at(c.plan.middle);
    __nv_bfloat16* const hidden = c.at(c.plan.hidden);
    // TODO(learner): norm(), linear_apart() and attend(c), in the contract's order, for
    // pre (c.is_pre()) and for post. What is read twice, as a residual, must still be
    // there; a norm may write to where it reads (about 18 lines)
    (void)b, (void)x, (void)y, (void)normed, (void)middle, (void)hidden;
    (void)attend;
}
// #endregion v1-block

// #region contract
void block_forward(const Block& block,
                   const BlockTokens& tokens,
                   const BlockCache* cache,
                   const BlockWorkspace& work,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs above are written
    forward_checked(block, tokens, cache, work, stream, run_block);
}

void block_decode(const Block& block,
                  const BlockCache& cache,
                  const __nv_bfloat16* x,
                  __nv_bfloat16* y,
                  const BlockWorkspace& work,
                  cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    decode_checked(block, cache, x, y, work, stream, run_block);
}
// #endregion contract
