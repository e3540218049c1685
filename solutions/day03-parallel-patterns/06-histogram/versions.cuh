// versions.cuh: the versions of each function, by the names under which tests and
// benchmarks run them.
#pragma once

constexpr auto& histogram_i32_v1 = histogram_v1<int32_t>;
constexpr auto& histogram_i32_v2 = histogram_v2<int32_t>;
constexpr auto& histogram_i32_v3 = histogram_v3<int32_t>;
constexpr auto& histogram_i32_v4 = histogram_v4<int32_t>;
constexpr auto& histogram_i32_v5 = histogram_v5<int32_t>;
constexpr auto& histogram_i32_v6 = histogram_v6<int32_t>;
constexpr auto& histogram_i32_v7 = histogram_v7<int32_t>;
WB_RUNG(histogram_i32, histogram_i32_v1, "global atomics");
WB_RUNG(histogram_i32, histogram_i32_v2, "bins in shared memory");
WB_RUNG(histogram_i32, histogram_i32_v3, "a copy a warp");
WB_RUNG(histogram_i32, histogram_i32_v4, "few bins in registers");
WB_RUNG(histogram_i32, histogram_i32_v5, "runs of equal values");
WB_RUNG(histogram_i32, histogram_i32_v6, "a copy a lane");
WB_RUNG(histogram_i32, histogram_i32_v7, "two counters in a word");

constexpr auto& histogram_u8_v1 = histogram_v1<uint8_t>;
constexpr auto& histogram_u8_v2 = histogram_v2<uint8_t>;
constexpr auto& histogram_u8_v3 = histogram_v3<uint8_t>;
constexpr auto& histogram_u8_v5 = histogram_v5<uint8_t>;
constexpr auto& histogram_u8_v6 = histogram_v6<uint8_t>;
WB_RUNG(histogram_u8, histogram_u8_v1, "global atomics");
WB_RUNG(histogram_u8, histogram_u8_v2, "bins in shared memory");
WB_RUNG(histogram_u8, histogram_u8_v3, "a copy a warp");
WB_RUNG(histogram_u8, histogram_u8_v5, "runs of equal values");
WB_RUNG(histogram_u8, histogram_u8_v6, "a copy a lane");
