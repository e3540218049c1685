// versions.cuh: v1 to v6 for each type, by the names under which tests and benchmarks
// run them.
#pragma once

constexpr auto& wmma_fp16_v1 = wmma_v1<__half>;
constexpr auto& wmma_fp16_v2 = wmma_v2<__half>;
constexpr auto& wmma_fp16_v3 = wmma_v3<__half>;
constexpr auto& wmma_fp16_v4 = wmma_v4<__half>;
constexpr auto& wmma_fp16_v5 = wmma_v5<__half>;
constexpr auto& wmma_fp16_v6 = wmma_v6<__half>;
WB_RUNG(wmma_fp16, wmma_fp16_v1, "one warp a tile, from global memory");
WB_RUNG(wmma_fp16, wmma_fp16_v2, "tiles in shared memory");
WB_RUNG(wmma_fp16, wmma_fp16_v3, "4 x 2 fragments a warp");
WB_RUNG(wmma_fp16, wmma_fp16_v4, "16 bytes behind each row");
WB_RUNG(wmma_fp16, wmma_fp16_v5, "cp.async, four stages");
WB_RUNG(wmma_fp16, wmma_fp16_v6, "4 x 4 fragments a warp");

constexpr auto& wmma_bf16_v1 = wmma_v1<__nv_bfloat16>;
constexpr auto& wmma_bf16_v2 = wmma_v2<__nv_bfloat16>;
constexpr auto& wmma_bf16_v3 = wmma_v3<__nv_bfloat16>;
constexpr auto& wmma_bf16_v4 = wmma_v4<__nv_bfloat16>;
constexpr auto& wmma_bf16_v5 = wmma_v5<__nv_bfloat16>;
constexpr auto& wmma_bf16_v6 = wmma_v6<__nv_bfloat16>;
WB_RUNG(wmma_bf16, wmma_bf16_v1, "one warp a tile, from global memory");
WB_RUNG(wmma_bf16, wmma_bf16_v2, "tiles in shared memory");
WB_RUNG(wmma_bf16, wmma_bf16_v3, "4 x 2 fragments a warp");
WB_RUNG(wmma_bf16, wmma_bf16_v4, "16 bytes behind each row");
WB_RUNG(wmma_bf16, wmma_bf16_v5, "cp.async, four stages");
WB_RUNG(wmma_bf16, wmma_bf16_v6, "4 x 4 fragments a warp");

constexpr auto& wmma_tf32_v1 = wmma_v1<float>;
constexpr auto& wmma_tf32_v2 = wmma_v2<float>;
constexpr auto& wmma_tf32_v3 = wmma_v3<float>;
constexpr auto& wmma_tf32_v4 = wmma_v4<float>;
constexpr auto& wmma_tf32_v5 = wmma_v5<float>;
constexpr auto& wmma_tf32_v6 = wmma_v6<float>;
WB_RUNG(wmma_tf32, wmma_tf32_v1, "one warp a tile, from global memory");
WB_RUNG(wmma_tf32, wmma_tf32_v2, "tiles in shared memory");
WB_RUNG(wmma_tf32, wmma_tf32_v3, "4 x 2 fragments a warp");
WB_RUNG(wmma_tf32, wmma_tf32_v4, "16 bytes behind each row");
WB_RUNG(wmma_tf32, wmma_tf32_v5, "cp.async, four stages");
WB_RUNG(wmma_tf32, wmma_tf32_v6, "4 x 4 fragments a warp");
