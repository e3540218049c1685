// fp8_attention.cu: the contract of fp8_attention.h, checked; 06_fp8.cuh has the rest.
#include "fp8_attention.h"

#include <wb/arguments.h>

#include <algorithm>

#include "06_fp8.cuh"
#include "calls.h"

void hopper_attention_fp8(const wb::AttentionShape& shape,
                          const __nv_bfloat16* q,
                          const __nv_bfloat16* k,
                          const __nv_bfloat16* v,
                          __nv_bfloat16* o,
                          float* lse,
                          cudaStream_t stream) {
    const wb::Arguments arguments("hopper_attention_fp8");
    arguments.require(shape.head_dim == SizesFp8::D,
                      "shape.head_dim",
                      shape.head_dim,
                      "must be 128 for e4m3; hopper_attention takes 64 and 256, too");
    arguments.require(shape.batch * std::max(shape.query_heads, shape.kv_heads) < 65536,
                      "shape.batch * heads",
                      shape.batch * std::max(shape.query_heads, shape.kv_heads),
                      "must be below 65536");
    Call call;
    if (!dense_call(shape, q, k, v, o, lse, stream, call)) return;
    hopper_attention_v6(shape, call);
}
