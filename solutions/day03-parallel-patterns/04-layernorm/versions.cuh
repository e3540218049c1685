// versions.cuh: versions by the names under which tests and benchmarks run them. What
// is not listed, all of fp16 and the rest of RMSNorm, has the same templates; of those
// functions the tests run the contract's version.
#pragma once

constexpr auto& layer_norm_v1 = norm_v1<float, true>;
constexpr auto& layer_norm_v2 = norm_v2<float, true>;
constexpr auto& layer_norm_v3 = norm_v3<float, true>;
constexpr auto& layer_norm_v4 = norm_v4<float, true>;
WB_RUNG(layer_norm, layer_norm_v1, "two passes, then y");
WB_RUNG(layer_norm, layer_norm_v2, "Welford, then y");
WB_RUNG(layer_norm, layer_norm_v3, "one read: a row in registers");
WB_RUNG(layer_norm, layer_norm_v4, "16 bytes at a time");

constexpr auto& layer_norm_bf16_v1 = norm_v1<Bf16, true>;
constexpr auto& layer_norm_bf16_v2 = norm_v2<Bf16, true>;
constexpr auto& layer_norm_bf16_v3 = norm_v3<Bf16, true>;
constexpr auto& layer_norm_bf16_v4 = norm_v4<Bf16, true>;
WB_RUNG(layer_norm_bf16, layer_norm_bf16_v1, "two passes, then y");
WB_RUNG(layer_norm_bf16, layer_norm_bf16_v2, "Welford, then y");
WB_RUNG(layer_norm_bf16, layer_norm_bf16_v3, "one read: a row in registers");
WB_RUNG(layer_norm_bf16, layer_norm_bf16_v4, "16 bytes at a time");

constexpr auto& rms_norm_bf16_v1 = norm_v1<Bf16, false>;
constexpr auto& rms_norm_bf16_v3 = norm_v3<Bf16, false>;
constexpr auto& rms_norm_bf16_v4 = norm_v4<Bf16, false>;
WB_RUNG(rms_norm_bf16, rms_norm_bf16_v1, "one pass, then y");
WB_RUNG(rms_norm_bf16, rms_norm_bf16_v3, "one read: a row in registers");
WB_RUNG(rms_norm_bf16, rms_norm_bf16_v4, "16 bytes at a time");

constexpr auto& layer_norm_backward_v1 = norm_backward_v1<float, true>;
constexpr auto& layer_norm_backward_v4 = norm_backward_v4<float, true>;
WB_RUNG(layer_norm_backward, layer_norm_backward_v1, "dx, then the columns");
WB_RUNG(layer_norm_backward, layer_norm_backward_v4, "one pass, sums in registers");

constexpr auto& layer_norm_backward_bf16_v1 = norm_backward_v1<Bf16, true>;
constexpr auto& layer_norm_backward_bf16_v4 = norm_backward_v4<Bf16, true>;
WB_RUNG(layer_norm_backward_bf16, layer_norm_backward_bf16_v1, "dx, then the columns");
WB_RUNG(layer_norm_backward_bf16,
        layer_norm_backward_bf16_v4,
        "one pass, sums in registers");

constexpr auto& rms_norm_backward_bf16_v1 = norm_backward_v1<Bf16, false>;
constexpr auto& rms_norm_backward_bf16_v4 = norm_backward_v4<Bf16, false>;
WB_RUNG(rms_norm_backward_bf16, rms_norm_backward_bf16_v1, "dx, then the columns");
WB_RUNG(rms_norm_backward_bf16,
        rms_norm_backward_bf16_v4,
        "one pass, sums in registers");
