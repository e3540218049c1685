// The contract around attend(), for bf16, one D and dense tensors alone: for the .diff
// files that edit one kernel. With all of the contract, each would take seconds to
// compile.
#pragma once

#include "hopper_attention.h"

#include <wb/errors.h>

#include "calls.h"

// Of the file that includes this one.
static int its_head_dim();
static void attend(const Call& call);

[[noreturn]] static void not_here() {
    throw wb::NotSolved("this mutant has bf16 and one D in a dense tensor only");
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
    if (call.q.head_dim != its_head_dim()) not_here();
    attend(call);
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
