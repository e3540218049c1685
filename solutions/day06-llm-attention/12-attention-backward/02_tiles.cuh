// 02_tiles.cuh: v2: 32 queries and 32 keys meet in shared memory. Each block owns one
// side and goes over the other.
#pragma once

#include <wb/launch_kernel.h>

/// Rows of each side, and threads: each has four pairs, and an eighth of a row of sums.
constexpr int kSide = 32;
constexpr int kThreadsV2 = 256;
constexpr int kLanesV2 = kThreadsV2 / kSide;  // threads that share a row

// #region v2-tile
/// One number more a row: rows of neighbouring threads are in different banks.
template <int D>
struct SharedV2 {
    float q[kSide][D + 1];
    float d_o[kSide][D + 1];
    float k[kSide][D + 1];
    float v[kSide][D + 1];
    float weight[kSide][kSide + 1];   ///< [query][key] P
    float d_score[kSide][kSide + 1];  ///< [query][key] S
};

/// Rows of a tile as floats, all threads together; zeros past the last row.
template <int D, class T>
__device__ __forceinline__ void load_rows_v2(float (&s_rows)[kSide][D + 1],
                                             const T* rows,
                                             int count) {
    for (int e = static_cast<int>(threadIdx.x); e < kSide * D; e += kThreadsV2)
        s_rows[e / D][e % D] = e / D < count ? wb::to_float(rows[e]) : 0.0f;
}

/// P and S of all pairs of the tile; 0 where there is no pair. A thread has four keys
/// of one query, so that it loads the query's numbers once for all four.
template <int D, class T>
__device__ __forceinline__ void pairs_v2(SharedV2<D>& s,
                                         const Problem<T>& p,
                                         const float* delta,
                                         int64_t first_row,  // of the head's rows
                                         int first_query,
                                         int first_key) {
    constexpr int kKeys = kSide / kLanesV2;
    const int i = static_cast<int>(threadIdx.x) / kLanesV2;
    const int lane = static_cast<int>(threadIdx.x) % kLanesV2;
    float score[kKeys] = {};
    float d_weight[kKeys] = {};
    for (int d = 0; d < D; ++d) {
#pragma unroll
        for (int n = 0; n < kKeys; ++n) {
            score[n] += s.q[i][d] * s.k[lane + n * kLanesV2][d];
            d_weight[n] += s.d_o[i][d] * s.v[lane + n * kLanesV2][d];
        }
    }
    const int query = first_query + i;
    const int visible = query < p.queries ? p.visible(query) : 0;
    const float lse = visible > 0 ? p.lse[first_row + query] : 0.0f;
    const float row_delta = visible > 0 ? delta[first_row + query] : 0.0f;
#pragma unroll
    for (int n = 0; n < kKeys; ++n) {
        const int j = lane + n * kLanesV2;
        const bool sees = first_key + j < visible;
        const float weight = sees ? expf(p.scale * score[n] - lse) : 0.0f;
        s.weight[i][j] = weight;
        s.d_score[i][j] = weight * (d_weight[n] - row_delta);
    }
}
// #endregion v2-tile

// #region v2-queries
/// attention_backward_v2, dq: a block for 32 queries, over the keys that they see.
///
/// Launch   grid query_heads * ceil_div(queries, kSide), block kThreadsV2,
///          sizeof(SharedV2) bytes
template <int D, class T>
__global__ void __launch_bounds__(kThreadsV2)
    attention_backward_v2_queries_kernel(const Problem<T> p,
                                         const float* delta,
                                         unsigned tiles) {
    extern __shared__ uint4 s_bytes[];
    auto& s = *reinterpret_cast<SharedV2<D>*>(s_bytes);
    const int64_t head = blockIdx.x / tiles;
    const int first_query = static_cast<int>(blockIdx.x % tiles) * kSide;
    const int64_t first_row = head * p.queries;
    const int64_t first_kv = head / p.group * p.keys;
    const int rows = p.queries - first_query;
    const int64_t begin = (first_row + first_query) * D;
    load_rows_v2<D>(s.q, p.q + begin, rows);
    load_rows_v2<D>(s.d_o, p.d_o + begin, rows);
    const int i = static_cast<int>(threadIdx.x) / kLanesV2;
    const int lane = static_cast<int>(threadIdx.x) % kLanesV2;
    const int visible = p.visible(min(first_query + kSide, p.queries) - 1);
    float r_dq[D / kLanesV2] = {};
    for (int key = 0; key < visible; key += kSide) {
        __syncthreads();  // everybody is done with the tile before
        load_rows_v2<D>(s.k, p.k + (first_kv + key) * D, p.keys - key);
        load_rows_v2<D>(s.v, p.v + (first_kv + key) * D, p.keys - key);
        __syncthreads();
        pairs_v2<D>(s, p, delta, first_row, first_query, key);
        __syncwarp();  // a row of S is written and read by eight lanes of one warp
        for (int j = 0; j < kSide; ++j) {
#pragma unroll
            for (int m = 0; m < D / kLanesV2; ++m)
                r_dq[m] += s.d_score[i][j] * s.k[j][lane + m * kLanesV2];
        }
    }
    if (i >= rows) return;
    for (int m = 0; m < D / kLanesV2; ++m)
        p.dq[begin + i * D + lane + m * kLanesV2] =
            wb::to_element<T>(p.scale * r_dq[m]);
}
// #endregion v2-queries

// #region v2-keys
/// attention_backward_v2, dk and dv: a block for 32 keys, over the queries that see
/// them in all heads of the group.
///
/// Launch   grid kv_heads * ceil_div(keys, kSide), block kThreadsV2,
///          sizeof(SharedV2) bytes
template <int D, class T>
__global__ void __launch_bounds__(kThreadsV2)
    attention_backward_v2_keys_kernel(const Problem<T> p,
                                      const float* delta,
                                      unsigned tiles) {
    extern __shared__ uint4 s_bytes[];
    auto& s = *reinterpret_cast<SharedV2<D>*>(s_bytes);
    const int64_t kv_head = blockIdx.x / tiles;
    const int first_key = static_cast<int>(blockIdx.x % tiles) * kSide;
    const int64_t begin = (kv_head * p.keys + first_key) * D;
    const int rows = p.keys - first_key;
    load_rows_v2<D>(s.k, p.k + begin, rows);
    load_rows_v2<D>(s.v, p.v + begin, rows);
    const int j = static_cast<int>(threadIdx.x) / kLanesV2;
    const int lane = static_cast<int>(threadIdx.x) % kLanesV2;
    const int first_query = p.first_query(first_key) / kSide * kSide;
    float r_dk[D / kLanesV2] = {};
    float r_dv[D / kLanesV2] = {};
    for (int64_t head = kv_head * p.group; head < (kv_head + 1) * p.group; ++head) {
        const int64_t first_row = head * p.queries;
        for (int query = first_query; query < p.queries; query += kSide) {
            __syncthreads();  // everybody is done with the tile before
            const int64_t from = (first_row + query) * D;
            load_rows_v2<D>(s.q, p.q + from, p.queries - query);
            load_rows_v2<D>(s.d_o, p.d_o + from, p.queries - query);
            __syncthreads();
            pairs_v2<D>(s, p, delta, first_row, query, first_key);
            __syncthreads();
            for (int i = 0; i < kSide; ++i) {
#pragma unroll
                for (int m = 0; m < D / kLanesV2; ++m) {
                    const int d = lane + m * kLanesV2;
                    r_dk[m] += s.d_score[i][j] * s.q[i][d];
                    r_dv[m] += s.weight[i][j] * s.d_o[i][d];
                }
            }
        }
    }
    if (j >= rows) return;
    for (int m = 0; m < D / kLanesV2; ++m) {
        const int64_t to = begin + j * D + lane + m * kLanesV2;
        p.dk[to] = wb::to_element<T>(p.scale * r_dk[m]);
        p.dv[to] = wb::to_element<T>(r_dv[m]);
    }
}
// #endregion v2-keys

// #region v2-launch
template <class T>
static void attention_backward_v2(const AttentionBackward<T>& call,
                                  cudaStream_t stream) {
    const auto p = problem_of(call);
    const int64_t rows = p.rows();
    const wb::Scratch<float> delta(rows > 0 ? rows : 1, stream);
    wb::with_head_dim<64, 128>(call.shape.head_dim, [&](auto head_dim) {
        constexpr int D = head_dim();
        if (rows > 0) {
            attention_backward_v1_delta_kernel<D>
                <<<wb::grid_size(rows, kThreads), kThreads, 0, stream>>>(p,
                                                                         delta.data());
            CUDA_CHECK_LAUNCH();
            const unsigned tiles = wb::grid_size(p.queries, kSide);
            wb::launch_kernel(attention_backward_v2_queries_kernel<D, T>,
                              wb::grid_size(p.query_heads * tiles, 1),
                              kThreadsV2,
                              sizeof(SharedV2<D>),
                              stream,
                              p,
                              delta.data(),
                              tiles);
        }
        if (p.kv_rows() > 0) {
            const unsigned tiles = wb::grid_size(p.keys, kSide);
            wb::launch_kernel(attention_backward_v2_keys_kernel<D, T>,
                              wb::grid_size(p.kv_heads * tiles, 1),
                              kThreadsV2,
                              sizeof(SharedV2<D>),
                              stream,
                              p,
                              delta.data(),
                              tiles);
        }
    });
}
// #endregion v2-launch
