/// step.h: given with this exercise: what a step of the decoder is made of. Each
/// function is one launch, and is counted.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "decoder.h"

/// What the host has asked for: launches, and bytes of device memory that they read and
/// write by their contracts, with a full cache.
struct StepCounts {
    int64_t launches = 0;
    int64_t bytes = 0;
};

// #region step
/// One token. Layer l has the sub-layers 2 l, attention, and 2 l + 1, the MLP. Norm s
/// stands before sub-layer s; norm 2 * layers() stands before the logits.
class Step {
 public:
    Step(const Decoder& decoder, cudaStream_t stream) : d_(decoder), stream_(stream) {}

    int64_t layers() const { return d_.shape.gpt.layers; }
    bool is_parallel() const { return d_.shape.gpt.is_parallel; }

    void embed();                       ///< x = the token's row of embed_in
    void norm(int64_t norm);            ///< n = LayerNorm of x
    void qkv(int64_t layer);            ///< q, k, v = W_qkv n + b
    void rotate_append(int64_t layer);  ///< q and k turn; k and v go into the cache
    void qkv_append(int64_t layer);     ///< the two steps before in one launch
    void attend(int64_t layer);         ///< mixed = attention of q over the cache
    void out(int64_t layer);            ///< delta of attention = W_out mixed + b
    void up(int64_t layer);             ///< hidden = gelu(W_up n + b)
    void down(int64_t layer);           ///< delta of the MLP = W_down hidden + b
    void add(int64_t sub_layer);        ///< x = x + its delta
    /// x = x + delta of the sub-layer, then n = LayerNorm of x: your add_norm().
    void add_then_norm(int64_t sub_layer, int64_t norm);
    void logits();  ///< logits = W_embed_out n
    void pick();    ///< the next token; the position goes on
    // #endregion step

    /// What the report has put into its model (s0.cpp): x = x + LayerNorm of delta, and
    /// n = x.
    void layernorm_residual(int64_t sub_layer, int64_t norm);

    const StepCounts& counts() const { return counts_; }
    const Decoder& decoder() const { return d_; }

    // #region launches
    // For launches of your own, "Go faster":
    const float* weight(int64_t place) const { return d_.weights + place; }
    Pair norm_pair(int64_t norm) const;                     ///< of norm 0 to 2 layers()
    Pair of_layer(const Pair& first, int64_t layer) const;  ///< first: of layer 0
    cudaStream_t stream() const { return stream_; }
    void launched(int64_t numbers);  ///< counts one, which moves so many floats
    void added(int64_t sub_layer) { keep_trace(sub_layer + 1); }  ///< x has its delta
                                                                  // #endregion launches

 private:
    float* delta(int64_t sub_layer) const;
    void product(const float* in,
                 int64_t inputs,
                 const Pair& pair,
                 int64_t outputs,
                 bool is_gelu,
                 float* out);
    /// Keeps x for those who compare hidden states: place 0 is behind the embedding,
    /// place s + 1 behind sub-layer s.
    void keep_trace(int64_t place);

    Decoder d_;
    cudaStream_t stream_;
    StepCounts counts_;
};

// #region unfused
/// One token, each operation by itself.
inline void unfused_step(Step& s) {
    s.embed();
    for (int64_t layer = 0; layer < s.layers(); ++layer) {
        const int64_t attention = 2 * layer, mlp = attention + 1;
        s.norm(attention);
        s.qkv(layer);
        s.rotate_append(layer);
        s.attend(layer);
        s.out(layer);
        if (!s.is_parallel()) s.add(attention);
        s.norm(mlp);
        s.up(layer);
        s.down(layer);
        if (s.is_parallel()) s.add(attention);
        s.add(mlp);
    }
    s.norm(2 * s.layers());
    s.logits();
    s.pick();
}
// #endregion unfused

/// The report's first version: the fused kernel is in the program, and nobody calls it.
void s0_step_not_called(Step& step);

/// Its second version: the fused kernel is called, two times a layer.
void s0_step(Step& step);
