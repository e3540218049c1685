// gptq_int4_fast.cu: v5: tensor cores, for as many rows of x as a block has.
#include "gptq_int4.h"

#include <wb/check.h>
#include <wb/exercise.h>

#include "packed.cuh"
#include "product.cuh"
#include "tensors.h"

// #region v5-dequantize
/// Eight numbers of a packed word, as four registers of two halves: rows 0 and 1, 2 and
/// 3, and so on.
///
/// w = (q - zero) * scale, the difference exact, the product rounded once.
///
/// @param word    as repacked: place_of_row() says which nibble is which row
/// @param factor  of the column: scale, and 1024 + zero
__device__ __forceinline__ void dequantize(uint32_t (&w)[4],
                                           uint32_t word,
                                           const __half2& factor) {
    // TODO(learner): the half 0x6400 is 1024, and its last bit counts 1. So 0x6400 | q
    // is 1024 + q, and 0x6400 | q << 4 is 1024 + 16 q. Take two nibbles out of the word
    // with one mask, four times, the second half of them after a shift by 8. Subtract,
    // in half2: 1024 + zero from the first kind; of the second kind take a sixteenth
    // and subtract 64 + zero, in one __hfma2. Then multiply (about 20 lines)
}
// #endregion v5-dequantize

#include "dequantize_rows.cuh"

// #region v5-multiply
/// Multiplies a warp's tiles of W in one stage with its rows of x.
template <class S>
__device__ __forceinline__ void multiply_stage(Sums<S>& sums,
                                               const Stage<S>& stage,
                                               const Place<S>& at) {
    const int lane = threadIdx.x % wb::kWarpSize;
#pragma unroll
    for (int k = 0; k < S::KT; ++k) {
        // Rows of x: eight numbers of row lane / 4, from column 8 (lane % 4) on.
        uint4 x[S::MT];
#pragma unroll
        for (int m = 0; m < S::MT; ++m) {
            const int row = (at.warp_m * S::MT + m) * kRowsX + lane / 4;
            x[m] = stage.x[row][Stage<S>::place(row, k * 4 + lane % 4)];
        }
#pragma unroll
        for (int n = 0; n < S::NT; ++n) {
            // TODO(learner): load the lane's words of the block's tile at.warp_n *
            // S::NT + n, and the factors of its columns: number lane / 4 of eight. Then
            // two products of 16 columns: of words x and y, and of z and w. Each needs
            // both words dequantised. Rows 0 to 3 of the eight are one step, 4 to 7 the
            // other one; the lane has two registers of x for each. a[0] and a[2] are of
            // the first column, a[1] and a[3] of the second (about 25 lines)
        }
    }
}
// #endregion v5-multiply

// #region v5-ring
/// The groups of a block multiply its part of the rows of W, each every WK-th stage of
/// it; kStages - 1 stages of a group are under way while it multiplies another one.
///
/// @param s_ring  [kStages] of this group
template <class S>
__device__ __forceinline__ void multiply_ring(Stage<S>* s_ring,
                                              Sums<S>& sums,
                                              const Problem& p,
                                              const Place<S>& at) {
    const int of_group = at.warp_k * S::KT;  // its first tile of each round
#pragma unroll
    for (int s = 0; s < S::kStages - 1; ++s) {
        const int tile = at.begin + s * S::kTilesK;
        if (tile < at.end) copy_stage(s_ring[s], p, at, tile + of_group);
        wb::ptx::cp_async_commit();
    }
    clear_missing_rows(s_ring, at);  // while the first stages are on their way
    int used = 0;
    int free = S::kStages - 1;
    for (int tile = at.begin; tile < at.end; tile += S::kTilesK) {
        wb::ptx::cp_async_wait<S::kStages - 2>();
        meet<S>();
        const int ahead = tile + (S::kStages - 1) * S::kTilesK;
        if (ahead < at.end) copy_stage(s_ring[free], p, at, ahead + of_group);
        wb::ptx::cp_async_commit();
        multiply_stage(sums, s_ring[used], at);
        free = used;
        used = used + 1 == S::kStages ? 0 : used + 1;
    }
}
// #endregion v5-ring

// #region v5-kernel
/// v5: tensor cores multiply tiles of W, dequantised in registers, with rows of x.
///
/// Launch   grid (blocks, 1, parts), block S::kThreads, WK kStages stages. Blocks of
///          the same columns follow each other: they share W in L2
/// Traffic  reads W once for BM rows of x; x once for BN columns of W, from L2
///
/// @tparam T  __half, if there is one part, or float
/// @param g_y [parts, M, N]
template <class S, class T>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    gptq_v5_kernel(const Problem p, T* g_y, unsigned blocks_down) {
    extern __shared__ uint4 s_bytes[];
    auto* s_stages = reinterpret_cast<Stage<S>*>(s_bytes);
    const Place<S> at(blockIdx.x % blocks_down,
                      blockIdx.x / blocks_down,
                      static_cast<int>(blockIdx.z),
                      static_cast<int>(gridDim.z),
                      p);
    Sums<S> sums;
    clear(sums);
    multiply_ring(s_stages + at.warp_k * S::kStages, sums, p, at);
    if (S::WK > 1) __syncthreads();  // the ring becomes sums
    store_sums(sums,
               reinterpret_cast<float4*>(s_bytes),
               g_y + int64_t{blockIdx.z} * p.M * p.N,
               p,
               at);
}
// #endregion v5-kernel

// #region v5-launch
/// Shared memory of a block: the ring, which becomes the sums of warps along K.
template <class S>
constexpr size_t bytes_of_block() {
    constexpr size_t kRing = S::WK * S::kStages * sizeof(Stage<S>);
    constexpr size_t kSums =
        S::WK > 1 ? S::WK * S::BM * (S::BN + 4) * sizeof(float) : 0;
    return kRing > kSums ? kRing : kSums;
}

/// @param parts  that the rows of W are cut into, >= 1
template <class S>
void launch_v5(const Problem& p, int64_t parts, __half* y, cudaStream_t stream) {
    const int64_t down = wb::ceil_div(p.M, int64_t{S::BM});
    const int64_t across = wb::ceil_div(p.N, int64_t{S::BN});
    const dim3 grid(wb::grid_size(down * across, 1), 1, static_cast<unsigned>(parts));
    const auto start = [&](auto* g_y) {
        const auto kernel = gptq_v5_kernel<S, std::remove_pointer_t<decltype(g_y)>>;
        CUDA_CHECK(cudaFuncSetAttribute(kernel,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(bytes_of_block<S>())));
        kernel<<<grid, S::kThreads, bytes_of_block<S>(), stream>>>(
            p, g_y, static_cast<unsigned>(down));
        CUDA_CHECK_LAUNCH();
    };
    if (parts == 1) return start(y);
    const wb::Scratch<float> g_parts(parts * p.M * p.N, stream);
    start(g_parts.data());
    add_parts(g_parts.data(), y, p.M * p.N, static_cast<int>(parts), stream);
}

/// Cuts the rows of W into so many parts that each multiprocessor has kBlocks blocks,
/// if each part is a round of the rings or more.
template <class S>
void launch_in_parts(const Problem& p, __half* y, cudaStream_t stream) {
    const int64_t blocks =
        wb::ceil_div(p.M, int64_t{S::BM}) * wb::ceil_div(p.N, int64_t{S::BN});
    const int64_t wanted = S::kBlocks * wb::multiprocessors() / blocks;
    const int64_t possible = p.w.tiles_down / (S::kTilesK * S::kStages);
    launch_v5<S>(p, std::max(int64_t{1}, std::min(wanted, possible)), y, stream);
}

static void gptq_matmul_v5(const GptqShape& shape,
                           const GptqTensors& tensors,
                           const uint4* packed,
                           const __half* x,
                           __half* y,
                           cudaStream_t stream) {
    const SortedX sorted(shape, tensors, packed, x, stream);
    const Problem p = sorted.problem(shape);
    if (shape.M <= 8)
        launch_in_parts<Sizes<1, 1, 1, 1, 8, 2, 3, 3>>(p, y, stream);
    else if (shape.M <= 16)
        launch_in_parts<Sizes<2, 2, 1, 1, 8, 2, 3, 2>>(p, y, stream);
    else
        launch_in_parts<Sizes<8, 1, 1, 2, 2, 2, 3, 2>>(p, y, stream);
}
// #endregion v5-launch

// #region contract
void gptq_dequantize(const GptqShape& shape,
                     const GptqTensors& tensors,
                     __half* w,
                     unsigned long long* bad_rows,
                     cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the first TODO is written
    if (!dequantize_has_work(shape, tensors, w, bad_rows)) return;
    gptq_dequantize_v2(shape, tensors, w, bad_rows, stream);
}

void gptq_matmul(const GptqShape& shape,
                 const GptqTensors& tensors,
                 const uint4* packed,
                 const __half* x,
                 __half* y,
                 cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one, when both are
    if (!product_has_work(shape, tensors, packed, x, y, stream)) return;
    gptq_matmul_v5(shape, tensors, packed, x, y, stream);
}

int64_t gptq_packed_vectors(const GptqShape& shape, bool has_order) {
    GptqArguments("gptq_packed_vectors", shape);
    return packed_vectors(shape, has_order);
}

void gptq_repack(const GptqShape& shape,
                 const GptqTensors& tensors,
                 uint4* packed,
                 unsigned long long* bad_rows,
                 cudaStream_t stream) {
    if (!repack_has_work(shape, tensors, packed, bad_rows)) return;
    repack(shape, tensors, packed, bad_rows, stream);
}
// #endregion contract
