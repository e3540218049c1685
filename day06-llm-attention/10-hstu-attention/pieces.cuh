/// pieces.cuh: which rows a block has, which keys they see, and what is added to their
/// scores. Given: both of your files include it.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/elements.h>
#include <wb/launch.h>

#include <cstdint>

#include "hstu_attention.h"

// #region tile
/// Up to BM rows of one sequence.
struct RowTile {
    int sequence;  ///< < batch
    int begin;     ///< first row of the sequence, among all
    int length;    ///< of the sequence
    int first;  ///< first row of the tile, in the sequence; may be >= length: no rows
};

/// How many tiles of BM rows hold sequences of `total` rows, at most.
template <int BM>
int64_t tile_count(int64_t total, int64_t batch) {
    return total / BM + batch;
}

/// Sequence b has the tiles from cu_seqlens[b] / BM + b on: as many as it needs, for
/// each sequence before it has its full tiles and one more. No list of tiles has to be
/// made, and at most one tile of a sequence is empty.
///
/// @param t  < tile_count<BM>(total, batch)
template <int BM>
__device__ inline RowTile find_tile(const int32_t* cu_seqlens, int batch, int t) {
    int low = 0;  // the last sequence that begins at or before tile t
    for (int high = batch; high - low > 1;) {
        const int middle = low + (high - low) / 2;
        if (cu_seqlens[middle] / BM + middle <= t)
            low = middle;
        else
            high = middle;
    }
    const int begin = cu_seqlens[low];
    const int first = (t - begin / BM - low) * BM;
    return {low, begin, cu_seqlens[low + 1] - begin, first};
}
// #endregion tile

/// The numbers of head h of a row: a row of a sequence, behind its first one.
template <class T, class U>
__device__ __forceinline__ U* head_of(
    const HstuCall<T>& call, U* rows, const RowTile& tile, int row, int head) {
    const int64_t token = int64_t{tile.begin} + row;
    return rows + (token * call.heads + head) * call.head_dim;
}

// #region sees
/// What one row sees of its sequence.
struct RowMask {
    int begin = 0;  ///< these keys,
    int end = 0;
    int own = -1;                ///< this one,
    const int2* list = nullptr;  ///< and those of a list of intervals
    int count = 0;

    __device__ bool sees(int key) const {
        for (int e = 0; e < count; ++e)
            if (key >= list[e].x && key < list[e].y) return true;
        return (key >= begin && key < end) || key == own;
    }
    /// Sees any of the keys from `from` to `to` - 1.
    __device__ bool sees_some(int from, int to) const {
        for (int e = 0; e < count; ++e)
            if (list[e].x < to && list[e].y > from) return true;
        return (begin < to && end > from && begin < end) || (own >= from && own < to);
    }
    /// Sees each of them.
    __device__ bool sees_all(int from, int to) const {
        for (int e = 0; e < count; ++e)
            if (list[e].x <= from && list[e].y >= to) return true;
        return begin <= from && end >= to;
    }
};

/// What a row of a sequence sees; nothing, if the sequence has no such row.
__device__ inline RowMask row_mask(const HstuMasks& mask,
                                   const RowTile& tile,
                                   int row) {
    RowMask seen;
    if (row >= tile.length) return seen;
    const int n = tile.length;
    switch (mask.kind) {
        case HstuMask::full:
            seen.end = n;
            break;
        case HstuMask::causal:
            seen.end = row + 1;
            break;
        case HstuMask::local:
            seen.begin = row - static_cast<int>(min(mask.left, int64_t{row}));
            seen.end =
                row + 1 + static_cast<int>(min(mask.right, int64_t{n - 1 - row}));
            break;
        case HstuMask::context:
            seen.end = max(mask.contexts.device[tile.sequence], row + 1);
            break;
        case HstuMask::target: {
            const int* const contexts = mask.contexts.device;
            const int history = n - mask.targets.device[tile.sequence];
            seen.end = min(row + 1, history);
            if (contexts != nullptr) seen.end = max(seen.end, contexts[tile.sequence]);
            if (row >= history) seen.own = row;
            break;
        }
        case HstuMask::arbitrary: {
            const int32_t* const offsets = mask.offsets.device + tile.begin + row;
            seen.list =
                reinterpret_cast<const int2*>(mask.intervals.device) + offsets[0];
            seen.count = offsets[1] - offsets[0];
            break;
        }
    }
    return seen;
}
// #endregion sees

// #region silu
/// 1 / (1 + exp(-s)); 0 and 1 at the ends, and no NaN: 1 / infinity is 0.
__device__ __forceinline__ float sigmoid(float s) {
    return 1.0f / (1.0f + expf(-s));
}
__device__ __forceinline__ float silu(float s) {
    return s / (1.0f + expf(-s));
}
/// The derivative of silu, at most 1.1.
__device__ __forceinline__ float silu_slope(float s) {
    const float sigma = sigmoid(s);
    return sigma * (1.0f + s * (1.0f - sigma));
}
// #endregion silu

// #region bias
/// The bias of one head of one sequence.
struct HeadBias {
    const HstuBias& bias;
    const int64_t* timestamps;  ///< of the sequence
    int head;

    __device__ HeadBias(const HstuBias& bias, const RowTile& tile, int head)
        : bias(bias),
          timestamps(bias.times == nullptr ? nullptr : bias.timestamps + tile.begin),
          head(head) {}

    __device__ int64_t position(int row, int key) const {
        const auto most = static_cast<int>(bias.max_distance);
        const int distance = max(-most, min(row - key, most));
        return head * (2 * bias.max_distance + 1) + distance + most;
    }
    __device__ int64_t time(int row, int key) const {
        const int64_t a = timestamps[row];
        const int64_t b = timestamps[key];
        // Without a sign: the difference of two int64_t may not fit into one.
        const uint64_t apart =
            a > b ? static_cast<uint64_t>(a) - b : static_cast<uint64_t>(b) - a;
        const int bits = 64 - __clzll(static_cast<long long>(apart));
        return head * bias.buckets + min(bits, static_cast<int>(bias.buckets) - 1);
    }
    /// What is added to the score of a row and a key.
    __device__ float operator()(int row, int key) const {
        float sum =
            bias.positions != nullptr ? bias.positions[position(row, key)] : 0.0f;
        if (bias.times != nullptr) sum += bias.times[time(row, key)];
        return sum;
    }
    /// Adds the gradient of a score to that of each number that was added to it.
    __device__ void add(
        float ds, int row, int key, float* d_positions, float* d_times) const {
        if (d_positions != nullptr) atomicAdd(d_positions + position(row, key), ds);
        if (d_times != nullptr) atomicAdd(d_times + time(row, key), ds);
    }
};
// #endregion bias

/// Sets the gradients of the bias to zeros: kernels add to them.
template <class T>
void clear_bias_gradients(const HstuCall<T>& call,
                          const HstuGradients<T>& gradients,
                          cudaStream_t stream) {
    const auto clear = [&](float* table, int64_t numbers) {
        if (table == nullptr) return;
        const auto bytes = static_cast<size_t>(call.heads * numbers) * sizeof(float);
        CUDA_CHECK(cudaMemsetAsync(table, 0, bytes, stream));
    };
    clear(gradients.d_positions, 2 * call.bias.max_distance + 1);
    clear(gradients.d_times, call.bias.buckets);
}

/// A grid of the tiles of BM rows, and of the heads.
template <int BM, class T>
dim3 tile_grid(const HstuCall<T>& call) {
    return {wb::grid_size(tile_count<BM>(call.total, call.batch), 1),
            static_cast<unsigned>(call.heads)};
}
