// v4 of the solution as the contract's function for bf16 and D = 64, for the .diff
// files that edit 04_wgmma.cuh. The rest is v2, which is given.
#include "hstu_attention.h"

#include <type_traits>

#include "checks.h"
#include "pieces.cuh"
#include "tiles.cuh"

/// v4 would leave some calls to v3; these do not get there.
template <class T>
static void hstu_attention_v3(const HstuCall<T>& call, cudaStream_t stream) {
    hstu_attention_v2(call, stream);
}

#include "../../../../solutions/day06-llm-attention/10-hstu-attention/04_wgmma.cuh"

template <class T>
static void attention(const char* function,
                      const HstuCall<T>& call,
                      cudaStream_t stream) {
    if (!forward_has_work(function, call)) return;
    if constexpr (std::is_same_v<T, __nv_bfloat16>) {
        if (call.head_dim == 64 && has_wgmma_kernel(call) &&
            launch_hstu_attention_v4<64>(call, stream))
            return;
    }
    hstu_attention_v2(call, stream);
}

template <class T>
static void backward(const char* function,
                     const HstuCall<T>& call,
                     const HstuGradients<T>& out,
                     cudaStream_t stream) {
    check_backward(function, call, out);
    if (call.total == 0) return clear_bias_gradients(call, out, stream);
    hstu_backward_v2(call, out, stream);
}

void hstu_attention_fp32(const HstuCall<float>& call, cudaStream_t stream) {
    attention("hstu_attention_fp32", call, stream);
}
void hstu_attention_fp16(const HstuCall<__half>& call, cudaStream_t stream) {
    attention("hstu_attention_fp16", call, stream);
}
void hstu_attention_bf16(const HstuCall<__nv_bfloat16>& call, cudaStream_t stream) {
    attention("hstu_attention_bf16", call, stream);
}
void hstu_backward_fp32(const HstuCall<float>& call,
                        const HstuGradients<float>& out,
                        cudaStream_t stream) {
    backward("hstu_backward_fp32", call, out, stream);
}
void hstu_backward_fp16(const HstuCall<__half>& call,
                        const HstuGradients<__half>& out,
                        cudaStream_t stream) {
    backward("hstu_backward_fp16", call, out, stream);
}
void hstu_backward_bf16(const HstuCall<__nv_bfloat16>& call,
                        const HstuGradients<__nv_bfloat16>& out,
                        cudaStream_t stream) {
    backward("hstu_backward_bf16", call, out, stream);
}
