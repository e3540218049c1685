/// contract.h: given with this exercise: the functions of the contract. They check
/// their arguments and call forward() and backward().
/// There is nothing to write here.
#pragma once

#include "checks.h"

void layernorm_add(const FusedNorm<float>& norm, cudaStream_t stream) {
    forward<Kind::norm_add>("layernorm_add", norm, stream);
}
void layernorm_add_fp16(const FusedNorm<Half>& norm, cudaStream_t stream) {
    forward<Kind::norm_add>("layernorm_add_fp16", norm, stream);
}
void layernorm_add_bf16(const FusedNorm<Bf16>& norm, cudaStream_t stream) {
    forward<Kind::norm_add>("layernorm_add_bf16", norm, stream);
}

void add_layernorm(const FusedNorm<float>& norm, cudaStream_t stream) {
    forward<Kind::add_norm>("add_layernorm", norm, stream);
}
void add_layernorm_fp16(const FusedNorm<Half>& norm, cudaStream_t stream) {
    forward<Kind::add_norm>("add_layernorm_fp16", norm, stream);
}
void add_layernorm_bf16(const FusedNorm<Bf16>& norm, cudaStream_t stream) {
    forward<Kind::add_norm>("add_layernorm_bf16", norm, stream);
}

void norm_mul_dropout(const FusedNorm<float>& norm, cudaStream_t stream) {
    forward<Kind::norm_mul>("norm_mul_dropout", norm, stream);
}
void norm_mul_dropout_bf16(const FusedNorm<Bf16>& norm, cudaStream_t stream) {
    forward<Kind::norm_mul>("norm_mul_dropout_bf16", norm, stream);
}

void norm_mul_dropout_backward(const FusedNormGradient<float>& norm,
                               cudaStream_t stream) {
    backward("norm_mul_dropout_backward", norm, stream);
}
void norm_mul_dropout_backward_bf16(const FusedNormGradient<Bf16>& norm,
                                    cudaStream_t stream) {
    backward("norm_mul_dropout_backward_bf16", norm, stream);
}
