// The right functions that the .diff files edit.
#include "reduction.h"

#include <wb/check.h>
#include <wb/scratch.h>

#include <algorithm>

#include "operations.h"

constexpr int64_t kMaxBlocks = 64;

template <class Op>
__device__ typename Op::Value block_reduce(typename Op::Value value) {
    __shared__ typename Op::Value s_values[kThreads];
    const int tid = threadIdx.x;
    s_values[tid] = value;
    __syncthreads();
    for (int active = kThreads / 2; active >= wb::kWarpSize; active /= 2) {
        if (tid < active)
            s_values[tid] = Op::combine(s_values[tid], s_values[tid + active]);
        __syncthreads();
    }
    value = s_values[tid];
    if (tid < wb::kWarpSize) {
        for (int distance = wb::kWarpSize / 2; distance > 0; distance /= 2)
            value = Op::combine(value, shuffle_down(value, distance));
    }
    return value;
}

template <class Op>
__global__ void reduce_kernel(const typename Op::In* x,
                              typename Op::Result* result,
                              typename Op::Value* partials,
                              unsigned* counter,
                              int64_t n) {
    __shared__ bool s_is_last;
    const int tid = threadIdx.x;
    auto value = Op::identity();
    const int64_t step = int64_t{gridDim.x} * kThreads;
    for (int64_t i = int64_t{blockIdx.x} * kThreads + tid; i < n; i += step)
        value = Op::combine(value, Op::make(x[i], i));
    value = block_reduce<Op>(value);
    if (tid == 0) {
        partials[blockIdx.x] = value;
        __threadfence();
        const unsigned before = atomicInc(counter, gridDim.x - 1);
        s_is_last = before == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!s_is_last) return;
    value = Op::identity();
    for (unsigned i = tid; i < gridDim.x; i += kThreads)
        value = Op::combine(value, partials[i]);
    value = block_reduce<Op>(value);
    if (tid == 0) *result = Op::result(value);
}

template <class Op>
void reduce(const typename Op::In* x,
            typename Op::Result* result,
            int64_t n,
            unsigned* counter,
            cudaStream_t stream) {
    const int64_t wanted = wb::ceil_div(n, int64_t{kThreads});
    const auto blocks = static_cast<unsigned>(std::min(wanted, kMaxBlocks));
    const wb::Scratch<typename Op::Value> partials(blocks, stream);
    reduce_kernel<Op>
        <<<blocks, kThreads, 0, stream>>>(x, result, partials.data(), counter, n);
    CUDA_CHECK_LAUNCH();
}

void reduce_sum(
    const float* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    if (Contract<Sum>{"reduce_sum"}.has_work(x, result, n, counter, stream))
        reduce<Sum>(x, result, n, counter, stream);
}

void reduce_sum_bf16(
    const bf16* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    if (Contract<SumBf16>{"reduce_sum_bf16"}.has_work(x, result, n, counter, stream))
        reduce<SumBf16>(x, result, n, counter, stream);
}

void reduce_sum_i32(const int32_t* x,
                    int64_t* result,
                    int64_t n,
                    unsigned* counter,
                    cudaStream_t stream) {
    if (Contract<SumI32>{"reduce_sum_i32"}.has_work(x, result, n, counter, stream))
        reduce<SumI32>(x, result, n, counter, stream);
}

void reduce_max(
    const float* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    if (Contract<Max>{"reduce_max", 1}.has_work(x, result, n, counter, stream))
        reduce<Max>(x, result, n, counter, stream);
}

void reduce_argmax(const float* x,
                   int64_t* result,
                   int64_t n,
                   unsigned* counter,
                   cudaStream_t stream) {
    if (Contract<ArgMax>{"reduce_argmax", 1}.has_work(x, result, n, counter, stream))
        reduce<ArgMax>(x, result, n, counter, stream);
}
