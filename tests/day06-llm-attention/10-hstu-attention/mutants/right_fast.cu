// v3 of the solution as the contract's functions, for the .diff files that edit it: its
// kernels for bf16 and D = 32, where they are rejected. This is the forward pass,
// right_fast_backward.cu the other one. All else is v2, which is given. One type and
// one size instead of eight: compilers take that much less time.
#include "hstu_attention.h"

#include <type_traits>

#define WB_VERSION_ONLY
#include "../../solutions/day06-llm-attention/10-hstu-attention/hstu_attention_fast.cu"

/// Whether v3 makes the forward pass of a type, and whether the backward pass.
#ifdef WB_RIGHT_BACKWARD
template <class T>
constexpr bool kForward = false;
template <class T>
constexpr bool kBackward = std::is_same_v<T, __nv_bfloat16>;
#else
template <class T>
constexpr bool kForward = std::is_same_v<T, __nv_bfloat16>;
template <class T>
constexpr bool kBackward = false;
#endif

template <class T>
static bool has_bias(const HstuCall<T>& call) {
    return call.bias.positions != nullptr || call.bias.times != nullptr;
}

template <bool kHasBias, class T>
static void right_attention(const HstuCall<T>& call, cudaStream_t stream) {
    const auto kernel = hstu_attention_v3_kernel<T, 32, kHasBias>;
    kernel<<<tile_grid<BM>(call), kMmaThreads, kBytesV3<32>, stream>>>(call);
    CUDA_CHECK_LAUNCH();
}

template <bool kHasBias, class T>
static void right_backward(const HstuCall<T>& call,
                           const HstuGradients<T>& out,
                           cudaStream_t stream) {
    constexpr size_t kBytes = kBackwardBytesV3<32, kHasBias>;
    static_assert(kBytes <= 48 * 1024, "more has to be asked for");
    const auto queries = hstu_backward_v3_kernel<T, 32, Gradient::dq, kHasBias>;
    const auto keys = hstu_backward_v3_kernel<T, 32, Gradient::dk_dv, kHasBias>;
    clear_bias_gradients(call, out, stream);
    queries<<<tile_grid<BM>(call), kMmaThreads, kBytes, stream>>>(call, out);
    CUDA_CHECK_LAUNCH();
    keys<<<tile_grid<BM>(call), kMmaThreads, kBytes, stream>>>(call, out);
    CUDA_CHECK_LAUNCH();
}

template <class T>
static void attention(const char* function,
                      const HstuCall<T>& call,
                      cudaStream_t stream) {
    if (!forward_has_work(function, call)) return;
    if constexpr (kForward<T>) {
        if (call.head_dim == 32)
            return has_bias(call) ? right_attention<true>(call, stream)
                                  : right_attention<false>(call, stream);
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
    if constexpr (kBackward<T>) {
        if (call.head_dim == 32)
            return has_bias(call) ? right_backward<true>(call, out, stream)
                                  : right_backward<false>(call, out, stream);
    }
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
