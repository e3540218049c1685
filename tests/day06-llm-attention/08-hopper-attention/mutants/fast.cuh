// The second stage's loop for bf16, D = 64 and dense tensors alone, for the .diff files
// that edit it: for all of the contract, each would take seconds to compile.
#include "hopper_attention.h"

#include <wb/errors.h>

#include "../../solutions/day06-llm-attention/08-hopper-attention/04_overlap.cuh"

[[noreturn]] static void not_here() {
    throw wb::NotSolved("this mutant has bf16 and D = 64 in a dense tensor only");
}

void hopper_attention(const wb::AttentionShape& shape,
                      const __nv_bfloat16* q,
                      const __nv_bfloat16* k,
                      const __nv_bfloat16* v,
                      __nv_bfloat16* o,
                      float* lse,
                      cudaStream_t stream) {
    Call call;
    if (!dense_call(shape, q, k, v, o, lse, stream, call)) return;
    if (call.q.head_dim != 64) not_here();
    using Sizes = OverlapSizes<__nv_bfloat16, 64>;
    launch_tiles<Sizes>(hopper_attention_kernel<OverlapConsumer, Sizes, Source::dense>,
                        Sizes::kThreads,
                        0,
                        call);
}

void hopper_attention(const wb::AttentionShape& shape,
                      const __half* q,
                      const __half* k,
                      const __half* v,
                      __half* o,
                      float* lse,
                      cudaStream_t stream) {
    Call call;
    if (dense_call(shape, q, k, v, o, lse, stream, call)) not_here();
}

void hopper_attention_packed(const PackedShape&,
                             const __half*,
                             const __half*,
                             const __half*,
                             const int32_t*,
                             const int32_t*,
                             __half*,
                             float*,
                             cudaStream_t) {
    not_here();
}

void hopper_attention_packed(const PackedShape&,
                             const __nv_bfloat16*,
                             const __nv_bfloat16*,
                             const __nv_bfloat16*,
                             const int32_t*,
                             const int32_t*,
                             __nv_bfloat16*,
                             float*,
                             cudaStream_t) {
    not_here();
}

void hopper_attention_paged(const PackedShape&,
                            const wb::PagedCache&,
                            const __nv_bfloat16*,
                            const int32_t*,
                            __nv_bfloat16*,
                            float*,
                            const wb::PagedWorkspace&,
                            cudaStream_t) {
    not_here();
}
