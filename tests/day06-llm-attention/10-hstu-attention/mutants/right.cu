// The right hstu_attention that the .diff files edit: v1 of the solution, and the
// pieces that it needs, so that edits find these, too. Compilers take long for many
// kernels: so v1 is for fp32 and bf16, and the edits are of forward.cuh or
// backward.cuh, which leave one pass. All else is v2, which is given.
#include "hstu_attention.h"

#include <wb/check.h>
#include <wb/elements.h>
#include <wb/launch.h>

#include <type_traits>

#include "checks.h"
#include "tiles.cuh"

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

/// The numbers of head h of a row: a row of a sequence, behind its first one.
template <class T, class U>
__device__ __forceinline__ U* right_head(
    const HstuCall<T>& call, U* rows, const RowTile& tile, int row, int head) {
    const int64_t token = int64_t{tile.begin} + row;
    return rows + (token * call.heads + head) * call.head_dim;
}

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
__device__ inline RowMask right_mask(const HstuMasks& mask,
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
        float sum = 0.0f;
        if (bias.positions != nullptr) sum += bias.positions[position(row, key)];
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

/// Sets the gradients of the bias to zeros: kernels add to them.
template <class T>
void clear_gradients(const HstuCall<T>& call,
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
dim3 right_grid(const HstuCall<T>& call) {
    return {wb::grid_size(tile_count<BM>(call.total, call.batch), 1),
            static_cast<unsigned>(call.heads)};
}

/// Rows of a block, a warp each.
constexpr int kWarps = 4;
constexpr int kThreads = kWarps * wb::kWarpSize;

/// Numbers of a row that a lane has at most: lane, lane + 32, ... of 256.
constexpr int kColumns = 256 / wb::kWarpSize;

/// The scalar product of two rows of dim numbers.
template <class T>
__device__ __forceinline__ float dot(const T* a, const T* b, int dim) {
    float sum = 0.0f;
    for (int d = 0; d < dim; ++d)
        sum += wb::to_float(a[d]) * wb::to_float(b[d]);
    return sum;
}

/// Adds factor times a row of dim numbers to those that a lane has.
template <class T>
__device__ __forceinline__ void add_row(
    float (&sums)[kColumns], float factor, const T* row, int dim, int lane) {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
        const int column = lane + c * wb::kWarpSize;
        if (column < dim) sums[c] += factor * wb::to_float(row[column]);
    }
}

/// Writes the numbers of a row that a lane has, times a factor.
template <class T>
__device__ __forceinline__ void store_row(
    T* row, const float (&numbers)[kColumns], float factor, int dim, int lane) {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
        const int column = lane + c * wb::kWarpSize;
        if (column < dim) row[column] = wb::to_element<T>(numbers[c] * factor);
    }
}

/// right_attention: a warp a row. Its lanes have a key each, and then columns.
///
/// Launch   grid right_grid<kWarps>(), block kThreads
template <class T>
__global__ void __launch_bounds__(kThreads) attention_kernel(const HstuCall<T> call) {
    __shared__ float s_weights[kWarps][wb::kWarpSize];
    const int warp = static_cast<int>(threadIdx.x) / wb::kWarpSize;
    const int lane = static_cast<int>(threadIdx.x) % wb::kWarpSize;
    const int head = static_cast<int>(blockIdx.y);
    const int dim = static_cast<int>(call.head_dim);
    const RowTile tile = find_tile<kWarps>(call.cu_seqlens.device,
                                           static_cast<int>(call.batch),
                                           static_cast<int>(blockIdx.x));
    const int row = tile.first + warp;
    if (row >= tile.length) return;
    const RowMask mask = right_mask(call.mask, tile, row);
    const HeadBias bias(call.bias, tile, head);
    const T* const q = right_head(call, call.q, tile, row, head);
    float r_o[kColumns] = {};
    for (int first = 0; first < tile.length; first += wb::kWarpSize) {
        if (!mask.sees_some(first, first + wb::kWarpSize)) continue;
        const int key = first + lane;
        float weight = 0.0f;
        if (mask.sees(key)) {
            const T* const k = right_head(call, call.k, tile, key, head);
            weight = silu(call.alpha * dot(q, k, dim) + bias(row, key));
        }
        s_weights[warp][lane] = weight;
        __syncwarp();
        for (int j = 0; j < wb::kWarpSize; ++j) {
            const float of_key = s_weights[warp][j];
            if (of_key == 0.0f) continue;
            const T* const v = right_head(call, call.v, tile, first + j, head);
            add_row(r_o, of_key, v, dim, lane);
        }
        __syncwarp();
    }
    store_row(right_head(call, call.o, tile, row, head),
              r_o,
              1.0f / static_cast<float>(call.scaling_length),
              dim,
              lane);
}

template <class T>
static void right_attention(const HstuCall<T>& call, cudaStream_t stream) {
    const dim3 grid = right_grid<kWarps>(call);
    attention_kernel<<<grid, kThreads, 0, stream>>>(call);
    CUDA_CHECK_LAUNCH();
}

/// What a pair of a row and a key gives to the gradients.
struct PairGradient {
    float weight = 0.0f;  ///< silu(s), times d_o for dv
    float ds = 0.0f;      ///< of the score, times k for dq, times q for dk
};

/// Both without the factor 1 / N, and 0 if the row does not see the key.
template <class T>
__device__ PairGradient pair_gradient(const HstuCall<T>& call,
                                      const T* d_o,
                                      const RowTile& tile,
                                      int row,
                                      int key,
                                      int head) {
    PairGradient pair;
    const bool seen = right_mask(call.mask, tile, row).sees(key);
    if (seen) {
        const T* const q = right_head(call, call.q, tile, row, head);
        const T* const k = right_head(call, call.k, tile, key, head);
        const T* const v = right_head(call, call.v, tile, key, head);
        const HeadBias bias(call.bias, tile, head);
        const int dim = static_cast<int>(call.head_dim);
        const float s = call.alpha * dot(q, k, dim) + bias(row, key);
        pair.weight = silu(s);
        pair.ds = dot(right_head(call, d_o, tile, row, head), v, dim) * silu_slope(s);
    }
    return pair;
}

/// right_backward: a warp a row, for dq and the bias; or, kOfKeys, a warp a key, for
/// dk and dv. Its lanes have one of the others each, keys or rows, and then columns.
///
/// Launch   grid right_grid<kWarps>(), block kThreads
template <bool kOfKeys, class T>
__global__ void __launch_bounds__(kThreads)
    backward_kernel(const HstuCall<T> call, const HstuGradients<T> out) {
    __shared__ PairGradient s_pairs[kWarps][wb::kWarpSize];
    const int warp = static_cast<int>(threadIdx.x) / wb::kWarpSize;
    const int lane = static_cast<int>(threadIdx.x) % wb::kWarpSize;
    const int head = static_cast<int>(blockIdx.y);
    const int dim = static_cast<int>(call.head_dim);
    const RowTile tile = find_tile<kWarps>(call.cu_seqlens.device,
                                           static_cast<int>(call.batch),
                                           static_cast<int>(blockIdx.x));
    const int own = tile.first + warp;  // a row; kOfKeys: a key
    if (own >= tile.length) return;
    const HeadBias bias(call.bias, tile, head);
    const float inverse = 1.0f / static_cast<float>(call.scaling_length);
    float r_ds[kColumns] = {};       // sums of ds * k; kOfKeys: of ds * q
    float r_weights[kColumns] = {};  // kOfKeys: sums of weight * d_o
    for (int first = 0; first < tile.length; first += wb::kWarpSize) {
        const int other = first + lane;  // a key; kOfKeys: a row
        const int row = kOfKeys ? other : own;
        const int key = kOfKeys ? own : other;
        const PairGradient pair = pair_gradient(call, out.d_o, tile, row, key, head);
        if (!kOfKeys && pair.ds != 0.0f)
            bias.add(pair.ds * inverse, row, key, out.d_positions, out.d_times);
        s_pairs[warp][lane] = pair;
        __syncwarp();
        for (int j = 0; j < wb::kWarpSize; ++j) {
            const PairGradient of = s_pairs[warp][j];
            if (of.ds == 0.0f && of.weight == 0.0f) continue;
            const T* const factors = kOfKeys ? call.q : call.k;
            const T* const a = right_head(call, factors, tile, first + j, head);
            const T* const b = right_head(call, out.d_o, tile, first + j, head);
            add_row(r_ds, of.ds, a, dim, lane);
            if (kOfKeys) add_row(r_weights, of.weight, b, dim, lane);
        }
        __syncwarp();
    }
    T* const of_scores = right_head(call, kOfKeys ? out.dk : out.dq, tile, own, head);
    store_row(of_scores, r_ds, call.alpha * inverse, dim, lane);
    if (kOfKeys)
        store_row(
            right_head(call, out.dv, tile, own, head), r_weights, inverse, dim, lane);
}

template <class T>
static void right_backward(const HstuCall<T>& call,
                           const HstuGradients<T>& gradients,
                           cudaStream_t stream) {
    clear_gradients(call, gradients, stream);
    const dim3 grid = right_grid<kWarps>(call);
    backward_kernel<false><<<grid, kThreads, 0, stream>>>(call, gradients);
    backward_kernel<true><<<grid, kThreads, 0, stream>>>(call, gradients);
    CUDA_CHECK_LAUNCH();
}

/// Whether v1 makes the forward pass of a type, and whether the backward pass.
#ifdef WB_ONLY_BACKWARD
template <class T>
constexpr bool kForward = false;
#else
template <class T>
constexpr bool kForward = !std::is_same_v<T, __half>;
#endif
#ifdef WB_ONLY_FORWARD
template <class T>
constexpr bool kBackward = false;
#else
template <class T>
constexpr bool kBackward = !std::is_same_v<T, __half>;
#endif

template <class T>
static void attention(const char* function,
                      const HstuCall<T>& call,
                      cudaStream_t stream) {
    if (!forward_has_work(function, call)) return;
    if constexpr (kForward<T>)
        right_attention(call, stream);
    else
        hstu_attention_v2(call, stream);
}

template <class T>
static void backward(const char* function,
                     const HstuCall<T>& call,
                     const HstuGradients<T>& gradients,
                     cudaStream_t stream) {
    check_backward(function, call, gradients);
    if (call.total == 0) return clear_gradients(call, gradients, stream);
    if constexpr (kBackward<T>)
        right_backward(call, gradients, stream);
    else
        hstu_backward_v2(call, gradients, stream);
}

void hstu_attention_fp32(const HstuCall<float>& call, cudaStream_t stream) {
    attention("hstu_attention_fp32", call, stream);
}
void hstu_attention_fp16(const HstuCall<__half>& call, cudaStream_t stream) {
    attention("hstu_attention_fp16", call, stream);
}
void hstu_attention_bf16(const HstuCall<__nv_bfloat16>& call, cudaStream_t stream) {
    attention("hstu_attention_bf16", call, stream);
}
void hstu_backward_fp32(const HstuCall<float>& call,
                        const HstuGradients<float>& gradients,
                        cudaStream_t stream) {
    backward("hstu_backward_fp32", call, gradients, stream);
}
void hstu_backward_fp16(const HstuCall<__half>& call,
                        const HstuGradients<__half>& gradients,
                        cudaStream_t stream) {
    backward("hstu_backward_fp16", call, gradients, stream);
}
void hstu_backward_bf16(const HstuCall<__nv_bfloat16>& call,
                        const HstuGradients<__nv_bfloat16>& gradients,
                        cudaStream_t stream) {
    backward("hstu_backward_bf16", call, gradients, stream);
}
