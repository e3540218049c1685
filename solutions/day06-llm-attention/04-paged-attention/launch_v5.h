// launch_v5.h: paged_attention_v5: how many blocks, and what they work on at once.
#pragma once

#include "paged_attention.h"
#include "split_kv.h"
#include "stream_k.h"

#include <wb/check.h>
#include <wb/scratch.h>

#include <bit>

namespace stream_k {

/// What the launcher has to know about a GPU.
struct Gpu {
    int multiprocessors;
    bool has_mma;  ///< mma.sync.m16n8k16 of bfloat16: sm_80
};

inline Gpu current_gpu() {
    int device = 0;
    int major = 0;
    Gpu gpu{};
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA_CHECK(cudaDeviceGetAttribute(
        &gpu.multiprocessors, cudaDevAttrMultiProcessorCount, device));
    gpu.has_mma = major >= 8;
    return gpu;
}

/// Slices of heads that a block works on at once: 1, 2 or 4. Heads lie side by side in
/// a page, so that several of them make longer stretches of memory. But the fewer pairs
/// of a sequence and a bundle, the more blocks share one, and have to merge.
inline int bundle_log2(const wb::PagedCache& cache, int64_t slices, int blocks) {
    const int64_t heads = cache.kv_heads * slices;
    int log2 = 0;
    while (log2 < 2 && heads % (2 << log2) == 0 &&
           cache.batch * heads / (2 << log2) >= blocks * 3 / 4) {
        ++log2;
    }
    return log2;
}

/// One block for each multiprocessor. Sequences are often of nearly the same length:
/// with a few blocks less, pairs of a sequence and a bundle may come out even, and no
/// block has to begin a second pair shortly before its end.
inline int num_blocks(int multiprocessors, int64_t pairs) {
    const int fewest = multiprocessors - multiprocessors / 16;
    for (int blocks = multiprocessors; blocks >= fewest; --blocks) {
        if (pairs % blocks == 0 || blocks % pairs == 0) return blocks;
    }
    return multiprocessors;
}

}  // namespace stream_k

static void paged_attention_v5(const wb::PagedCache& cache,
                               const __nv_bfloat16* q,
                               __nv_bfloat16* o,
                               float* lse,
                               int64_t query_heads,
                               float scale,
                               const wb::PagedWorkspace& workspace,
                               cudaStream_t stream) {
    using namespace stream_k;
    const Gpu gpu = current_gpu();
    const int64_t group = query_heads / cache.kv_heads;
    const int64_t slices = wb::ceil_div(group, int64_t{kMaxHeads});
    const int log2 = bundle_log2(cache, slices, gpu.multiprocessors);
    const int64_t pairs = cache.batch * (cache.kv_heads * slices >> log2);
    const int64_t units = pairs * wb::ceil_div(cache.capacity(), int64_t{kTile});
    if (!gpu.has_mma || units > INT32_MAX / 2) {
        return paged_attention_v4(
            cache, q, o, lse, query_heads, scale, workspace, stream);
    }
    Problem p{};
    p.q = q;
    p.k = cache.k;
    p.v = cache.v;
    p.block_table = cache.block_table;
    p.lengths = cache.lengths;
    p.o = o;
    p.lse = lse;
    p.counters = workspace.counters();
    p.status = workspace.status();
    p.batch = static_cast<int>(cache.batch);
    p.query_heads = static_cast<int>(query_heads);
    p.kv_heads = static_cast<int>(cache.kv_heads);
    p.group = static_cast<int>(group);
    p.slices = static_cast<int>(slices);
    p.heads = static_cast<int>(wb::ceil_div(group, slices));
    p.bundle_log2 = log2;
    p.bundles = static_cast<int>(cache.kv_heads * slices >> log2);
    p.page_size = static_cast<int>(cache.page_size);
    p.tiles_per_page_log2 =
        std::countr_zero(static_cast<unsigned>(p.page_size / kTile));
    p.pages_per_sequence = static_cast<int>(cache.pages_per_sequence);
    p.num_pages = static_cast<int>(cache.num_pages);
    p.scale_log2 = scale * 1.44269504088896341f;  // log2(e)

    const int blocks = num_blocks(gpu.multiprocessors, pairs);
    const int64_t part_rows = int64_t{blocks} * 2 * (p.heads << log2);
    const int64_t part_numbers = part_rows * cache.head_dim;
    const wb::Scratch<float> parts(part_numbers + 2 * part_rows, stream);
    p.part_o = parts.data();
    p.part_max_sum = reinterpret_cast<float2*>(parts.data() + part_numbers);
    const auto kernel = cache.head_dim == 64 ? paged_attention_v5_kernel<64>
                                             : paged_attention_v5_kernel<128>;
    kernel<<<blocks, kThreads, 0, stream>>>(p);
    CUDA_CHECK_LAUNCH();
}
