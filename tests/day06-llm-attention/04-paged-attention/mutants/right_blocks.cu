// A right paged_attention that an edit in goals/ is of: two blocks a row, of two warps
// each. Each warp has a part of the tokens, and the last block merges the parts.
#include "right.h"

#include <wb/scratch.h>

#include <cuda/atomic>

constexpr int kBlocks = 2;  // of a row
constexpr int kWarps = 2;   // of a block
constexpr int kParts = kBlocks * kWarps;
constexpr int kThreads = kWarps * kWarpSize;

/// Whether this block is the last one of its row. All of its threads must call it.
__device__ bool arrives_last(uint32_t* counter) {
    __shared__ bool s_is_last;
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::atomic_ref<uint32_t, cuda::thread_scope_device> arrived(*counter);
        s_is_last =
            arrived.fetch_add(1, cuda::memory_order_acq_rel) == uint32_t{kBlocks - 1};
        if (s_is_last) arrived.store(0, cuda::memory_order_relaxed);
    }
    __syncthreads();
    return s_is_last;
}

/// @param parts  D + 2 floats for each warp
template <int D>
__global__ void paged_attention_kernel(PagedCache cache,
                                       const __nv_bfloat16* q,
                                       __nv_bfloat16* o,
                                       float* lse,
                                       int64_t query_heads,
                                       float scale,
                                       PagedStatus* status,
                                       uint32_t* counters,
                                       float* parts) {
    constexpr int kPerLane = D / kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    const int lane = threadIdx.x % kWarpSize;
    const int64_t row = blockIdx.x / kBlocks;
    const int mine = static_cast<int>(blockIdx.x % kBlocks) * kWarps + warp;
    wb::OnlineSoftmax<kPerLane> state;
    add_tokens<D>(state, cache, q, row, query_heads, scale, status, mine, kParts);
    float* const part = parts + (row * kParts + mine) * (D + 2);
    for (int i = 0; i < kPerLane; ++i)
        part[lane + i * kWarpSize] = state.o[i];
    if (lane == 0) part[D] = state.max;
    if (lane == 0) part[D + 1] = state.sum;
    if (!arrives_last(counters + row) || warp > 0) return;
    wb::OnlineSoftmax<kPerLane> all;
    for (int other = 0; other < kParts; ++other) {
        const float* const its = parts + (row * kParts + other) * (D + 2);
        float its_o[kPerLane];
        for (int i = 0; i < kPerLane; ++i)
            its_o[i] = its[lane + i * kWarpSize];
        all.merge(its[D], its[D + 1], its_o);
    }
    store_row<D>(all, o + row * D, lse == nullptr ? nullptr : lse + row, lane);
}

void paged_attention(const PagedCache& cache,
                     const __nv_bfloat16* q,
                     __nv_bfloat16* o,
                     float* lse,
                     int64_t query_heads,
                     float scale,
                     const PagedWorkspace& workspace,
                     cudaStream_t stream) {
    check_attention(cache, q, o, lse, query_heads, scale, workspace);
    if (cache.batch == 0) return;
    const int64_t rows = cache.batch * query_heads;
    const wb::Scratch<float> parts(rows * kParts * (cache.head_dim + 2), stream);
    const unsigned blocks = wb::grid_size(rows * kBlocks, 1);
    const auto kernel =
        cache.head_dim == 64 ? paged_attention_kernel<64> : paged_attention_kernel<128>;
    kernel<<<blocks, kThreads, 0, stream>>>(cache,
                                            q,
                                            o,
                                            lse,
                                            query_heads,
                                            scale,
                                            workspace.status(),
                                            workspace.counters(),
                                            parts.data());
    CUDA_CHECK_LAUNCH();
}
