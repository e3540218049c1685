// transformer_block.cu: a block of a transformer, made of this book's kernels.
// #solution
//
// v1 and v2 are in this file, v3 in transformer_block_fast.cu, the second stage.
//
// <Ladder of="block_decode" at="B1 behind 1024, 768 x 3072">
//       GB/s  idea                                  what limits it
//   v1   135  a kernel for everything               launches
//   v2   141  epilogues of products                 launches, tiles of 128 rows
//   v3   344  norm, product and rest in one kernel  one block a head in attention
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="block_forward" at="B8 N1024, 768 x 3072">
//       TFLOP/s  idea                     what limits it
//   v1      251  a kernel for everything  each number through memory again
//   v2      417  epilogues of products    tensor cores
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
// #end
#include "transformer_block.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end

#include "calls.h"
#include "pieces.cuh"

// #region v1-plan
BlockPlan plan_block(const BlockShape& shape,
                     bool is_quantized,
                     int64_t tokens,
                     bool keep) {
    // #starter WB_NOT_SOLVED();  // delete this line when this TODO is written
    const BlockArguments arguments("plan_block");
    arguments.of_shape(shape);
    arguments.of_tokens(tokens);
    BlockPlan p = {};
    // TODO(learner): give each array a place behind the one before it, and p.bytes the
    // sum. Places are multiples of 256. Without keep, hidden and qkv are one place, of
    // the larger of the two, and so are attended and normed (about 20 lines)
    // #solution
    const auto place = [&](int64_t numbers, int64_t bytes) {
        const int64_t offset = p.bytes;
        p.bytes += (tokens * numbers * bytes + 255) / 256 * 256;
        return offset;
    };
    const int64_t d = shape.d_model;
    const int64_t widest = std::max(3 * d, shape.d_ff);
    p.normed = place(d, 2);
    p.attended = keep ? place(d, 2) : p.normed;
    p.qkv = place(keep ? 3 * d : widest, 2);
    p.hidden = keep ? place(shape.d_ff, 2) : p.qkv;
    p.queries = place(d, 2);
    p.middle = place(d, 2);
    p.half_in = place(is_quantized ? std::max(d, shape.d_ff) : 0, 2);
    p.half_out = place(is_quantized ? widest : 0, 2);
    p.sequences = place(1, 4);
    p.positions = place(1, 4);
    // #end
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
    // #solution
    const int32_t length = lengths[i];
    sequences[i] = static_cast<int32_t>(i);
    positions[i] = length;
    if (length >= 0 && length < capacity) lengths[i] = length + 1;
    // #end
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
    // #solution
    const __nv_bfloat16* const k = qkv + d;
    const __nv_bfloat16* const v = qkv + 2 * d;
    const float scale = 1.0f / sqrtf(static_cast<float>(c.shape().head_dim()));
    // #end
    // #starter const __nv_bfloat16 *const k = nullptr, *const v = nullptr;
    // #starter const float scale = 0.0f;
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
    // #solution
    find_places(c);
    append(c, queries, k, v, 3 * d);
    if (c.decodes)
        paged_attention(c.pages(),
                        queries,
                        c.at(c.plan.attended),
                        nullptr,
                        c.shape().heads,
                        scale,
                        *c.work.pages,
                        c.stream);
    else
        attend_sequences(c, queries, d, k, v, scale, c.at(c.plan.attended));
    // #end
    // #starter (void)queries, (void)find_places;
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
    // #solution
    const bool pre = c.is_pre();
    if (pre) norm(c, b.norm1, x, normed);
    linear_apart(
        c, b.qkv, Activation::none, pre ? normed : x, nullptr, c.at(c.plan.qkv));
    attend(c);
    linear_apart(c, b.out, Activation::none, c.at(c.plan.attended), x, middle);
    if (!pre) norm(c, b.norm1, middle, middle);
    if (pre) norm(c, b.norm2, middle, normed);
    const Activation activation = c.shape().activation;
    linear_apart(c, b.up, activation, pre ? normed : middle, nullptr, hidden);
    linear_apart(c, b.down, Activation::none, hidden, middle, y);
    if (!pre) norm(c, b.norm2, y, y);
    // #end
    // #starter (void)b, (void)x, (void)y, (void)normed, (void)middle, (void)hidden;
    // #starter (void)attend;
}
// #endregion v1-block

// #solution
#define WB_VERSION_ONLY
#include "transformer_block_fast.cu"

/// A version of block_forward() and of block_decode() that runs this.
#define WB_BLOCK_VERSION(version, run)                              \
    static void block_forward_##version(const Block& block,         \
                                        const BlockTokens& tokens,  \
                                        const BlockCache* cache,    \
                                        const BlockWorkspace& work, \
                                        cudaStream_t stream) {      \
        forward_checked(block, tokens, cache, work, stream, run);   \
    }                                                               \
    static void block_decode_##version(const Block& block,          \
                                       const BlockCache& cache,     \
                                       const __nv_bfloat16* x,      \
                                       __nv_bfloat16* y,            \
                                       const BlockWorkspace& work,  \
                                       cudaStream_t stream) {       \
        decode_checked(block, cache, x, y, work, stream, run);      \
    }
WB_BLOCK_VERSION(v1, run_block)
WB_BLOCK_VERSION(v2, run_block_v2)

static void block_decode_v3(const Block& block,
                            const BlockCache& cache,
                            const __nv_bfloat16* x,
                            __nv_bfloat16* y,
                            const BlockWorkspace& work,
                            cudaStream_t stream) {
    decode_checked(block, cache, x, y, work, stream, [](const Call& c) {
        if (suits_few_rows(c)) return decode_few_rows(c);
        run_block_v2(c);
    });
}

WB_RUNG(block_forward, block_forward_v1, "a kernel for everything");
WB_RUNG(block_forward, block_forward_v2, "epilogues of products");
WB_RUNG(block_decode, block_decode_v1, "a kernel for everything");
WB_RUNG(block_decode, block_decode_v2, "epilogues of products");
WB_RUNG(block_decode, block_decode_v3, "norm, product and rest in one kernel");

// #end
// #region contract
void block_forward(const Block& block,
                   const BlockTokens& tokens,
                   const BlockCache* cache,
                   const BlockWorkspace& work,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs above are written
    // #solution
    block_forward_v2(block, tokens, cache, work, stream);
    // #end
    // #starter forward_checked(block, tokens, cache, work, stream, run_block);
}

void block_decode(const Block& block,
                  const BlockCache& cache,
                  const __nv_bfloat16* x,
                  __nv_bfloat16* y,
                  const BlockWorkspace& work,
                  cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    // #solution
    block_decode_v3(block, cache, x, y, work, stream);
    // #end
    // #starter decode_checked(block, cache, x, y, work, stream, run_block);
}
// #endregion contract
