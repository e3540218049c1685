/// calls.h: given with this exercise: what the contract refuses, and what a call knows.
/// There is nothing to write here.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/device.h>

#include <algorithm>
#include <string>

#include "transformer_block.h"

// #region call
/// A call of either function of the contract, checked.
struct Call {
    const Block& block;
    const BlockTokens& tokens;
    const BlockCache* cache;  ///< null: none
    const BlockWorkspace& work;
    bool decodes;
    cudaStream_t stream;
    BlockPlan plan;

    /// An array of the workspace.
    template <class T = __nv_bfloat16>
    T* at(int64_t offset) const {
        return reinterpret_cast<T*>(static_cast<char*>(work.memory) + offset);
    }
    const BlockShape& shape() const { return block.shape; }
    bool is_pre() const { return block.shape.place == NormPlace::pre; }
    /// Rows of each array.
    int64_t rows() const { return tokens.tokens; }
    /// The cache with its lengths, as attention takes it.
    wb::PagedCache pages() const {
        wb::PagedCache pages = cache->pages;
        pages.lengths = cache->lengths;
        return pages;
    }
};
// #endregion call

/// What the contract refuses.
class BlockArguments {
 public:
    explicit BlockArguments(const char* function) : a_(function) {}

    void of_shape(const BlockShape& s) const {
        constexpr int64_t kMost = int64_t{1} << 20;
        a_.positive("shape.heads", s.heads)
            .positive("shape.d_model", s.d_model)
            .positive("shape.d_ff", s.d_ff)
            .require(s.d_model <= kMost, "shape.d_model", s.d_model, "must be <= 2^20")
            .require(s.d_ff <= kMost, "shape.d_ff", s.d_ff, "must be <= 2^20")
            .require(s.d_model == 64 * s.heads || s.d_model == 128 * s.heads,
                     "shape.d_model",
                     s.d_model,
                     "must be 64 or 128 times shape.heads")
            .require(s.d_ff % 32 == 0, "shape.d_ff", s.d_ff, "must be a multiple of 32")
            .require(s.place == NormPlace::pre || s.place == NormPlace::post,
                     "shape.place",
                     static_cast<int64_t>(s.place),
                     "must be pre or post")
            .require(s.activation == Activation::none ||
                         s.activation == Activation::silu ||
                         s.activation == Activation::gelu,
                     "shape.activation",
                     static_cast<int64_t>(s.activation),
                     "must be none, silu or gelu")
            .above_zero("shape.eps", double{s.eps})
            .require(s.rotary_dim >= 0 && s.rotary_dim % 2 == 0 &&
                         s.rotary_dim <= s.head_dim(),
                     "shape.rotary_dim",
                     s.rotary_dim,
                     "must be even, from 0 to the head dimension");
    }

    void of_tokens(int64_t tokens) const {
        a_.size("tokens", tokens)
            .require(tokens <= int64_t{1} << 28, "tokens", tokens, "must be <= 2^28");
    }

    /// All of a call but x and y; false if there is nothing to do.
    bool has_work(const Block& block,
                  const BlockTokens& t,
                  const BlockCache* cache,
                  const BlockWorkspace& work) const {
        const BlockShape& s = block.shape;
        of_shape(s);
        of_tokens(t.tokens);
        a_.size("sequences", t.sequences);
        of_layer("qkv", block.qkv, 3 * s.d_model, s.d_model);
        of_layer("out", block.out, s.d_model, s.d_model);
        of_layer("up", block.up, s.d_ff, s.d_model);
        of_layer("down", block.down, s.d_model, s.d_ff);
        a_.device("norm1.gamma", block.norm1.gamma, s.d_model)
            .device("norm1.beta", block.norm1.beta, s.d_model)
            .device("norm2.gamma", block.norm2.gamma, s.d_model)
            .device("norm2.beta", block.norm2.beta, s.d_model);
        if (cache != nullptr) of_cache(s, t, *cache);
        a_.require(cache != nullptr || s.rotary_dim == 0,
                   "shape.rotary_dim",
                   s.rotary_dim,
                   "must be 0 without a cache");
        if (t.tokens == 0) return false;
        const BlockPlan plan = plan_block(s, block.is_quantized(), t.tokens, work.keep);
        a_.require(work.bytes >= plan.bytes,
                   "work.bytes",
                   work.bytes,
                   "is less than plan_block() says")
            .require(work.pages != nullptr, "work.pages", 0, "must not be null")
            .require(work.pages->num_counters() >= t.sequences * s.heads,
                     "work.pages->num_counters()",
                     work.pages->num_counters(),
                     "must be sequences * heads or more");
        a_.device("work.memory", static_cast<const char*>(work.memory), work.bytes);
        aligned("work.memory", work.memory, 256);
        const int64_t bytes = 2 * t.tokens * s.d_model;
        a_.device("x", t.x, bytes / 2).device("y", t.y, bytes / 2);
        aligned("x", t.x, 16);
        aligned("y", t.y, 16);
        a_.apart({{"x", t.x, bytes, false},
                  {"y", t.y, bytes, true},
                  {"work.memory", work.memory, work.bytes, true}});
        a_.require(wb::compute_capability() == 90,
                   "the GPU's compute capability, times 10",
                   wb::compute_capability(),
                   "must be 90: chapter 06/08 has attention for that one");
        return true;
    }

    /// The rest of block_forward().
    void of_sequences(const BlockTokens& t) const {
        a_.require(t.longest >= 0 && t.longest <= t.tokens,
                   "longest",
                   t.longest,
                   "must be from 0 to tokens")
            .device("starts", t.starts, t.sequences + 1);
    }

 private:
    void aligned(const char* name, const void* pointer, uintptr_t to) const {
        a_.require(reinterpret_cast<uintptr_t>(pointer) % to == 0,
                   name,
                   static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer)),
                   to == 16 ? "must be a multiple of 16" : "must be a multiple of 256");
    }

    void of_layer(const char* layer, const BlockLinear& l, int64_t N, int64_t K) const {
        const std::string prefix = std::string(layer) + ".";
        const auto name = [&](const char* field) { return prefix + field; };
        const auto length = [&](const char* field, int64_t given, int64_t wanted) {
            a_.require(given == wanted,
                       name(field).c_str(),
                       given,
                       "is not the length that the shape asks for");
        };
        a_.require(l.kind == WeightKind::bf16 || l.kind == WeightKind::int4 ||
                       l.kind == WeightKind::fp4,
                   name("kind").c_str(),
                   static_cast<int64_t>(l.kind),
                   "must be bf16, int4 or fp4");
        if (l.bias != nullptr) a_.device(name("bias").c_str(), l.bias, N);
        if (l.kind == WeightKind::bf16) {
            a_.device(name("dense").c_str(), l.dense, N * K);
            aligned(name("dense").c_str(), l.dense, 16);
            return;
        }
        if (l.kind == WeightKind::int4) {
            const int64_t group = l.int4_group == -1 ? K : l.int4_group;
            a_.require(group > 0 && K % group == 0,
                       name("int4_group").c_str(),
                       l.int4_group,
                       "must divide the layer's inputs");
            length("int4.qweight_words", l.int4.qweight_words, K / 8 * N);
            length("int4.qzeros_words", l.int4.qzeros_words, K / group * (N / 8));
            length("int4.num_scales", l.int4.num_scales, K / group * N);
            a_.device(name("int4.qweight").c_str(), l.int4.qweight, K / 8 * N)
                .device(name("int4.scales").c_str(), l.int4.scales, K / group * N)
                .device(name("int4_packed").c_str(), l.int4_packed, 1);
            return;
        }
        const Fp4Shape s = {1, N, K, l.fp4_scales};
        length("fp4.value_bytes", l.fp4.value_bytes, N * (K / 2));
        length("fp4.num_scales", l.fp4.num_scales, s.num_scales());
        a_.device(name("fp4.values").c_str(), l.fp4.values, N * (K / 2))
            .device(name("fp4.scales").c_str(),
                    static_cast<const char*>(l.fp4.scales),
                    s.num_scales() * s.bytes_of_scale());
        if (l.bias != nullptr) a_.device(name("fp4_bias").c_str(), l.fp4_bias, N);
    }

    void of_cache(const BlockShape& s,
                  const BlockTokens& t,
                  const BlockCache& cache) const {
        wb::PagedCache pages = cache.pages;
        pages.lengths = cache.lengths;
        wb::check_paged_cache(a_, pages);
        a_.require(pages.kv_heads == s.heads,
                   "cache.pages.kv_heads",
                   pages.kv_heads,
                   "must be shape.heads")
            .require(pages.head_dim == s.head_dim(),
                     "cache.pages.head_dim",
                     pages.head_dim,
                     "must be that of the shape")
            .require(pages.batch == t.sequences,
                     "cache.pages.batch",
                     pages.batch,
                     "must be the number of sequences")
            .require(s.rotary_dim == 0 || cache.angle_rows >= pages.capacity(),
                     "cache.angle_rows",
                     cache.angle_rows,
                     "must be cache.pages.capacity() or more")
            .device("cache.angles", cache.angles, cache.angle_rows * s.rotary_dim / 2);
    }

    wb::Arguments a_;
};

// #region checked
/// Checks a call, and runs it.
template <class Run>
void forward_checked(const Block& block,
                     const BlockTokens& tokens,
                     const BlockCache* cache,
                     const BlockWorkspace& work,
                     cudaStream_t stream,
                     Run run) {
    const BlockArguments arguments("block_forward");
    const bool has_work = arguments.has_work(block, tokens, cache, work);
    arguments.of_sequences(tokens);
    if (!has_work) return;
    run(Call{block,
             tokens,
             cache,
             work,
             false,
             stream,
             plan_block(block.shape, block.is_quantized(), tokens.tokens, work.keep)});
}

template <class Run>
void decode_checked(const Block& block,
                    const BlockCache& cache,
                    const __nv_bfloat16* x,
                    __nv_bfloat16* y,
                    const BlockWorkspace& work,
                    cudaStream_t stream,
                    Run run) {
    const int64_t batch = cache.pages.batch;
    const BlockTokens tokens = {x, y, batch, batch, nullptr, 1, true};
    if (!BlockArguments("block_decode").has_work(block, tokens, &cache, work)) return;
    run(Call{block,
             tokens,
             &cache,
             work,
             true,
             stream,
             plan_block(block.shape, block.is_quantized(), batch, work.keep)});
}
// #endregion checked
