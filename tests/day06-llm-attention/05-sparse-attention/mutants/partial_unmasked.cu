// Mutant: every key of a partial block is seen
// Rejected by: blocks: every pattern gives what its rows give
#define BREAKS_BLOCKS
#include "rest.h"

__device__ void add_list(const wb::BlockList& list,
                         const uint64_t* masks,  // null for full blocks
                         const Problem& p,
                         int block_row,
                         int64_t row,
                         Sums& sums) {
    const auto range =
        wb::row_places(list.offsets, block_row, list.num_blocks, p.status);
    for (int64_t at = range.begin; at < range.end; ++at) {
        const int block = list.blocks[at];
        const int blocks = wb::BlockPattern::key_blocks(p.keys);
        if (!wb::check_index(block, blocks, block_row, at, p.status)) continue;
        for (int key = block * kKeys; key < min(p.keys, (block + 1) * kKeys); ++key)
            sums.add(p, row, key);
    }
}

__global__ void blocks_kernel(wb::BlockPattern pattern, Problem p) {
    const int block_rows = wb::BlockPattern::block_rows(p.queries);
    const int block_row = blockIdx.x % block_rows;
    const int query = block_row * kThreads + threadIdx.x;
    if (query >= p.queries) return;
    const int64_t row = int64_t{blockIdx.x / block_rows} * p.queries + query;
    Sums sums;
    add_list(pattern.full, nullptr, p, block_row, row, sums);
    add_list(pattern.partial, pattern.masks, p, block_row, row, sums);
    sums.store(p, row);
}

void block_sparse_attention(const wb::AttentionShape& shape,
                            const wb::BlockPattern& pattern,
                            const float* q,
                            const float* k,
                            const float* v,
                            float* o,
                            float* lse,
                            wb::PatternStatus* status,
                            cudaStream_t stream) {
    const Problem p = checked("block_sparse_attention", shape, q, k, v, o, lse, status);
    launch_blocks(blocks_kernel, pattern, p, stream);
}
