// versions.cuh: v1 to v8 for each type, by the names under which tests and benchmarks
// run them.
#pragma once

constexpr auto& mma_sync_fp16_v1 = mma_sync_v1<__half>;
constexpr auto& mma_sync_fp16_v2 = mma_sync_v2<__half>;
constexpr auto& mma_sync_fp16_v3 = mma_sync_v3<__half>;
constexpr auto& mma_sync_fp16_v4 = mma_sync_v4<__half>;
constexpr auto& mma_sync_fp16_v5 = mma_sync_v5<__half>;
constexpr auto& mma_sync_fp16_v6 = mma_sync_v6<__half>;
constexpr auto& mma_sync_fp16_v7 = mma_sync_v7<__half>;
constexpr auto& mma_sync_fp16_v8 = mma_sync_v8<__half>;
WB_RUNG(mma_sync_fp16, mma_sync_fp16_v1, "one warp a tile, loaded by hand");
WB_RUNG(mma_sync_fp16, mma_sync_fp16_v2, "tiles in shared memory, and ldmatrix");
WB_RUNG(mma_sync_fp16, mma_sync_fp16_v3, "chunks swizzled, no padding");
WB_RUNG(mma_sync_fp16, mma_sync_fp16_v4, "cp.async, three stages, 64 x 32 a warp");
WB_RUNG(mma_sync_fp16, mma_sync_fp16_v5, "64 x 64 a warp, blocks in squares");
WB_RUNG(mma_sync_fp16, mma_sync_fp16_v6, "K split where C is small");
WB_RUNG(mma_sync_fp16, mma_sync_fp16_v7, "equal shares of all steps");
WB_RUNG(mma_sync_fp16, mma_sync_fp16_v8, "clusters add parts, 64 k a stage");

constexpr auto& mma_sync_bf16_v1 = mma_sync_v1<__nv_bfloat16>;
constexpr auto& mma_sync_bf16_v2 = mma_sync_v2<__nv_bfloat16>;
constexpr auto& mma_sync_bf16_v3 = mma_sync_v3<__nv_bfloat16>;
constexpr auto& mma_sync_bf16_v4 = mma_sync_v4<__nv_bfloat16>;
constexpr auto& mma_sync_bf16_v5 = mma_sync_v5<__nv_bfloat16>;
constexpr auto& mma_sync_bf16_v6 = mma_sync_v6<__nv_bfloat16>;
constexpr auto& mma_sync_bf16_v7 = mma_sync_v7<__nv_bfloat16>;
constexpr auto& mma_sync_bf16_v8 = mma_sync_v8<__nv_bfloat16>;
WB_RUNG(mma_sync_bf16, mma_sync_bf16_v1, "one warp a tile, loaded by hand");
WB_RUNG(mma_sync_bf16, mma_sync_bf16_v2, "tiles in shared memory, and ldmatrix");
WB_RUNG(mma_sync_bf16, mma_sync_bf16_v3, "chunks swizzled, no padding");
WB_RUNG(mma_sync_bf16, mma_sync_bf16_v4, "cp.async, three stages, 64 x 32 a warp");
WB_RUNG(mma_sync_bf16, mma_sync_bf16_v5, "64 x 64 a warp, blocks in squares");
WB_RUNG(mma_sync_bf16, mma_sync_bf16_v6, "K split where C is small");
WB_RUNG(mma_sync_bf16, mma_sync_bf16_v7, "equal shares of all steps");
WB_RUNG(mma_sync_bf16, mma_sync_bf16_v8, "clusters add parts, 64 k a stage");
