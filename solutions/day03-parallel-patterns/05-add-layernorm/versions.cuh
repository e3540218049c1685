// versions.cuh: versions by the names under which tests and benchmarks run them. What
// is not listed, all of fp16 among it, has the same templates; of those functions the
// tests run the contract's version.
#pragma once

/// v3 is v4 with one element an access, whatever the rows are.
template <Kind kKind, class T>
static void launch_v3(const FusedNorm<T>& norm, cudaStream_t stream) {
    launch_fused<kKind, 1>(norm, false, stream);
}
template <Kind kKind, class T>
static void launch_v4(const FusedNorm<T>& norm, cudaStream_t stream) {
    launch_vectors<kKind>(norm, false, stream);
}

constexpr auto& add_layernorm_v1 = launch_v1<Kind::add_norm, float>;
constexpr auto& add_layernorm_v2 = launch_v2<Kind::add_norm, float>;
constexpr auto& add_layernorm_v3 = launch_v3<Kind::add_norm, float>;
constexpr auto& add_layernorm_v4 = launch_v4<Kind::add_norm, float>;
constexpr auto& add_layernorm_v5 = launch_v5<Kind::add_norm, float>;
WB_RUNG(add_layernorm, add_layernorm_v1, "two launches: add, then norm");
WB_RUNG(add_layernorm, add_layernorm_v2, "one launch, three passes");
WB_RUNG(add_layernorm, add_layernorm_v3, "one read: the row in registers");
WB_RUNG(add_layernorm, add_layernorm_v4, "16 bytes at a time");
WB_RUNG(add_layernorm, add_layernorm_v5, "few rows: a thread for a vector");

constexpr auto& add_layernorm_bf16_v1 = launch_v1<Kind::add_norm, Bf16>;
constexpr auto& add_layernorm_bf16_v2 = launch_v2<Kind::add_norm, Bf16>;
constexpr auto& add_layernorm_bf16_v3 = launch_v3<Kind::add_norm, Bf16>;
constexpr auto& add_layernorm_bf16_v4 = launch_v4<Kind::add_norm, Bf16>;
constexpr auto& add_layernorm_bf16_v5 = launch_v5<Kind::add_norm, Bf16>;
WB_RUNG(add_layernorm_bf16, add_layernorm_bf16_v1, "two launches: add, then norm");
WB_RUNG(add_layernorm_bf16, add_layernorm_bf16_v2, "one launch, three passes");
WB_RUNG(add_layernorm_bf16, add_layernorm_bf16_v3, "one read: the row in registers");
WB_RUNG(add_layernorm_bf16, add_layernorm_bf16_v4, "16 bytes at a time");
WB_RUNG(add_layernorm_bf16, add_layernorm_bf16_v5, "few rows: a thread for a vector");

constexpr auto& layernorm_add_bf16_v2 = launch_v2<Kind::norm_add, Bf16>;
constexpr auto& layernorm_add_bf16_v3 = launch_v3<Kind::norm_add, Bf16>;
constexpr auto& layernorm_add_bf16_v4 = launch_v4<Kind::norm_add, Bf16>;
constexpr auto& layernorm_add_bf16_v5 = launch_v5<Kind::norm_add, Bf16>;
WB_RUNG(layernorm_add_bf16, layernorm_add_bf16_v2, "one launch, three passes");
WB_RUNG(layernorm_add_bf16, layernorm_add_bf16_v3, "one read: the row in registers");
WB_RUNG(layernorm_add_bf16, layernorm_add_bf16_v4, "16 bytes at a time");
WB_RUNG(layernorm_add_bf16, layernorm_add_bf16_v5, "few rows: a thread for a vector");

constexpr auto& norm_mul_dropout_bf16_v2 = launch_v2<Kind::norm_mul, Bf16>;
constexpr auto& norm_mul_dropout_bf16_v5 = launch_v5<Kind::norm_mul, Bf16>;
WB_RUNG(norm_mul_dropout_bf16, norm_mul_dropout_bf16_v2, "one launch, three passes");
WB_RUNG(norm_mul_dropout_bf16,
        norm_mul_dropout_bf16_v5,
        "one read, ten rounds for four");

constexpr auto& norm_mul_dropout_backward_bf16_v2 = launch_backward_v2<Bf16>;
constexpr auto& norm_mul_dropout_backward_bf16_v5 = launch_backward_v5<Bf16>;
WB_RUNG(norm_mul_dropout_backward_bf16,
        norm_mul_dropout_backward_bf16_v2,
        "dx and dmul, then the columns");
WB_RUNG(norm_mul_dropout_backward_bf16,
        norm_mul_dropout_backward_bf16_v5,
        "one pass, sums in registers");
