// 05_merge.cuh: how the warps, and then the blocks, of paged_attention_v5 put together
// what they found about one query head.
//
// A part is (max, sum, o): the largest score, and sums of 2^(score - max) and of that
// times v. Two parts of the same head become one by bringing both to the larger
// maximum. A part without any key is (-inf, 0, 0) and changes nothing, but -inf minus
// -inf is NaN, so that it has to be asked for.
#pragma once

#include "05_work.cuh"

#include <wb/online_softmax.h>

#include <cuda/atomic>

namespace stream_k {

/// Shared memory of a merge. Rows are 4 floats longer than D, see store_rows().
template <int D, int kWarps>
struct MergeBuffer {
    static constexpr int kThreads = kWarps * kWarpSize;

    float4 o[kWarps][kMaxHeads][D / 4 + 1];
    float max[kWarps][kMaxHeads];
    float sum[kWarps][kMaxHeads];
    float4 group_o[kThreads];
    float2 group_max_sum[kThreads];
    bool is_last;
};

/// A part of four dimensions of one query head.
struct Part {
    float max;
    float sum;
    float4 o;

    /// What a weight below this maximum is worth below a larger or equal one.
    __device__ __forceinline__ static float rescale(float max, float new_max) {
        return max == -INFINITY ? 0.0f : exp2f(max - new_max);
    }
    /// Adds a part whose weights have been brought to this maximum with `factor`.
    __device__ __forceinline__ void add(float factor, float its_sum, float4 its_o) {
        sum += factor * its_sum;
        o.x += factor * its_o.x;
        o.y += factor * its_o.y;
        o.z += factor * its_o.z;
        o.w += factor * its_o.w;
    }
    /// Raises the maximum.
    __device__ __forceinline__ void raise(float new_max) {
        const float factor = rescale(max, new_max);
        *this = {new_max,
                 sum * factor,
                 {o.x * factor, o.y * factor, o.z * factor, o.w * factor}};
    }
};

__device__ __forceinline__ Part empty_part() {
    return {-INFINITY, 0.0f, {0.0f, 0.0f, 0.0f, 0.0f}};
}

/// Which four dimensions of which query head of a block's bundle a thread looks after.
struct Item {
    int slice;  ///< of the bundle
    int head;   ///< of the slice
    int d4;     ///< dimensions 4 d4 ... 4 d4 + 3
};

template <int D>
__device__ __forceinline__ Item item_of(const Problem& p, int i) {
    const int row = i / (D / 4);
    return {row / p.heads, row % p.heads, i % (D / 4)};
}

/// Normalises a complete part and writes it to o and lse.
template <int D>
__device__ __forceinline__ void write_result(const Problem& p,
                                             const Segment& segment,
                                             const Item& item,
                                             const Part& part) {
    const int slice = (segment.bundle << p.bundle_log2) + item.slice;
    const int in_group = slice % p.slices * p.heads + item.head;
    if (in_group >= p.group) return;  // the last slice of a group may have fewer heads
    const int64_t row = static_cast<int64_t>(segment.sequence) * p.query_heads +
                        slice / p.slices * p.group + in_group;
    const float scale = 1.0f / part.sum;
    reinterpret_cast<uint2*>(p.o + row * D)[item.d4] =
        make_uint2(pack(part.o.x * scale, part.o.y * scale),
                   pack(part.o.z * scale, part.o.w * scale));
    constexpr float kLn2 = wb::kLn2;
    if (p.lse != nullptr && item.d4 == 0)
        p.lse[row] = (part.max + log2f(part.sum)) * kLn2;
}

/// Puts a warp's sums into shared memory: 8 numbers of a row at a time, in two stores
/// of 16 bytes. Odd g store the second half first, and rows are 4 floats longer than
/// they need: then the 8 lanes that store at once, 4 rows apart by 2 and g = 2i and
/// 2i + 1, meet all 32 banks.
template <int D, int kWarps>
__device__ __forceinline__ void store_rows(MergeBuffer<D, kWarps>& s_merge,
                                           const Rows<D>& rows,
                                           int heads,
                                           int warp,
                                           int lane) {
    const int g = lane / 4;
    const int t = lane % 4;
    float sum = rows.sum;
    sum += __shfl_xor_sync(kAll, sum, 1);
    sum += __shfl_xor_sync(kAll, sum, 2);
    if (t == 0) {
        s_merge.max[warp][g] = rows.max;
        s_merge.sum[warp][g] = sum;
    }
    const bool odd = g % 2 != 0;
#pragma unroll
    for (int column = 0; column < 2; ++column) {
        if (2 * t + column >= heads) continue;
        float4* const row = s_merge.o[warp][2 * t + column];
#pragma unroll
        for (int c = 0; c < D / 64; ++c) {
            const auto& o = &rows.o[4 * c];
            const float4 low = {
                o[0][column], o[0][column + 2], o[1][column], o[1][column + 2]};
            const float4 high = {
                o[2][column], o[2][column + 2], o[3][column], o[3][column + 2]};
            row[16 * c + 2 * g + odd] = odd ? high : low;
            row[16 * c + 2 * g + !odd] = odd ? low : high;
        }
    }
}

/// The parts of all warps that worked on an item's slice, as one.
template <int D, int kWarps>
__device__ __forceinline__ Part merge_warps(const MergeBuffer<D, kWarps>& s_merge,
                                            const Problem& p,
                                            const Item& item) {
    Part part = empty_part();
#pragma unroll 1
    for (int warp = item.slice; warp < kWarps; warp += 1 << p.bundle_log2) {
        part.max = fmaxf(part.max, s_merge.max[warp][item.head]);
    }
#pragma unroll 1
    for (int warp = item.slice; warp < kWarps; warp += 1 << p.bundle_log2) {
        const float factor = Part::rescale(s_merge.max[warp][item.head], part.max);
        part.add(
            factor, s_merge.sum[warp][item.head], s_merge.o[warp][item.head][item.d4]);
    }
    return part;
}

/// Where a block leaves a row of a part: each block has room for two segments that are
/// not whole, the one that it goes on with and the one that it begins.
__device__ __forceinline__ int part_row(const Problem& p,
                                        int block,
                                        bool begins,
                                        const Item& item) {
    return (((block * 2 + (begins ? 1 : 0)) << p.bundle_log2) + item.slice) * p.heads +
           item.head;
}

// #region v5-arrive
/// Whether this block is the last one to have left its part of a pair. All threads of
/// the block must call it, after they have written their share of the part.
///
/// One atomic does it: it releases what the block wrote before (the barrier puts the
/// other threads' writes before it) and acquires what those wrote who came earlier.
template <int D, int kWarps>
__device__ __forceinline__ bool arrives_last(MergeBuffer<D, kWarps>& s_merge,
                                             uint32_t* counter,
                                             int blocks) {
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::atomic_ref<uint32_t, cuda::thread_scope_device> arrived(*counter);
        s_merge.is_last = arrived.fetch_add(1, cuda::memory_order_acq_rel) ==
                          static_cast<uint32_t>(blocks - 1);
        if (s_merge.is_last) arrived.store(0, cuda::memory_order_relaxed);
    }
    __syncthreads();
    return s_merge.is_last;
}
// #endregion v5-arrive

/// The parts first, first + step, ... of an item, as one. Eight are loaded at once: it
/// is the waiting that takes time here, not the adding.
template <int D>
__device__ __forceinline__ Part merge_blocks(const Problem& p,
                                             const Item& item,
                                             int first_block,
                                             int blocks,
                                             int first,
                                             int step) {
    constexpr int kAtOnce = 8;
    Part part = empty_part();
#pragma unroll 1
    for (int i = first; i < blocks; i += kAtOnce * step) {
        float2 max_sum[kAtOnce];
        float4 o[kAtOnce];
        float max = part.max;
#pragma unroll
        for (int u = 0; u < kAtOnce; ++u) {
            const int j = i + u * step;
            max_sum[u] = {-INFINITY, 0.0f};
            o[u] = {0.0f, 0.0f, 0.0f, 0.0f};
            if (j >= blocks) continue;
            const int row = part_row(p, first_block + j, j == 0, item);
            max_sum[u] = __ldcg(p.part_max_sum + row);
            o[u] = __ldcg(reinterpret_cast<const float4*>(
                              p.part_o + static_cast<int64_t>(row) * D) +
                          item.d4);
        }
#pragma unroll
        for (int u = 0; u < kAtOnce; ++u) {
            max = fmaxf(max, max_sum[u].x);
        }
        part.raise(max);
#pragma unroll
        for (int u = 0; u < kAtOnce; ++u) {
            part.add(Part::rescale(max_sum[u].x, max), max_sum[u].y, o[u]);
        }
    }
    return part;
}

/// Merges the parts of all blocks and writes the results. Where there are fewer items
/// than threads, several threads share an item's parts.
template <int D, int kWarps>
__device__ __forceinline__ void finish(MergeBuffer<D, kWarps>& s_merge,
                                       const Problem& p,
                                       const Segment& segment,
                                       int first_block,
                                       int blocks) {
    const int items = (p.heads << p.bundle_log2) * (D / 4);
    const int tid = threadIdx.x;
    const int groups = max(kWarps * kWarpSize / items, 1);
#pragma unroll 1
    for (int base = 0; base < items; base += kWarps * kWarpSize) {
        const int group = tid / items;
        const int i = base + tid - group * items;
        const Item item = item_of<D>(p, i);
        const bool used = group < groups && i < items;
        Part part = empty_part();
        if (used) part = merge_blocks<D>(p, item, first_block, blocks, group, groups);
        if (groups > 1) {
            s_merge.group_o[tid] = part.o;
            s_merge.group_max_sum[tid] = {part.max, part.sum};
            __syncthreads();
            if (group > 0) continue;
#pragma unroll 1
            for (int other = tid + items; other < groups * items; other += items) {
                const float2 max_sum = s_merge.group_max_sum[other];
                part.raise(fmaxf(part.max, max_sum.x));
                part.add(Part::rescale(max_sum.x, part.max),
                         max_sum.y,
                         s_merge.group_o[other]);
            }
        }
        if (used) write_result<D>(p, segment, item, part);
    }
}

/// The end of a segment: what the block's warps found becomes a result, or a part that
/// waits for others. All threads of the block must call it.
template <int D, int kWarps>
__device__ __forceinline__ void publish(MergeBuffer<D, kWarps>& s_merge,
                                        const Rows<D>& rows,
                                        const Problem& p,
                                        const Shares& shares,
                                        const Segment& segment) {
    const int tid = threadIdx.x;
    const int block = blockIdx.x;
    __syncthreads();  // the last segment's parts have been read
    store_rows(s_merge, rows, p.heads, tid / kWarpSize, tid % kWarpSize);
    __syncthreads();
#pragma unroll 1
    for (int i = tid; i < (p.heads << p.bundle_log2) * (D / 4);
         i += kWarps * kWarpSize) {
        const Item item = item_of<D>(p, i);
        const Part part = merge_warps(s_merge, p, item);
        if (segment.whole) {
            write_result<D>(p, segment, item, part);
            continue;
        }
        const int row = part_row(p, block, segment.first == 0, item);
        __stcg(reinterpret_cast<float4*>(p.part_o + static_cast<int64_t>(row) * D) +
                   item.d4,
               part.o);
        if (item.d4 == 0) __stcg(p.part_max_sum + row, make_float2(part.max, part.sum));
    }
    if (segment.whole) return;
    const int first_block = shares.block_of(segment.base);
    const int blocks =
        shares.block_of(segment.base + segment.tiles - 1) - first_block + 1;
    uint32_t* const counter =
        p.counters + segment.sequence * p.bundles + segment.bundle;
    if (arrives_last(s_merge, counter, blocks))
        finish(s_merge, p, segment, first_block, blocks);
}

}  // namespace stream_k
