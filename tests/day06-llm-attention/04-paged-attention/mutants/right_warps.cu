// A right paged_attention that two .diff files edit: four warps a row, then a merge.
#include "right.h"

constexpr int kThreads = 4 * kWarpSize;

template <int D>
__global__ void paged_attention_kernel(PagedCache cache,
                                       const __nv_bfloat16* q,
                                       __nv_bfloat16* o,
                                       float* lse,
                                       int64_t query_heads,
                                       float scale,
                                       PagedStatus* status) {
    constexpr int kPerLane = D / kWarpSize;
    constexpr int kWarps = kThreads / kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    const int lane = threadIdx.x % kWarpSize;
    const int64_t row = blockIdx.x;
    wb::OnlineSoftmax<kPerLane> state;
    __shared__ float s_max[kWarps];
    __shared__ float s_sum[kWarps];
    __shared__ float s_o[kWarps][D];
    add_tokens<D>(state, cache, q, row, query_heads, scale, status, warp, kWarps);
    if (lane == 0) {
        s_max[warp] = state.max;
        s_sum[warp] = state.sum;
    }
    for (int i = 0; i < kPerLane; ++i)
        s_o[warp][lane + i * kWarpSize] = state.o[i];
    __syncthreads();
    if (warp > 0) return;
    for (int other = 1; other < kWarps; ++other) {
        float other_o[kPerLane];
        for (int i = 0; i < kPerLane; ++i)
            other_o[i] = s_o[other][lane + i * kWarpSize];
        state.merge(s_max[other], s_sum[other], other_o);
    }
    store_row<D>(state, o + row * D, lse == nullptr ? nullptr : lse + row, lane);
}

void paged_attention(const PagedCache& cache,
                     const __nv_bfloat16* q,
                     __nv_bfloat16* o,
                     float* lse,
                     int64_t query_heads,
                     float scale,
                     const PagedWorkspace& workspace,
                     cudaStream_t stream) {
    launch_attention(paged_attention_kernel<64>,
                     paged_attention_kernel<128>,
                     kThreads,
                     cache,
                     q,
                     o,
                     lse,
                     query_heads,
                     scale,
                     workspace,
                     stream);
}
