// versions.cuh: v1 to v7 for each type, by the names under which tests and benchmarks
// run them.
#pragma once

constexpr auto& wgmma_tma_bf16_v1 = wgmma_tma_v1<__nv_bfloat16>;
constexpr auto& wgmma_tma_bf16_v2 = wgmma_tma_v2<__nv_bfloat16>;
constexpr auto& wgmma_tma_bf16_v3 = wgmma_tma_v3<__nv_bfloat16>;
constexpr auto& wgmma_tma_bf16_v4 = wgmma_tma_v4<__nv_bfloat16>;
constexpr auto& wgmma_tma_bf16_v5 = wgmma_tma_v5<__nv_bfloat16>;
constexpr auto& wgmma_tma_bf16_v6 = wgmma_tma_v6<__nv_bfloat16>;
constexpr auto& wgmma_tma_bf16_v7 = wgmma_tma_v7<__nv_bfloat16>;
WB_RUNG(wgmma_tma_bf16, wgmma_tma_bf16_v1, "TMA and wgmma, one stage");
WB_RUNG(wgmma_tma_bf16, wgmma_tma_bf16_v2, "one warp produces, one group consumes");
WB_RUNG(wgmma_tma_bf16, wgmma_tma_bf16_v3, "128 x 256 tiles, two consumers");
WB_RUNG(wgmma_tma_bf16, wgmma_tma_bf16_v4, "clusters of two share B");
WB_RUNG(wgmma_tma_bf16, wgmma_tma_bf16_v5, "persistent, tiles in bands");
WB_RUNG(wgmma_tma_bf16, wgmma_tma_bf16_v6, "TMA stores C beside the next tile");
WB_RUNG(wgmma_tma_bf16, wgmma_tma_bf16_v7, "small C: K in parts");

constexpr auto& wgmma_tma_fp16_v1 = wgmma_tma_v1<__half>;
constexpr auto& wgmma_tma_fp16_v2 = wgmma_tma_v2<__half>;
constexpr auto& wgmma_tma_fp16_v3 = wgmma_tma_v3<__half>;
constexpr auto& wgmma_tma_fp16_v4 = wgmma_tma_v4<__half>;
constexpr auto& wgmma_tma_fp16_v5 = wgmma_tma_v5<__half>;
constexpr auto& wgmma_tma_fp16_v6 = wgmma_tma_v6<__half>;
constexpr auto& wgmma_tma_fp16_v7 = wgmma_tma_v7<__half>;
WB_RUNG(wgmma_tma_fp16, wgmma_tma_fp16_v1, "TMA and wgmma, one stage");
WB_RUNG(wgmma_tma_fp16, wgmma_tma_fp16_v2, "one warp produces, one group consumes");
WB_RUNG(wgmma_tma_fp16, wgmma_tma_fp16_v3, "128 x 256 tiles, two consumers");
WB_RUNG(wgmma_tma_fp16, wgmma_tma_fp16_v4, "clusters of two share B");
WB_RUNG(wgmma_tma_fp16, wgmma_tma_fp16_v5, "persistent, tiles in bands");
WB_RUNG(wgmma_tma_fp16, wgmma_tma_fp16_v6, "TMA stores C beside the next tile");
WB_RUNG(wgmma_tma_fp16, wgmma_tma_fp16_v7, "small C: K in parts");

WB_RUNG(wgmma_tma_fp8, wgmma_tma_fp8_v1, "TMA and wgmma, one stage");
WB_RUNG(wgmma_tma_fp8, wgmma_tma_fp8_v2, "one warp produces, one group consumes");
WB_RUNG(wgmma_tma_fp8, wgmma_tma_fp8_v3, "128 x 256 tiles, two consumers");
WB_RUNG(wgmma_tma_fp8, wgmma_tma_fp8_v4, "clusters of two share B");
WB_RUNG(wgmma_tma_fp8, wgmma_tma_fp8_v5, "persistent, tiles in bands");
WB_RUNG(wgmma_tma_fp8, wgmma_tma_fp8_v6, "TMA stores C beside the next tile");
WB_RUNG(wgmma_tma_fp8, wgmma_tma_fp8_v7, "small C: K in parts");
