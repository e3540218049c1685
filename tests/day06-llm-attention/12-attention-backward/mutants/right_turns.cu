// v6 of the solution as the contract's function for bf16 and D = 64: for .diff files
// that edit 06_turns.cuh. The rest is what learners are given with the second stage.
#include "attention_backward.h"
#include "plain.h"

/// What v6 leaves to v3: nothing to add up.
static void attention_backward_v3(const AttentionBackward<__nv_bfloat16>& call,
                                  cudaStream_t stream) {
    plain_backward(call, stream);
}

#include "../../../../solutions/day06-llm-attention/12-attention-backward/05_wgmma.cuh"
#include "../../../../solutions/day06-llm-attention/12-attention-backward/06_turns.cuh"

void attention_backward_fp32(const AttentionBackward<float>& call,
                             cudaStream_t stream) {
    if (has_work("attention_backward_fp32", call)) plain_backward(call, stream);
}

void attention_backward_bf16(const AttentionBackward<__nv_bfloat16>& call,
                             cudaStream_t stream) {
    require_sm_80("attention_backward_bf16");
    if (!has_work("attention_backward_bf16", call)) return;
    if (call.shape.head_dim == 64)
        attention_backward_v6<64>(call, stream);
    else
        plain_backward(call, stream);
}
