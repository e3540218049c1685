/// wb/hopper_gemm/epilogue.h: what becomes of the sums: each is changed as the kernel's
/// Epilogue has it, rounded, and stored.
///
/// An Epilogue is what a kernel does besides the product. Its Params come with the
/// launch; an object of it is made by each thread for each 64 rows of a tile, which
/// have two of this thread's rows:
///
///     struct Plain {
///         struct Params {};
///         Plain(const Params&, const Problem&, int row);   // and row + 8
///         void apply(float (&x)[4], int col) const;  // x[0], x[1]: row, col and col+1
///         void finish() const;                       // x[2], x[3]: row + 8
///     };
///
/// Where sums are whole numbers, they come as they are:
///
///     void apply(const int32_t (&sums)[4], float (&x)[4], int col) const;
///
/// Rows and columns past the end of C come along, for threads do not part: read nothing
/// there. Nothing of them is stored.
///
/// An Epilogue that reads memory says what it wants of it, for the same four sums:
///
///     struct Ahead { ... };                 // what was read, in registers
///     Ahead fetch(int col) const;
///     void apply(float (&x)[4], int col, const Ahead& ahead) const;
///
/// Then all of a panel is fetched while the panel before it is done. Where apply()
/// reads memory itself, each read is waited for: between two of them are stores.
#pragma once

#include <wb/ptx/pack.h>
#include <wb/ptx/stmatrix.h>
#include <wb/ptx/tma.h>

#include "wb/hopper_gemm/ahead.h"
#include "wb/hopper_gemm/consume.h"

namespace wb::hopper_gemm {

// #region plain
/// C = A * B.
struct PlainEpilogue {
    struct Params {};
    __device__ __forceinline__ PlainEpilogue(const Params&, const Problem&, int) {}
    __device__ __forceinline__ void apply(float (&)[4], int) const {}
    __device__ __forceinline__ void finish() const {}
};

/// C[m, n] = (A * B)[m, n] * scale_a[m] * scale_b[n].
struct ScaleEpilogue {
    struct Params {
        const float* scale_a;  ///< [M]
        const float* scale_b;  ///< [N]
    };
    const float* scale_b;
    int N;
    float of_row[2];

    __device__ __forceinline__ ScaleEpilogue(const Params& params,
                                             const Problem& p,
                                             int row)
        : scale_b(params.scale_b), N(p.N) {
        of_row[0] = row < p.M ? params.scale_a[row] : 0.0f;
        of_row[1] = row + 8 < p.M ? params.scale_a[row + 8] : 0.0f;
    }
    __device__ __forceinline__ void apply(float (&x)[4], int col) const {
        float2 s = {0.0f, 0.0f};
        if (col < N) s = *reinterpret_cast<const float2*>(scale_b + col);
        x[0] *= of_row[0] * s.x;
        x[1] *= of_row[0] * s.y;
        x[2] *= of_row[1] * s.x;
        x[3] *= of_row[1] * s.y;
    }
    __device__ __forceinline__ void finish() const {}
};
// #endregion plain

/// What an Epilogue makes of a thread's four sums.
template <class Epilogue, class Sum, class Ahead = NothingAhead>
__device__ __forceinline__ void apply_to(const Epilogue& epilogue,
                                         const Sum* sums,
                                         float (&x)[4],
                                         int col,
                                         const Ahead& ahead = {}) {
    if constexpr (!std::is_same_v<Ahead, NothingAhead>) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
            x[e] = sums[e];
        epilogue.apply(x, col, ahead);
    } else if constexpr (std::is_same_v<Sum, int32_t>) {
        const int32_t of_four[4] = {sums[0], sums[1], sums[2], sums[3]};
        epilogue.apply(of_four, x, col);
    } else {
#pragma unroll
        for (int e = 0; e < 4; ++e)
            x[e] = sums[e];
        epilogue.apply(x, col);
    }
}

// #region store-registers
/// Stores a warpgroup's sums from registers: each thread two neighbours of a row at a
/// time, 4 bytes.
template <class S, class Epilogue>
__device__ __forceinline__ void store_from_registers(
    const Problem& p,
    const typename Epilogue::Params& params,
    const Place& at,
    int group,
    const Sums<S>& sums) {
    using wb::ptx::pack;
    auto* const C = static_cast<typename S::CType*>(p.C);
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize % 4;
#pragma unroll
    for (int i = 0; i < S::kRowBlocks; ++i) {
        const int row =
            at.row + group * S::kGroupRows + i * kWgmmaRows + warp * 16 + lane / 4;
        Epilogue epilogue(params, p, row);
#pragma unroll
        for (int j = 0; j < S::BN / 8; ++j) {
            const int col = at.col + j * 8 + lane % 4 * 2;
            float x[4];
            apply_to(epilogue, &sums.d[i][4 * j], x, col);
            if (col >= p.N) continue;
            auto* const g_pair = reinterpret_cast<uint32_t*>(C + row * p.ldc + col);
            auto* const g_lower =
                reinterpret_cast<uint32_t*>(C + (row + 8) * p.ldc + col);
            if (row < p.M) *g_pair = pack<typename S::CType>(x[0], x[1]);
            if (row + 8 < p.M) *g_lower = pack<typename S::CType>(x[2], x[3]);
        }
        epilogue.finish();
    }
}
// #endregion store-registers

// #region store-tma
/// Has the TMA unit store a warpgroup's sums. Each warp puts 16 rows x 64 columns into
/// one of its buffers, has them stored, and goes on with the next buffer; what is on
/// its way when the tile is done goes on beside the next tile's products. Nothing here
/// waits for other warps.
///
/// @param buffer  of this warp, the next one to be used; goes on from tile to tile
template <class S, class Epilogue>
__device__ __forceinline__ void store_by_tma(SharedTiles<S>& shared,
                                             const TensorMaps& maps,
                                             const Problem& p,
                                             const typename Epilogue::Params& params,
                                             const Place& at,
                                             int group,
                                             const Sums<S>& sums,
                                             int& buffer) {
    using namespace wb::ptx;
    const uint32_t lane = threadIdx.x % wb::kWarpSize;
    const int warp = static_cast<int>(threadIdx.x) / wb::kWarpSize % 4;
    const uint32_t row_in_warp = lane % 16;
#pragma unroll
    for (int i = 0; i < S::kRowBlocks; ++i) {
        const int first = at.row + group * S::kGroupRows + i * kWgmmaRows + warp * 16;
        Epilogue epilogue(params, p, first + static_cast<int>(lane) / 4);
        const int in_row = static_cast<int>(lane % 4) * 2;
        auto next = fetch_columns<S::kPanel / 8>(epilogue, at.col + in_row);
#pragma unroll
        for (int panel = 0; panel < S::kPanels; ++panel) {
            const auto ahead = next;
            if (panel + 1 < S::kPanels)
                next = fetch_columns<S::kPanel / 8>(
                    epilogue, at.col + (panel + 1) * S::kPanel + in_row);
            unsigned char* const s_panel = shared.c[group * 4 + warp][buffer];
            // The store that last used this buffer has read it.
            if (lane == 0) tma_store_wait_read<S::kStoreBuffers - 1>();
            __syncwarp();
            const int col = at.col + panel * S::kPanel;
#pragma unroll
            for (int j = 0; j < S::kPanel / 16; ++j) {
                // Four matrices: rows 0 to 7 and 8 to 15 of 8 columns, and of the next.
                uint32_t r[4];
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const int at_d = panel * S::kPanel / 2 + j * 8 + half * 4;
                    float x[4];
                    apply_to(epilogue,
                             &sums.d[i][at_d],
                             x,
                             col + j * 16 + half * 8 + in_row,
                             ahead.of[2 * j + half]);
                    r[2 * half] = pack<typename S::CType>(x[0], x[1]);
                    r[2 * half + 1] = pack<typename S::CType>(x[2], x[3]);
                }
                const uint32_t byte = j * 32 + lane / 16 * 16;
                stmatrix(s_panel + swizzle_128b(row_in_warp, byte), r);
            }
            async_proxy_fence();  // what threads wrote, the TMA unit reads
            __syncwarp();
            if (lane == 0) {
                if (first < p.M && col < p.N)
                    tma_store(&maps.c, s_panel, col, first, 0, 0);
                tma_store_commit();  // without a store, too: buffers are counted
            }
            buffer = buffer + 1 == S::kStoreBuffers ? 0 : buffer + 1;
        }
        epilogue.finish();
    }
}

/// Shared memory may be given up. By all consumers, at the end of the kernel.
template <class S>
__device__ __forceinline__ void finish_stores() {
    if constexpr (S::kTmaStore) {
        if (threadIdx.x % wb::kWarpSize == 0) wb::ptx::tma_store_wait_read<0>();
        __syncwarp();
    }
}
// #endregion store-tma

}  // namespace wb::hopper_gemm
