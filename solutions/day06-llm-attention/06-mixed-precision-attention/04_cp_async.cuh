// 04_cp_async.cuh: mixed_precision_attention_v4. Included by
// mixed_precision_attention.cu, below v3.
#pragma once

#include <wb/head_dim.h>
#include <wb/ptx/cp_async.h>

#include <cstdint>

// #region v4-stage
/// Shared memory of v4: that of v3, and a tile of BN rows as it lies in global memory.
/// The sum stays so small that two blocks share a multiprocessor where v3's did.
template <class T>
constexpr size_t kBytesV4 = T::kBytes + size_t{2} * T::BN* T::D;

/// A tile on its way: cp.async cannot convert, so the bits arrive in a stage first.
/// Each thread fetches, and later converts, always the same 16-byte places of it, so
/// that it has to wait for its own copies only, and may refill a place that it has
/// read.
template <class Number, class T>
class Stage {
 public:
    __device__ explicit Stage(Number* s_stage) : s_stage_(s_stage) {}  // [BN, D]

    /// Starts copying BN rows; zeros past the last one.
    __device__ __forceinline__ void fetch(const Number* g, int rows) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            const int e = place(i);
            wb::ptx::cp_async_zfill<16>(s_stage_ + e, g + e, e / T::D < rows ? 16 : 0);
        }
        wb::ptx::cp_async_commit();
    }

    /// Waits for the rows and writes them as floats.
    template <int kStride>
    __device__ __forceinline__ void convert(float* s) const {  // [BN, kStride]
        wb::ptx::cp_async_wait<0>();
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            const int e = place(i);
            store_floats<Number>(s + e / T::D * kStride + e % T::D,
                                 *reinterpret_cast<const uint4*>(s_stage_ + e));
        }
    }

 private:
    /// 16-byte vectors of a tile that each thread has.
    static constexpr int kCount = T::BN * T::D / kEight / T::kThreads;
    static_assert(kCount * kEight * T::kThreads == T::BN * T::D,
                  "each thread copies as many vectors");

    static __device__ __forceinline__ int place(int i) {
        return (i * T::kThreads + static_cast<int>(threadIdx.x)) * kEight;
    }

    Number* s_stage_;
};
// #endregion v4-stage

// #region v4-kernel
/// mixed_precision_attention_v4: v3, and the next tile is under way while the block
/// computes.
///
///     stage   | keys 0  | values 0   | keys 1      | values 1   |
///     block   |         | q . k of 0 | p . v of 0  | q . k of 1 |
///
/// Launch   as v3, with kBytesV4<T> of dynamic shared memory
template <class Number, class T>
__global__ void __launch_bounds__(T::kThreads)
    attention_v4_kernel(const Number* q,  // [B * H, queries, D]
                        const Number* k,  // [B * H, keys, D]
                        const Number* v,  // [B * H, keys, D]
                        Number* o,        // [B * H, queries, D]
                        float* lse,       // [B * H, queries] or null
                        int queries,
                        int keys,
                        unsigned row_tiles,
                        bool causal,
                        float scale_log2) {
    extern __shared__ float4 s_tiles[];
    constexpr int D = T::D;
    constexpr int BN = T::BN;
    const Workspace<T> w(s_tiles);
    Stage<Number, T> stage(reinterpret_cast<Number*>(w.s_p + T::kFloatsP));
    const BlockWork<T> work(queries, keys, row_tiles, causal);
    const int64_t g_row = work.head * queries + work.first_row;
    k += work.head * keys * D;
    v += work.head * keys * D;
    if (work.steps > 0) stage.fetch(k, keys);
    load_rows<Number, T, T::BM, T::kStride>(
        w.s_q, q + g_row * D, work.rows, scale_log2);
    RowSums<T> r;
    for (int step = 0; step < work.steps; ++step) {
        const int first_key = step * BN;
        stage.template convert<T::kStride>(w.s_k);
        stage.fetch(v, keys - first_key);
        v += BN * D;
        __syncthreads();  // the keys are here, and nobody reads the values any more
        float r_s[T::TM][T::TN] = {};
        tile_scores(w, r_s);
        if (work.needs_mask(first_key, keys, causal)) {
            mask_scores(w, r_s, first_key, work.visible + w.row, keys, causal);
        }
        softmax_step<T>(r_s, r);
        store_weights(w, r_s);
        stage.template convert<D>(w.s_v);
        k += BN * D;
        if (step + 1 < work.steps) stage.fetch(k, keys - first_key - BN);
        __syncthreads();  // the values are here, and nobody reads the keys any more
        add_values(w, r);
    }
    store_output(w,
                 r,
                 o + g_row * D,
                 lse == nullptr ? nullptr : lse + g_row,
                 work.rows,
                 [](Number* to, float4 x) { store_four(to, x); });
}
// #endregion v4-kernel

// #region v4-launch
template <class Number>
static void attention_v4(const wb::AttentionShape& shape,
                         const Number* q,
                         const Number* k,
                         const Number* v,
                         Number* o,
                         float* lse,
                         cudaStream_t stream) {
    const Tensors<Number> t = {q, k, v, o, lse};
    wb::with_head_dim<32, 64, 128>(shape.head_dim, [&](auto head_dim) {
        using Large = Tile<large_tiling(head_dim(), /*pairs=*/true)>;
        using Small = Tile<small_tiling(head_dim())>;
        if (!launch_tiles<Large>(attention_v4_kernel<Number, Large>,
                                 shape,
                                 t,
                                 stream,
                                 kBytesV4<Large>) &&
            !launch_tiles<Small>(attention_v4_kernel<Number, Small>,
                                 shape,
                                 t,
                                 stream,
                                 kBytesV4<Small>)) {
            attention_v2(shape, q, k, v, o, lse, stream);
        }
    });
}
// #endregion v4-launch
