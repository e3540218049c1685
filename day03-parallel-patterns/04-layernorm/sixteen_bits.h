/// sixteen_bits.h: given with this exercise: the functions of the contract for fp16 and
/// bf16. They call forward() and backward(), as those for floats do.
/// There is nothing to write here.
#pragma once

#include "layernorm.h"

void layer_norm_fp16(const Norm<Half>& norm, cudaStream_t stream) {
    forward<Half, true>("layer_norm_fp16", norm, stream);
}
void layer_norm_bf16(const Norm<Bf16>& norm, cudaStream_t stream) {
    forward<Bf16, true>("layer_norm_bf16", norm, stream);
}

void rms_norm_fp16(const Norm<Half>& norm, cudaStream_t stream) {
    forward<Half, false>("rms_norm_fp16", norm, stream);
}
void rms_norm_bf16(const Norm<Bf16>& norm, cudaStream_t stream) {
    forward<Bf16, false>("rms_norm_bf16", norm, stream);
}

void layer_norm_backward_fp16(const NormGradient<Half>& norm, cudaStream_t stream) {
    backward<Half, true>("layer_norm_backward_fp16", norm, stream);
}
void layer_norm_backward_bf16(const NormGradient<Bf16>& norm, cudaStream_t stream) {
    backward<Bf16, true>("layer_norm_backward_bf16", norm, stream);
}

void rms_norm_backward_fp16(const NormGradient<Half>& norm, cudaStream_t stream) {
    backward<Half, false>("rms_norm_backward_fp16", norm, stream);
}
void rms_norm_backward_bf16(const NormGradient<Bf16>& norm, cudaStream_t stream) {
    backward<Bf16, false>("rms_norm_backward_bf16", norm, stream);
}
