// tiles.cuh: given with "Go faster": what v3, v4 and v5 have in common, but for their
// two matrix products. Both are done as a fast SGEMM does it: operands in shared
// memory, read four floats at a time, and a tile of results in registers.
#pragma once

#include <wb/attention.h>
#include <wb/check.h>
#include <wb/launch.h>
#include <wb/online_softmax.h>
#include <wb/ptx/cp_async.h>
#include <wb/ptx/exp2.h>
#include <wb/shared_memory.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

// #region tile
/// The shape of a block's work: rows of q, in steps of so many keys.
struct Tiling {
    int head_dim;
    int block_rows;
    int block_keys;
    int lanes;           ///< neighbouring lanes that share a thread's 8 rows
    bool pairs = false;  ///< v5: neighbouring lanes share their keys, not their rows
};

/// What follows from it. Of each of its TM rows, which are kRowStep apart, a lane has
/// the scores of TN keys, kLanes apart, and TD columns of the output:
///
///     lane 0   1   2  ...  7 | 0   1 ...         kLanes = 8, BN = 64: TN = 8
///     key  0   1   2  ...  7   8   9 ...  63
template <Tiling kTiling>
struct Tile {
    static constexpr int D = kTiling.head_dim;
    static constexpr int BM = kTiling.block_rows;
    static constexpr int BN = kTiling.block_keys;
    static constexpr int kLanes = kTiling.lanes;
    static constexpr int TM = 8;
    static constexpr int TN = BN / kLanes;
    static constexpr int TD = D / kLanes;
    static constexpr int kThreads = BM / TM * kLanes;
    static constexpr int kRowStep = wb::kWarpSize / kLanes;
    /// From a lane to the next that shares its rows.
    static constexpr int kLaneStep = kTiling.pairs ? 2 : 1;
    /// Floats from row to row in shared memory. With D itself, the same column of eight
    /// rows would lie in the same four banks; with 4 more, in all 32.
    static constexpr int kStride = D + 4;
    /// The same for weights. In pairs, eight lanes store four vectors of each of two
    /// rows: these have to be 16 banks apart.
    static constexpr int kStrideP = BN + (kTiling.pairs ? 16 : 4);
    static constexpr int kFloatsQ = BM * kStride;
    static constexpr int kFloatsK = BN * kStride;
    static constexpr int kFloatsV = BN * D;
    static constexpr int kFloatsP = BM * kStrideP;
    static constexpr size_t kBytes =
        sizeof(float) * (kFloatsQ + kFloatsK + kFloatsV + kFloatsP);
    /// Keys that are written to and read from shared memory at once.
    static constexpr int kVector = TN < 4 ? TN : 4;
    static_assert(TD % 4 == 0, "columns of the output are read and written by fours");
    static_assert(TN % kVector == 0 && kVector >= 2, "weights are stored by vectors");
    static_assert(BN * D / 4 % kThreads == 0, "each thread copies as many float4");
    static_assert(kThreads * 4 % D == 0, "a step of the copy is whole rows");
};

/// A block's dynamic shared memory, and where this thread stands.
template <class T>
struct Workspace {
    float* s_q;  // [BM, kStride]
    float* s_k;  // [BN, kStride]
    float* s_v;  // [BN, D]
    float* s_p;  // [BM, kStrideP] weights, in an order of keys that suits the reader
    int row;     // the first of this thread's TM rows, kRowStep apart
    int col;     // [0, kLanes)
    __device__ explicit Workspace(float4* shared)
        : s_q(reinterpret_cast<float*>(shared)),
          s_k(s_q + T::kFloatsQ),
          s_v(s_k + T::kFloatsK),
          s_p(s_v + T::kFloatsV) {
        const int lane = threadIdx.x % wb::kWarpSize;
        // Without pairs: lane % kLaneStep is 0, and the rest is lane / kLanes.
        const int row_in_warp =
            lane % T::kLaneStep + lane / (T::kLaneStep * T::kLanes) * T::kLaneStep;
        row = threadIdx.x / wb::kWarpSize * T::kRowStep * T::TM + row_in_warp;
        col = lane / T::kLaneStep % T::kLanes;
    }
};
// #endregion tile

/// Where a block works: found from its number.
template <class T>
struct BlockWork {
    int64_t head;
    int first_row;
    int rows;     // of the head from first_row on, at most T::BM count
    int visible;  // keys that first_row sees; may be negative: none, by so many
    int steps;    // tiles of keys that some row of the block sees

    __device__ BlockWork(int queries, int keys, unsigned row_tiles, bool causal) {
        head = blockIdx.x / row_tiles;
        unsigned tile = blockIdx.x % row_tiles;
        // The last rows of a causal head see the most keys. Those of all heads start
        // first, so that what runs at the very end is short.
        if (causal) {
            const unsigned heads = gridDim.x / row_tiles;
            head = blockIdx.x % heads;
            tile = row_tiles - 1 - blockIdx.x / heads;
        }
        first_row = static_cast<int>(tile) * T::BM;
        rows = queries - first_row;
        visible = first_row + 1 + keys - queries;
        const int last_row = min(first_row + T::BM, queries) - 1;
        const int block_keys = wb::visible_keys(queries, keys, causal, last_row);
        steps = (block_keys + T::BN - 1) / T::BN;
    }

    /// Whether some row does not see all keys of the step that begins at first_key.
    __device__ bool needs_mask(int first_key, int keys, bool causal) const {
        const int end = first_key + T::BN;
        return end > keys || (causal && end > visible);
    }
};

/// The block's rows of q, times the scale, to shared memory; zeros past the last row.
template <class T>
__device__ __forceinline__ void load_queries(float* s_q,      // [BM, kStride]
                                             const float* q,  // [rows, D]
                                             int rows,        // that are left
                                             float scale) {
    for (int e = threadIdx.x; e < T::BM * T::D / 4; e += T::kThreads) {
        const int r = e / (T::D / 4);
        const int c = e % (T::D / 4) * 4;
        float4 x = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (r < rows) x = *reinterpret_cast<const float4*>(q + r * T::D + c);
        *reinterpret_cast<float4*>(s_q + r * T::kStride + c) =
            make_float4(x.x * scale, x.y * scale, x.z * scale, x.w * scale);
    }
}

/// Starts copying a tile of BN rows to shared memory; zeros past the last row.
template <class T, int kStride>
__device__ __forceinline__ void start_copy(float* s,        // [BN, kStride]
                                           const float* g,  // [rows, D]
                                           int rows) {
    constexpr int kRows = T::kThreads * 4 / T::D;
    const int r = threadIdx.x / (T::D / 4);
    const int c = threadIdx.x % (T::D / 4) * 4;
#pragma unroll
    for (int i = 0; i < T::BN; i += kRows) {
        wb::ptx::cp_async_zfill<16>(
            s + (r + i) * kStride + c, g + (r + i) * T::D + c, r + i < rows ? 16 : 0);
    }
    wb::ptx::cp_async_commit();
}

/// What a thread has of its rows.
template <class T>
struct RowSums {
    float max[T::TM];       ///< of the scores so far, the same in all lanes of a row
    float sum[T::TM] = {};  ///< of this lane's weights; the lanes add up at the end
    float o[T::TM][T::TD] = {};  ///< sum of weight * value, not divided yet

    __device__ __forceinline__ RowSums() {
#pragma unroll
        for (float& each : max)
            each = -INFINITY;
    }
};

/// Copies 2 or 4 floats in one access.
template <int kCount>
__device__ __forceinline__ void copy_vector(float* to, const float* from) {
    using Vector = std::conditional_t<kCount == 4, float4, float2>;
    *reinterpret_cast<Vector*>(to) = *reinterpret_cast<const Vector*>(from);
}

/// -infinity for the keys that a row does not see; only the last steps need it.
/// @param first_key  of this step
/// @param visible    keys that row w.row sees; each row below sees one more if causal
template <class T>
__device__ __forceinline__ void mask_scores(const Workspace<T>& w,
                                            float (&r_s)[T::TM][T::TN],
                                            int first_key,
                                            int visible,
                                            int keys,
                                            bool causal) {
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
        const int limit = causal ? min(keys, visible + i * T::kRowStep) : keys;
#pragma unroll
        for (int j = 0; j < T::TN; ++j) {
            if (first_key + w.col + j * T::kLanes >= limit) r_s[i][j] = -INFINITY;
        }
    }
}

// #region softmax
/// One step of the online softmax, in powers of two: scores become weights, and what
/// has been summed up so far is rescaled to the new maximum.
template <class T>
__device__ __forceinline__ void softmax_step(float (&r_s)[T::TM][T::TN],
                                             RowSums<T>& r) {
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
        float maximum = r.max[i];
#pragma unroll
        for (int j = 0; j < T::TN; ++j)
            maximum = fmaxf(maximum, r_s[i][j]);
#pragma unroll
        for (int other = 1; other < T::kLanes; other *= 2) {
            maximum = fmaxf(
                maximum, __shfl_xor_sync(0xFFFFFFFFu, maximum, other * T::kLaneStep));
        }
        // As long as a row has seen no key, its maximum is -infinity, and the
        // difference of two of these is no number.
        const float base = maximum == -INFINITY ? 0.0f : maximum;
        const float factor = wb::ptx::exp2_approx(r.max[i] - base);
        r.max[i] = maximum;
        r.sum[i] *= factor;
#pragma unroll
        for (int j = 0; j < T::TN; ++j) {
            r_s[i][j] = wb::ptx::exp2_approx(r_s[i][j] - base);
            r.sum[i] += r_s[i][j];
        }
#pragma unroll
        for (int c = 0; c < T::TD; ++c)
            r.o[i][c] *= factor;
    }
}
// #endregion softmax

// #region weights
/// This thread's weights to shared memory, for the other lanes of its rows. The order
/// of a sum is free: what a lane has of the keys col, col + kLanes, ... stands together
/// as one vector.
template <class T>
__device__ __forceinline__ void store_weights(const Workspace<T>& w,
                                              float (&r_p)[T::TM][T::TN]) {
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
        float* const p = w.s_p + (w.row + i * T::kRowStep) * T::kStrideP;
#pragma unroll
        for (int j = 0; j < T::TN; j += T::kVector)
            copy_vector<T::kVector>(p + j * T::kLanes + w.col * T::kVector, &r_p[i][j]);
    }
}
// #endregion weights

/// Stores four columns of the output at once.
struct StoreFloats {
    __device__ __forceinline__ void operator()(float* to, float4 x) const {
        *reinterpret_cast<float4*>(to) = x;
    }
};

/// The rows of the output, divided by their sums, and the log-sum-exp.
/// @param rows  that are left from the block's first on
/// @param store_four  stores four columns as Number, at one place
template <class T, class Number, class Store = StoreFloats>
__device__ __forceinline__ void store_output(const Workspace<T>& w,
                                             const RowSums<T>& r,
                                             Number* o,   // [rows, D]
                                             float* lse,  // [rows] or null
                                             int rows,
                                             Store store_four = {}) {
    constexpr float kLn2 = wb::kLn2;
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
        float sum = r.sum[i];
#pragma unroll
        for (int other = 1; other < T::kLanes; other *= 2)
            sum += __shfl_xor_sync(0xFFFFFFFFu, sum, other * T::kLaneStep);
        const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
        const int row = w.row + i * T::kRowStep;
        if (row >= rows) continue;
#pragma unroll
        for (int c = 0; c < T::TD; c += 4) {
            store_four(o + row * T::D + c * T::kLanes + 4 * w.col,
                       make_float4(r.o[i][c] * inverse,
                                   r.o[i][c + 1] * inverse,
                                   r.o[i][c + 2] * inverse,
                                   r.o[i][c + 3] * inverse));
        }
        if (lse != nullptr && w.col == 0) lse[row] = (r.max[i] + log2f(sum)) * kLn2;
    }
}

// #region tilings
/// The fastest on an H100 of some forty that were timed: on it, two blocks share a
/// multiprocessor up to D = 64. D = 256 takes 217 KB, which sm_90 has, but not sm_80.
constexpr Tiling large_tiling(int head_dim, bool pairs = false) {
    return {.head_dim = head_dim,
            .block_rows = 128,
            .block_keys = head_dim == 256 ? 32 : 64,
            .lanes = head_dim >= 128 ? 16 : 8,
            .pairs = pairs};
}

/// For GPUs with 99 KB for a block (sm_86, sm_89, sm_120), up to D = 128.
constexpr Tiling small_tiling(int head_dim) {
    return {.head_dim = head_dim,
            .block_rows = 64,
            .block_keys = head_dim == 128 ? 32 : 64,
            .lanes = head_dim == 32 ? 8 : 16};
}
// #endregion tilings

/// The tensors of a call, in the shapes of the kernels.
template <class Number>
struct Tensors {
    const Number *q, *k, *v;
    Number* o;
    float* lse;  ///< or null
};

/// Launches a kernel with a block for each T::BM rows of each head, and `bytes` of
/// shared memory. Returns false where the GPU does not have as much.
template <class T, class Kernel, class Number>
bool launch_tiles(Kernel kernel,
                  const wb::AttentionShape& shape,
                  const Tensors<Number>& t,
                  cudaStream_t stream,
                  size_t bytes = T::kBytes) {
    if (!wb::allow_shared(kernel, bytes)) return false;
    const unsigned row_tiles = wb::grid_size(shape.queries, T::BM);
    const int64_t heads = shape.batch * shape.query_heads;
    kernel<<<wb::grid_size(heads * row_tiles, 1), T::kThreads, bytes, stream>>>(
        t.q,
        t.k,
        t.v,
        t.o,
        t.lse,
        static_cast<int>(shape.queries),
        static_cast<int>(shape.keys),
        row_tiles,
        shape.causal,
        wb::log2_scale(shape.scale));
    CUDA_CHECK_LAUNCH();
    return true;
}
