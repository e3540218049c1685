/// few_rows_int4.cuh: given with "Go faster": few rows times weights as chapter 02
/// packs them, with stage_rows(), which stands in the file that includes this one.
#pragma once

#include "few_rows.cuh"

constexpr int kAheadInt4 = 4;  // tiles of a warp under way at first

// #region v3-int4
/// A lane's part of a tile of W, and of its factors: four columns of eight rows.
struct Int4Part {
    uint4 words;
    uint4 factors;

    /// @param tile  < weights.tiles_down
    static __device__ __forceinline__ Int4Part load(const Packed& weights, int tile) {
        const int lane = threadIdx.x % wb::kWarpSize;
        const int64_t across = blockIdx.x;
        return {
            weights
                .weights[(across * weights.tiles_down + tile) * wb::kWarpSize + lane],
            weights.factors[(across * weights.groups + weights.group(tile)) * 8 +
                            lane / 4]};
    }

    /// Adds its products with each row of x to sums of its columns.
    ///
    /// @param s_rows  [rows, K]
    template <int ROWS>
    __device__ __forceinline__ void add(float (&sums)[ROWS][4],
                                        const __nv_bfloat16* s_rows,
                                        int tile,
                                        const FewRows& p) const {
        const int first = tile * kTileRows + static_cast<int>(threadIdx.x) % 4 * 8;
        const uint32_t word[4] = {words.x, words.y, words.z, words.w};
        const uint32_t factor[4] = {factors.x, factors.y, factors.z, factors.w};
        float weights[4][8];
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            const auto& both = reinterpret_cast<const __half2&>(factor[c]);
            const float scale = __low2float(both);
            const float zero = __high2float(both);  // 1024 + zero
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                const uint32_t q = word[c] >> 4 * place_of_row(i) & 15u;
                // The product is exact in float, and rounded once, to a half.
                const float w = (static_cast<float>(1024u + q) - zero) * scale;
                weights[c][i] = __half2float(__float2half(w));
            }
        }
#pragma unroll
        for (int m = 0; m < ROWS; ++m) {
            if (m >= p.rows) break;
            float x[8];
            if (p.int4.rows == nullptr) {
                Vector::load(s_rows + m * p.K + first).unpack(x);
            } else {  // rows of W were sorted by their groups
#pragma unroll
                for (int i = 0; i < 8; ++i) {
                    const int row = p.int4.rows[first + i];
                    x[i] = row < 0 ? 0.0f : __bfloat162float(s_rows[m * p.K + row]);
                }
            }
#pragma unroll
            for (int c = 0; c < 4; ++c)
#pragma unroll
                for (int i = 0; i < 8; ++i)
                    sums[m][c] += weights[c][i] * x[i];
        }
    }
};

/// v3 for layers of INT4: a block has the 32 columns of a tile, after it has normalised
/// x, and each of its warps every kFewWarps-th tile down.
///
/// Launch   grid ceil_div(N, 32), block kFewThreads, shared memory for rows of x, which
///          becomes that of sums
/// Traffic  reads W once, and x in each block, from L2
template <int ROWS>
static __global__ void __launch_bounds__(kFewThreads)
    few_rows_int4_kernel(const FewRows p) {
    extern __shared__ uint4 s_bytes[];
    auto* const s_rows = reinterpret_cast<__nv_bfloat16*>(s_bytes);  // [rows, K]
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize;
    const int tiles = p.int4.tiles();
    float sums[ROWS][4] = {};
    // The first weights are on their way while the rows are normalised.
    Int4Part ahead[kAheadInt4];
#pragma unroll
    for (int i = 0; i < kAheadInt4; ++i) {
        const int tile = warp + i * kFewWarps;
        if (tile < tiles) ahead[i] = Int4Part::load(p.int4, tile);
    }
    stage_rows(p, s_rows);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kAheadInt4; ++i) {
        const int tile = warp + i * kFewWarps;
        if (tile < tiles) ahead[i].add(sums, s_rows, tile, p);
    }
    for (int tile = warp + kAheadInt4 * kFewWarps; tile < tiles; tile += kFewWarps)
        Int4Part::load(p.int4, tile).add(sums, s_rows, tile, p);
    grow_lengths(p);
    __syncthreads();  // nobody reads rows any more
    // The four lanes with the same columns, then the warps, always in the same order.
    auto* const s_sums = reinterpret_cast<float*>(s_bytes);  // [kFewWarps, ROWS, 32]
#pragma unroll
    for (int m = 0; m < ROWS; ++m)
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            float sum = sums[m][c];
            sum += __shfl_xor_sync(wb::kAllLanes, sum, 1);
            sum += __shfl_xor_sync(wb::kAllLanes, sum, 2);
            if (lane % 4 == c)
                s_sums[(warp * ROWS + m) * kTileColumns + lane / 4 * 4 + c] = sum;
        }
    __syncthreads();
    const int n = static_cast<int>(blockIdx.x) * kTileColumns + lane;
    if (warp >= p.rows || n >= p.N) return;  // warp m has row m
    float sum = 0.0f;
    for (int w = 0; w < kFewWarps; ++w)
        sum += s_sums[(w * ROWS + warp) * kTileColumns + lane];
    if (p.bias != nullptr) sum += __bfloat162float(p.bias[n]);
    sum = activated(sum, p.activation);
    const int64_t place = int64_t{warp} * p.N + n;
    if (p.residual != nullptr) sum += __bfloat162float(p.residual[place]);
    p.y[place] = __float2bfloat16(sum);
}
// #endregion v3-int4

template <int ROWS>
void launch_few_rows_int4(const FewRows& p, cudaStream_t stream) {
    const int of_rows = p.rows * p.K * int{sizeof(__nv_bfloat16)};
    const int of_sums = kFewWarps * ROWS * kTileColumns * int{sizeof(float)};
    few_rows_int4_kernel<ROWS><<<wb::grid_size(p.N, kTileColumns),
                                 kFewThreads,
                                 static_cast<size_t>(std::max(of_rows, of_sums)),
                                 stream>>>(p);
    CUDA_CHECK_LAUNCH();
}
