// versions.cuh: v8 to v11 of each function, by the names under which tests and
// benchmarks run them.
#pragma once

static void reduce_sum_v8(
    const float* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    reduce_v8<Sum>(x, result, n, counter, stream);
}

static void reduce_sum_v9(
    const float* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    reduce_v9<Sum>(x, result, n, counter, stream);
}

static void reduce_sum_v10(
    const float* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    reduce_v10<Sum>(x, result, n, counter, stream);
}

static void reduce_sum_v11(
    const float* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    reduce_v10<SumCompensated>(x, result, n, counter, stream);
}

WB_RUNG(reduce_sum, reduce_sum_v8, "shuffles");
WB_RUNG(reduce_sum, reduce_sum_v9, "one kernel: the last block adds");
WB_RUNG(reduce_sum, reduce_sum_v10, "float4, tiles");
WB_RUNG(reduce_sum, reduce_sum_v11, "v10 with compensated sums");

static void reduce_sum_bf16_v8(
    const bf16* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    reduce_v8<SumBf16>(x, result, n, counter, stream);
}

static void reduce_sum_bf16_v9(
    const bf16* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    reduce_v9<SumBf16>(x, result, n, counter, stream);
}

static void reduce_sum_bf16_v10(
    const bf16* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    reduce_v10<SumBf16>(x, result, n, counter, stream);
}

WB_RUNG(reduce_sum_bf16, reduce_sum_bf16_v8, "shuffles");
WB_RUNG(reduce_sum_bf16, reduce_sum_bf16_v9, "one kernel: the last block adds");
WB_RUNG(reduce_sum_bf16, reduce_sum_bf16_v10, "16 bytes at a time, tiles");

static void reduce_sum_i32_v8(const int32_t* x,
                              int64_t* result,
                              int64_t n,
                              unsigned* counter,
                              cudaStream_t stream) {
    reduce_v8<SumI32>(x, result, n, counter, stream);
}

static void reduce_sum_i32_v9(const int32_t* x,
                              int64_t* result,
                              int64_t n,
                              unsigned* counter,
                              cudaStream_t stream) {
    reduce_v9<SumI32>(x, result, n, counter, stream);
}

static void reduce_sum_i32_v10(const int32_t* x,
                               int64_t* result,
                               int64_t n,
                               unsigned* counter,
                               cudaStream_t stream) {
    reduce_v10<SumI32>(x, result, n, counter, stream);
}

WB_RUNG(reduce_sum_i32, reduce_sum_i32_v8, "shuffles");
WB_RUNG(reduce_sum_i32, reduce_sum_i32_v9, "one kernel, __reduce_add_sync");
WB_RUNG(reduce_sum_i32, reduce_sum_i32_v10, "int4, tiles");

static void reduce_max_v8(
    const float* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    reduce_v8<Max>(x, result, n, counter, stream);
}

static void reduce_max_v9(
    const float* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    reduce_v9<Max>(x, result, n, counter, stream);
}

static void reduce_max_v10(
    const float* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    reduce_v10<Max>(x, result, n, counter, stream);
}

WB_RUNG(reduce_max, reduce_max_v8, "shuffles");
WB_RUNG(reduce_max, reduce_max_v9, "one kernel: the last block adds");
WB_RUNG(reduce_max, reduce_max_v10, "float4, tiles");

static void reduce_argmax_v8(const float* x,
                             int64_t* result,
                             int64_t n,
                             unsigned* counter,
                             cudaStream_t stream) {
    reduce_v8<ArgMax>(x, result, n, counter, stream);
}

static void reduce_argmax_v9(const float* x,
                             int64_t* result,
                             int64_t n,
                             unsigned* counter,
                             cudaStream_t stream) {
    reduce_v9<ArgMax>(x, result, n, counter, stream);
}

static void reduce_argmax_v10(const float* x,
                              int64_t* result,
                              int64_t n,
                              unsigned* counter,
                              cudaStream_t stream) {
    reduce_v10<ArgMax>(x, result, n, counter, stream);
}

WB_RUNG(reduce_argmax, reduce_argmax_v8, "shuffles");
WB_RUNG(reduce_argmax, reduce_argmax_v9, "one kernel: the last block adds");
WB_RUNG(reduce_argmax, reduce_argmax_v10, "float4, tiles");
