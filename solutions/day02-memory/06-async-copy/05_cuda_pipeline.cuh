// 05_cuda_pipeline.cuh: peak_energy_v5: v4 in the words of the CUDA C++ library.
// Included by async_copy.cu, below v4.
#pragma once

#include <cuda/pipeline>

// #region v5-copies
/// Starts this thread's copies of a tile and its halo, as a stage of the pipeline.
/// cuda::memcpy_async knows no zeros: a vector that the end of the signal cuts off is
/// written by hand. The barrier that the tile waits for anyway covers that, too.
__device__ inline void start_stage(cuda::pipeline<cuda::thread_scope_thread>& pipeline,
                                   float* s_tile,   // [kTileSamples]
                                   const float* x,  // [n]
                                   int64_t tile,
                                   int64_t num_tiles,
                                   int64_t n) {
    constexpr cuda::aligned_size_t<16> kBytes(kVector * sizeof(float));
    pipeline.producer_acquire();
    if (tile < num_tiles) {
        const int samples = samples_inside(tile, n);
        for (int v = threadIdx.x; v < kTileSamples / kVector; v += kThreads) {
            const int first = v * kVector;
            const float* g_vector = x + tile * kTile + first;
            auto* s_vector = reinterpret_cast<float4*>(s_tile + first);
            if (samples - first >= kVector)
                cuda::memcpy_async(s_vector,
                                   reinterpret_cast<const float4*>(g_vector),
                                   kBytes,
                                   pipeline);
            else
                *s_vector = load_vector(g_vector, samples - first);
        }
    }
    pipeline.producer_commit();
}
// #endregion v5-copies

// #region v5-kernel
/// peak_energy_v5: each thread has a pipeline of its own. It counts the stages: there
/// is no number to get wrong in the wait. The threads still need the barrier.
///
/// Launch   grid count_blocks(n, blocks_per_sm), block kThreads
__global__ void peak_energy_v5_kernel(const float* x,  // [n]
                                      float* peaks,    // [ceil(n / kSegment)]
                                      int64_t n,
                                      int64_t num_tiles) {
    __shared__ alignas(16) float s_stages[kStages][kTileSamples];
    cuda::pipeline<cuda::thread_scope_thread> pipeline = cuda::make_pipeline();
    for (int k = 0; k < kStages - 1; ++k) {
        const int64_t tile = blockIdx.x + k * int64_t{gridDim.x};
        start_stage(pipeline, s_stages[k], x, tile, num_tiles, n);
    }
    int used = 0;
    int free = kStages - 1;
    for (int64_t tile = blockIdx.x; tile < num_tiles; tile += gridDim.x) {
        pipeline.consumer_wait();  // the oldest stage
        __syncthreads();
        const int64_t ahead = tile + (kStages - 1) * int64_t{gridDim.x};
        start_stage(pipeline, s_stages[free], x, ahead, num_tiles, n);
        write_peaks(s_stages[used], peaks, tile, n);
        pipeline.consumer_release();
        free = used;
        used = used + 1 == kStages ? 0 : used + 1;
    }
}
// #endregion v5-kernel

static void peak_energy_v5(
    const float* x, float* peaks, int64_t n, int blocks_per_sm, cudaStream_t stream) {
    const unsigned blocks = count_blocks(n, blocks_per_sm);
    peak_energy_v5_kernel<<<blocks, kThreads, 0, stream>>>(x, peaks, n, count_tiles(n));
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(peak_energy, peak_energy_v5, "v4 with cuda::pipeline");
