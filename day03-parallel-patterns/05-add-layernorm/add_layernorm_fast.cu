// add_layernorm_fast.cu: v5: each element is read once, 16 bytes a load; few rows get
// as many threads as they have vectors. The backward pass keeps its sums in registers.
#include "add_layernorm.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/scratch.h>

#include <algorithm>

#include "checks.h"
#include "given.h"
#include "gradient.h"
#include "pieces.h"

// #region v5-kept
/// Which of kPer columns from col on are not dropped: bit i says it of column col + i.
/// Four columns share a call of words_of().
template <int kPer>
__device__ __forceinline__ uint32_t kept_of(const Mask& mask,
                                            int64_t row,
                                            int64_t col) {
    uint32_t kept = 0;
    // TODO(learner): if kPer is 1, one word, without an index that only the running
    // kernel knows: an array in registers has none. Else kPer / 4 calls (about 14
    // lines)
    (void)mask, (void)row, (void)col;
    return kept;
}

/// What element i of an access is multiplied by: 0 if it is dropped.
__device__ __forceinline__ float factor_of(const Mask& mask, uint32_t kept, int i) {
    return (kept >> i & 1u) != 0 ? mask.scale : 0.0f;
}
// #endregion v5-kept

// #region v5-held
/// What one thread holds of a row, and what it makes of it.
template <Kind kKind, class T, int kPer, int kHeld>
struct Held : Registers<T, kPer, kHeld> {
    using Access = wb::Elements<T, kPer>;
    using Registers<T, kPer, kHeld>::r_x;
    using Registers<T, kPer, kHeld>::r_other;
    using Registers<T, kPer, kHeld>::r_gamma;
    using Registers<T, kPer, kHeld>::r_beta;

    /// r_x becomes h = x + other as it is stored, and is stored.
    __device__ __forceinline__ void add(const Piece<T>& piece, const wb::Group& group) {
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            const int access = group.place + k * group.threads;
            if (access >= piece.accesses) break;
            // TODO(learner): r_x[k] = the sums by unpack() and pack(), which rounds
            // them; and store() them (about 7 lines)
        }
    }

    /// Writes y, now that the whole row is known.
    __device__ __forceinline__ void store(const Piece<T>& piece,
                                          const wb::Group& group,
                                          const Statistics& known,
                                          const Mask& mask) const {
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            const int access = group.place + k * group.threads;
            if (access >= piece.accesses) break;
            float r_y[kPer];
            // TODO(learner): r_y by normalized(); then what kKind says, with `if
            // constexpr`: the residual, or mul and kept_of() (about 20 lines)
            (void)known, (void)mask;
            Access::pack(r_y).store(piece.y + access * kPer);
        }
    }
};
// #endregion v5-held

// #region v5-kernel
/// fused_v5: some lanes, a warp or a block have a row, and hold it; a row that is wider
/// than a block can hold is read in pieces, and once more.
///
/// Launch   grid ceil_div(rows, rows of a block), block: shape_for()
/// Traffic  reads each element of x and other once, writes y, and h if there is one
template <Kind kKind, class T, int kPer>
__global__ void __launch_bounds__(1024)
    fused_v5_kernel(FusedNorm<T> norm, Mask mask, int threads_of_row) {
    __shared__ wb::Moments s_warps[wb::kWarpSize];
    constexpr int kHeld = kAccesses<kPer>;
    const wb::Group group(threads_of_row);
    const int64_t row = int64_t{blockIdx.x} * group.groups + group.index;
    const int64_t step = int64_t{threads_of_row} * kPer * kHeld;
    Held<kKind, T, kPer, kHeld> held;
    wb::Moments moments = {};
    for (int64_t first = 0; first < norm.columns; first += step) {
        const Piece<T> piece = piece_of<kPer>(norm, row, first);
        held.load(piece, group);
        if constexpr (kKind == Kind::add_norm) held.add(piece, group);
        moments = wb::merged(moments, held.measure(piece, group));
    }
    if (group.is_block()) moments = wb::merge_warps(moments, s_warps, norm.columns);
    const Statistics known = {moments.mean, wb::rstd_of(moments, norm.eps)};
    for (int64_t first = 0; first < norm.columns; first += step) {
        Piece<T> piece = piece_of<kPer>(norm, row, first);
        if constexpr (kKind == Kind::add_norm) piece.x = piece.h;
        if (norm.columns > step) held.load(piece, group);
        held.store(piece, group, known, mask);
    }
    if (group.place == 0 && row < norm.rows) keep(norm, row, known);
}
// #endregion v5-kernel

// #region v5-launch
/// Threads for a row: as few as can hold it; if no multiprocessor has more than one
/// row, as many as it has accesses.
template <int kPer>
static wb::Shape shape_for(int64_t rows, int64_t columns, bool has_few) {
    constexpr int kMostHeld = kAccesses<kPer> * kPer;
    const int64_t held = std::min<int64_t>(columns, 1024 * kMostHeld);
    const bool is_few =
        has_few && held <= 1024 * kPer && rows <= int64_t{wb::multiprocessors()};
    return wb::shape_of(held, kPer, is_few ? kPer : kMostHeld);
}

template <Kind kKind, int kPer, class T>
static void launch_fused(const FusedNorm<T>& norm, bool has_few, cudaStream_t stream) {
    const wb::Shape shape = shape_for<kPer>(norm.rows, norm.columns, has_few);
    const auto blocks =
        static_cast<unsigned>(wb::ceil_div<int64_t>(norm.rows, shape.rows_of_block()));
    fused_v5_kernel<kKind, T, kPer><<<blocks, shape.block, 0, stream>>>(
        norm, mask_of(norm.dropout), shape.threads_of_row);
    CUDA_CHECK_LAUNCH();
}

/// @param has_few  false: v4, in which few rows have no more threads than many
template <Kind kKind, class T>
static void launch_vectors(const FusedNorm<T>& norm,
                           bool has_few,
                           cudaStream_t stream) {
    constexpr int kPer = wb::kPerVector<T>;
    const Rows<T> h = norm.h.data == nullptr ? norm.y : norm.h;
    if (wb::has_vectors<T>(norm.columns, norm.gamma, norm.beta) &&
        have_vectors(kPer, norm.x, norm.other, h, norm.y))
        launch_fused<kKind, kPer>(norm, has_few, stream);
    else
        launch_fused<kKind, 1>(norm, has_few, stream);
}

template <Kind kKind, class T>
static void launch_v5(const FusedNorm<T>& norm, cudaStream_t stream) {
    launch_vectors<kKind>(norm, true, stream);
}
// #endregion v5-launch

// #region v5-backward
/// norm_mul_dropout_backward_v5: a group of threads goes over rows, writes their dx and
/// dmul, and keeps the sums of its columns in registers. While it works on a row, the
/// next one is loaded.
///
/// @param partial   [2, parts, columns] of dgamma, then of dbeta: the sums of each
///                  group, of which there are parts; or null: not wanted
/// @param row_sums  [rows] if a row is cut into slices, one for each blockIdx.y;
///                  or null: the group has the whole row
///
/// Launch   grid (any, slices), block: wb::shape_of()
/// Traffic  reads each element of dy, x and mul once, writes dx and dmul
template <class T, int kPer>
__global__ void __launch_bounds__(kMost)
    norm_mul_dropout_backward_v5_kernel(FusedNormGradient<T> norm,
                                        Mask mask,
                                        int threads_of_row,
                                        float* partial,
                                        const wb::Pair* row_sums) {
    __shared__ wb::Pair s_warps[2][wb::kWarpSize];
    constexpr int kHeld = kAccesses<kPer>;
    using Access = wb::Elements<T, kPer>;
    const wb::Group group(threads_of_row);
    const int first = static_cast<int>(blockIdx.y) * threads_of_row * kPer * kHeld;
    const int accesses = (static_cast<int>(norm.columns) - first) / kPer;
    const int64_t parts = int64_t{gridDim.x} * group.groups;
    const int64_t part = int64_t{blockIdx.x} * group.groups + group.index;
    const auto is_held = [&](int k) {
        return group.place + k * group.threads < accesses;
    };
    const auto column = [&](int k) {
        return first + (group.place + k * group.threads) * kPer;
    };

    float r_dgamma[kHeld][kPer] = {};
    float r_dbeta[kHeld][kPer] = {};
    Share<T, kPer, kHeld> now;
    now.load(norm, part, first, accesses, group);
    int64_t row = part;
    // The first group's row decides, so that all threads leave together.
#pragma unroll 1
    for (int turn = 0; norm.rows > row - group.index; row += parts, turn ^= 1) {
        Share<T, kPer, kHeld> next;
        next.load(norm, row + parts, first, accesses, group);
        const bool is_row = row < norm.rows;
        wb::Pair sums = {};
        uint32_t kept[kHeld] = {};
        float r_dy[kPer], r_x[kPer], r_mul[kPer], r_gamma[kPer], r_beta[kPer];
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            if (!is_row || !is_held(k)) continue;
            now.r_dy[k].unpack(r_dy);
            now.r_x[k].unpack(r_x);
            now.r_mul[k].unpack(r_mul);
            Access::load(norm.gamma + column(k)).unpack(r_gamma);
            Access::load(norm.beta + column(k)).unpack(r_beta);
            float r_dmul[kPer];
            kept[k] = kept_of<kPer>(mask, row, column(k));
            // TODO(learner): for each element terms_from() with its factor_of(),
            // r_dmul, sums, r_dgamma[k][i] and r_dbeta[k][i] (about 15 lines)
            Access::pack(r_dmul).store(row_of(norm.dmul, row) + column(k));
        }
        if (row_sums == nullptr)
            sums = wb::sum_of_row(sums, group, s_warps[turn]);
        else if (is_row)
            sums = row_sums[row];
        const auto count = static_cast<float>(norm.columns);
        const float mean_g = sums.g / count;
        const float mean_gh = sums.gh / count;
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            if (!is_row || !is_held(k)) continue;
            now.r_dy[k].unpack(r_dy);
            now.r_x[k].unpack(r_x);
            now.r_mul[k].unpack(r_mul);
            Access::load(norm.gamma + column(k)).unpack(r_gamma);
            float r_dx[kPer];
            // TODO(learner): dx of each element, with the factors that kept[k]
            // remembers (about 9 lines)
            (void)kept, (void)mean_g, (void)mean_gh;
            Access::pack(r_dx).store(row_of(norm.dx, row) + column(k));
        }
        now = next;
    }

    if (partial == nullptr) return;
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
        if (!is_held(k)) continue;
        const int64_t col = column(k);
#pragma unroll
        for (int i = 0; i < kPer; ++i) {
            partial[part * norm.columns + col + i] = r_dgamma[k][i];
            partial[(parts + part) * norm.columns + col + i] = r_dbeta[k][i];
        }
    }
}
// #endregion v5-backward

// #region v5-backward-launch
/// As many blocks as run at the same time, so that each has many rows and there are few
/// partial sums: 512 threads a multiprocessor have up to 128 registers each.
template <int kPer, class T>
static void launch_gradient(const FusedNormGradient<T>& norm, cudaStream_t stream) {
    constexpr int kElements = kAccesses<kPer> * kPer;
    constexpr int64_t kSlice = int64_t{kMost} * kElements;
    const Mask mask = mask_of(norm.dropout);
    const int64_t slices = wb::ceil_div(norm.columns, kSlice);
    const wb::Shape shape =
        wb::shape_of(std::min(norm.columns, kSlice), kPer, kElements);
    const int64_t needed = wb::ceil_div<int64_t>(norm.rows, shape.rows_of_block());
    const int64_t resident = int64_t{wb::multiprocessors()} * (kMost / shape.block);
    const int64_t blocks = std::min(needed, wb::ceil_div(resident, slices));
    const int64_t parts = blocks * shape.rows_of_block();
    const bool has_sums = norm.dgamma != nullptr || norm.dbeta != nullptr;
    const wb::Scratch<float> partial(has_sums ? 2 * parts * norm.columns : 1, stream);
    const wb::Scratch<wb::Pair> row_sums(slices > 1 ? norm.rows : 1, stream);
    if (slices > 1) {
        row_sums_kernel<<<static_cast<unsigned>(norm.rows), 1024, 0, stream>>>(
            norm, mask, row_sums.data());
        CUDA_CHECK_LAUNCH();
    }
    const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(slices));
    norm_mul_dropout_backward_v5_kernel<T, kPer>
        <<<grid, shape.block, 0, stream>>>(norm,
                                           mask,
                                           shape.threads_of_row,
                                           has_sums ? partial.data() : nullptr,
                                           slices > 1 ? row_sums.data() : nullptr);
    CUDA_CHECK_LAUNCH();
    if (!has_sums) return;
    const dim3 columns(wb::grid_size(norm.columns, wb::kWarpSize), 2);
    wb::part_sums_kernel<<<columns, dim3(wb::kWarpSize, wb::kWarpSize), 0, stream>>>(
        partial.data(), parts, norm.columns, norm.dgamma, norm.dbeta);
    CUDA_CHECK_LAUNCH();
}

template <class T>
static void launch_backward_v5(const FusedNormGradient<T>& norm, cudaStream_t stream) {
    constexpr int kPer = wb::kPerVector<T>;
    if (wb::has_vectors<T>(norm.columns, norm.gamma, norm.beta) &&
        have_vectors(kPer, norm.dy, norm.x, norm.mul, norm.dx, norm.dmul))
        launch_gradient<kPer>(norm, stream);
    else
        launch_gradient<1>(norm, stream);
}
// #endregion v5-backward-launch

// #region contract
#include "fusions.h"

template <Kind kKind, class T>
static void forward(const char* function,
                    const FusedNorm<T>& norm,
                    cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when Held and kept_of() are done
    if (!check_norm(function, kKind, norm)) return;
    launch_v5<kKind>(norm, stream);
}

template <class T>
static void backward(const char* function,
                     const FusedNormGradient<T>& norm,
                     cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one, when those of the gradients are
    if (!check_gradient(function, norm)) return;
    if (norm.rows == 0) return clear_sums(norm, stream);
    launch_backward_v5(norm, stream);
}

#include "contract.h"
// #endregion contract
