// v3 and v4 of the solution as the contract's functions, for the .diff files that edit
// them: of v3 the kernels for bf16 and D = 32, of v4 those for bf16 and D = 64. All
// else is v2, which is given. Compilers take that much less time than for all types and
// sizes; and the edits are of fast_forward.cuh, fast_backward.cuh, wgmma.cuh or
// wgmma_backward.cuh, which leave one of the four.
#include "hstu_attention.h"

#include <type_traits>

#define WB_VERSION_ONLY
#include "../../solutions/day06-llm-attention/10-hstu-attention/hstu_attention_fast.cu"

template <class T>
constexpr bool kIsBf16 = std::is_same_v<T, __nv_bfloat16>;

template <class T>
static bool has_bias(const HstuCall<T>& call) {
    return call.bias.positions != nullptr || call.bias.times != nullptr;
}

#ifndef WB_NO_WGMMA
#include "../../solutions/day06-llm-attention/10-hstu-attention/04_wgmma.cuh"
#endif
#ifdef WB_WGMMA_BACKWARD
#include "../../solutions/day06-llm-attention/10-hstu-attention/04_backward.cuh"
#endif

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

/// The forward pass, if it is one of those that are made here.
template <class T>
static bool attention_is_done(const HstuCall<T>& call, cudaStream_t stream) {
    if constexpr (kIsBf16<T>) {
#if !defined(WB_NO_WGMMA) && !defined(WB_WGMMA_BACKWARD)
        if (call.head_dim == 64 && has_wgmma_kernel(call))
            return launch_hstu_attention_v4<64>(call, stream);
#endif
#ifndef WB_NO_FORWARD
        if (call.head_dim == 32) {
            has_bias(call) ? right_attention<true>(call, stream)
                           : right_attention<false>(call, stream);
            return true;
        }
#endif
    }
    return false;
}

/// The same of the backward pass.
template <class T>
static bool backward_is_done(const HstuCall<T>& call,
                             const HstuGradients<T>& out,
                             cudaStream_t stream) {
#ifdef WB_WGMMA_BACKWARD
    if constexpr (kIsBf16<T>) {
        if (call.head_dim == 64 && has_wgmma_kernel(call))
            return launch_hstu_backward_v4<64, Gradient::dq>(call, out, stream) &&
                   launch_hstu_backward_v4<64, Gradient::dk_dv>(call, out, stream);
    }
#endif
#ifndef WB_NO_BACKWARD
    if constexpr (kIsBf16<T>) {
        if (call.head_dim == 32) {
            has_bias(call) ? right_backward<true>(call, out, stream)
                           : right_backward<false>(call, out, stream);
            return true;
        }
    }
#endif
    return false;
}

template <class T>
static void attention(const char* function,
                      const HstuCall<T>& call,
                      cudaStream_t stream) {
    if (!forward_has_work(function, call)) return;
    if (!attention_is_done(call, stream)) hstu_attention_v2(call, stream);
}

template <class T>
static void backward(const char* function,
                     const HstuCall<T>& call,
                     const HstuGradients<T>& out,
                     cudaStream_t stream) {
    check_backward(function, call, out);
    if (call.total == 0) return clear_bias_gradients(call, out, stream);
    if (!backward_is_done(call, out, stream)) hstu_backward_v2(call, out, stream);
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
