/// transformer_block.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <wb/paged_cache.h>

#include <cstdint>

#include "../../day04-gemm/05-fused-epilogue/fused_epilogue.h"
#include "../02-gptq-int4/gptq_int4.h"
#include "../04-fp4-linear/fp4_linear.h"

// #region block
/// Where a block has its two LayerNorms.
///
///     pre    h = x + out(attention(norm1(x)))     y = h + ffn(norm2(h))
///     post   h = norm1(x + out(attention(x)))     y = norm2(h + ffn(h))
enum class NormPlace { pre, post };

/// How the weights of a layer are stored: 16 bits, chapter 02's GPTQ, chapter 04's FP4.
enum class WeightKind { bf16, int4, fp4 };

/// Sizes of a block.
struct BlockShape {
    int64_t d_model = 768;  ///< numbers of a token: heads * 64 or heads * 128
    int64_t heads = 12;
    int64_t d_ff = 3072;  ///< hidden numbers of a token, a multiple of 32
    NormPlace place = NormPlace::pre;
    Activation activation = Activation::gelu;
    float eps = 1e-5f;       ///< of both norms, > 0
    int64_t rotary_dim = 0;  ///< numbers of a head that turn with the position: even

    int64_t head_dim() const { return heads <= 0 ? 0 : d_model / heads; }
};

/// A layer: z = x w^T + bias, with N outputs and K inputs. Of its three kinds of
/// weights it has the one that `kind` names.
struct BlockLinear {
    WeightKind kind = WeightKind::bf16;
    const __nv_bfloat16* bias = nullptr;   ///< [N], or null: 0
    const __nv_bfloat16* dense = nullptr;  ///< [N, K]
    GptqTensors int4 = {};                 ///< of w^T, [K, N], zeros minus one
    int64_t int4_group = 128;              ///< of its rows
    const uint4* int4_packed = nullptr;    ///< by gptq_repack()
    Fp4Weights fp4 = {};                   ///< [N, K]
    Fp4Scales fp4_scales = Fp4Scales::nvfp4;
    const float* fp4_bias =
        nullptr;  ///< [N] the numbers of bias; null where it is null
};

/// The factors and summands of a LayerNorm, [d_model] each.
struct BlockNorm {
    const __nv_bfloat16* gamma = nullptr;
    const __nv_bfloat16* beta = nullptr;
};

/// A block's parameters, all of them in device memory, read only.
struct Block {
    BlockShape shape;
    BlockNorm norm1, norm2;
    BlockLinear qkv;   ///< [3 d_model, d_model]: rows of Q, of K, of V
    BlockLinear out;   ///< [d_model, d_model]
    BlockLinear up;    ///< [d_ff, d_model]
    BlockLinear down;  ///< [d_model, d_ff]

    bool is_quantized() const {
        return qkv.kind != WeightKind::bf16 || out.kind != WeightKind::bf16 ||
               up.kind != WeightKind::bf16 || down.kind != WeightKind::bf16;
    }
};
// #endregion block

// #region plan
/// Where the workspace of a call has what: offsets in bytes from its beginning, each a
/// multiple of 256.
struct BlockPlan {
    int64_t normed;     ///< bf16 [tokens, d_model] what a norm writes
    int64_t qkv;        ///< bf16 [tokens, 3 d_model] Q, K and V, before they turn
    int64_t queries;    ///< bf16 [tokens, d_model] Q by itself, turned
    int64_t attended;   ///< bf16 [tokens, d_model]
    int64_t middle;     ///< bf16 [tokens, d_model] h
    int64_t hidden;     ///< bf16 [tokens, d_ff] after the activation
    int64_t half_in;    ///< fp16 [tokens, the larger of d_model and d_ff] x of a layer
                        ///< in 4 bits; 0 bytes where there is none
    int64_t half_out;   ///< fp16 [tokens, the larger of 3 d_model and d_ff] its z
    int64_t sequences;  ///< int32 [tokens] whose token it is
    int64_t positions;  ///< int32 [tokens] which of its tokens
    int64_t bytes;      ///< all of it
};

/// Plans a workspace.
///
/// @param tokens  >= 0
/// @param keep    true: no two arrays share memory, so that all of them can be looked
///                at afterwards. false: hidden lies where qkv was, and attended where
///                normed was; nothing else shares memory
/// Throws wb::InvalidArgument for a shape that the contract does not allow
BlockPlan plan_block(const BlockShape& shape,
                     bool is_quantized,
                     int64_t tokens,
                     bool keep);

/// Memory of a call. Not for two streams at once.
struct BlockWorkspace {
    void* memory = nullptr;                     ///< device, aligned to 256
    int64_t bytes = 0;                          ///< plan_block().bytes or more
    bool keep = false;                          ///< as it was planned
    const wb::PagedWorkspace* pages = nullptr;  ///< for sequences * heads counters
};
// #endregion plan

// #region calls
/// Keys and values of tokens that were seen before.
struct BlockCache {
    wb::PagedCache pages;        ///< of this block; pages.lengths is not used
    int32_t* lengths = nullptr;  ///< [pages.batch] tokens of each sequence in the cache
    const float2* angles = nullptr;  ///< [angle_rows, rotary_dim / 2], of rope_angles()
    int64_t angle_rows = 0;          ///< pages.capacity() or more
};

/// Tokens of several sequences, one sequence behind the other, without padding.
struct BlockTokens {
    const __nv_bfloat16* x = nullptr;  ///< [tokens, d_model], 16-byte aligned
    __nv_bfloat16* y = nullptr;        ///< [tokens, d_model] written
    int64_t tokens = 0;
    int64_t sequences = 0;
    const int32_t* starts = nullptr;  ///< [sequences + 1] the first token of each; 0
                                      ///< is the first of them, `tokens` the last
    int64_t longest = 0;              ///< no sequence has more tokens
    bool causal = true;               ///< a token sees none that comes after it
};

/// The block, for whole sequences that begin at position 0:
///
///     n     = norm1(x)          for post: n = x
///     qkv   = n qkv.w^T + qkv.bias
///     q, k  turned by their positions, if rotary_dim > 0
///     a     = softmax(q k^T / sqrt(head_dim)) v     each head of each sequence
///     h     = x + a out.w^T + out.bias              for post: norm1 of it
///     m     = norm2(h)                              for post: m = h
///     f     = act(m up.w^T + up.bias)
///     y     = h + f down.w^T + down.bias            for post: norm2 of it
///
/// @param cache   null: keys and values are not kept, and rotary_dim is 0. Else they
///                are written to the pages of sequence s, 0 to pages.batch - 1, and
///                lengths[s] becomes the length of s
/// @param work    afterwards, with keep, the arrays of its plan hold qkv, attended,
///                middle and hidden, which may be compared with a reference, layer by
///                layer. What the others hold is not specified
/// @param stream  where the work is queued; the function returns without waiting
///
/// Numbers  every array is bf16; sums, statistics and softmax are floats. What a layer
///          has summed may be rounded to bf16 before bias, activation and residual, and
///          what norm1 and norm2 give before it is a layer's input; a layer in 4 bits
///          takes its input as fp16, and may round its sum to fp16 first
/// Error    of each array, given those before it as they are stored: chapter 04/05's
///          for a layer, 03/04's for a norm, 06/07's for attention, and the roundings
///          above
/// Throws   wb::InvalidArgument for sizes that are not as above, an array that is null,
///          on the host or not aligned (x, y: 16 bytes), weights whose lengths are not
///          those of the layer, a workspace that is too small, x or y that overlap each
///          other or the workspace, a cache of other heads; and on any other GPU than
///          one of compute capability 9.0. Nothing is launched then, nor without tokens
void block_forward(const Block& block,
                   const BlockTokens& tokens,
                   const BlockCache* cache,
                   const BlockWorkspace& work,
                   cudaStream_t stream);

/// One step of decoding: the next token of each of pages.batch sequences, which sees
/// all tokens of its sequence in the cache, and itself. As above, and
///
///     position of the token of s = lengths[s]
///     cache.pages at that position = its k, turned, and its v
///     lengths[s] grows by 1
///
/// so that the same call, or a graph captured from it, does the next step.
///
/// @param x  [pages.batch, d_model], y likewise
///
/// A sequence that its row of the block table has no room for, or without a page for
/// this token, is not written to the cache; its lengths[s] stays, if there is no room;
/// its row of y is not specified, all others are right, and work.pages->check() throws
/// wb::PagedCacheError.
///
/// Memory   none beyond the workspace, from the version on that says so
/// Traffic  all weights once, at least, and the keys and values that are seen
void block_decode(const Block& block,
                  const BlockCache& cache,
                  const __nv_bfloat16* x,
                  __nv_bfloat16* y,
                  const BlockWorkspace& work,
                  cudaStream_t stream);
// #endregion calls
