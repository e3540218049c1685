// versions.cuh: v8 to v11 of each function, by the names under which tests and
// benchmarks run them.
#pragma once

constexpr auto& reduce_sum_v8 = reduce_v8<Sum>;
constexpr auto& reduce_sum_v9 = reduce_v9<Sum>;
constexpr auto& reduce_sum_v10 = reduce_v10<Sum>;
constexpr auto& reduce_sum_v11 = reduce_v10<SumCompensated>;
WB_RUNG(reduce_sum, reduce_sum_v8, "shuffles");
WB_RUNG(reduce_sum, reduce_sum_v9, "one kernel: the last block adds");
WB_RUNG(reduce_sum, reduce_sum_v10, "float4, tiles");
WB_RUNG(reduce_sum, reduce_sum_v11, "v10 with compensated sums");

constexpr auto& reduce_sum_bf16_v8 = reduce_v8<SumBf16>;
constexpr auto& reduce_sum_bf16_v9 = reduce_v9<SumBf16>;
constexpr auto& reduce_sum_bf16_v10 = reduce_v10<SumBf16>;
WB_RUNG(reduce_sum_bf16, reduce_sum_bf16_v8, "shuffles");
WB_RUNG(reduce_sum_bf16, reduce_sum_bf16_v9, "one kernel: the last block adds");
WB_RUNG(reduce_sum_bf16, reduce_sum_bf16_v10, "16 bytes at a time, tiles");

constexpr auto& reduce_sum_i32_v8 = reduce_v8<SumI32>;
constexpr auto& reduce_sum_i32_v9 = reduce_v9<SumI32>;
constexpr auto& reduce_sum_i32_v10 = reduce_v10<SumI32>;
WB_RUNG(reduce_sum_i32, reduce_sum_i32_v8, "shuffles");
WB_RUNG(reduce_sum_i32, reduce_sum_i32_v9, "one kernel, __reduce_add_sync");
WB_RUNG(reduce_sum_i32, reduce_sum_i32_v10, "int4, tiles");

constexpr auto& reduce_max_v8 = reduce_v8<Max>;
constexpr auto& reduce_max_v9 = reduce_v9<Max>;
constexpr auto& reduce_max_v10 = reduce_v10<Max>;
WB_RUNG(reduce_max, reduce_max_v8, "shuffles");
WB_RUNG(reduce_max, reduce_max_v9, "one kernel: the last block adds");
WB_RUNG(reduce_max, reduce_max_v10, "float4, tiles");

constexpr auto& reduce_argmax_v8 = reduce_v8<ArgMax>;
constexpr auto& reduce_argmax_v9 = reduce_v9<ArgMax>;
constexpr auto& reduce_argmax_v10 = reduce_v10<ArgMax>;
WB_RUNG(reduce_argmax, reduce_argmax_v8, "shuffles");
WB_RUNG(reduce_argmax, reduce_argmax_v9, "one kernel: the last block adds");
WB_RUNG(reduce_argmax, reduce_argmax_v10, "float4, tiles");
