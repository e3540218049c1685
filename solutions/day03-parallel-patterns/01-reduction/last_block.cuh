// last_block.cuh: v9: v8 in one kernel, with what v10 needs for it.
#pragma once

// #region v9-kernel
/// v9: v8 in one kernel: the block that is the last to leave its value combines all.
///
/// Launch   grid at most kMaxBlocks, block kThreads
template <class Op>
__global__ void reduce_v9_kernel(const typename Op::In* x,      // [n]
                                 typename Op::Result* result,   // [1]
                                 typename Op::Value* partials,  // [gridDim.x]
                                 unsigned* counter,             // [1], 0
                                 int64_t n) {
    auto value = Op::identity();
    const int64_t step = int64_t{gridDim.x} * kThreads;
    for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step)
        value = Op::combine(value, Op::make(x[i], i));
    value = combine_block<Op>(value);
    if (is_last_block(value, partials, counter)) finish<Op>(partials, result);
}
// #endregion v9-kernel

// #region v9-launch
template <class Op>
static void reduce_v9(const typename Op::In* x,
                      typename Op::Result* result,
                      int64_t n,
                      unsigned* counter,
                      cudaStream_t stream) {
    const unsigned blocks = few_blocks(n);
    const wb::Scratch<typename Op::Value> partials(blocks, stream);
    reduce_v9_kernel<Op>
        <<<blocks, kThreads, 0, stream>>>(x, result, partials.data(), counter, n);
    CUDA_CHECK_LAUNCH();
}
// #endregion v9-launch
