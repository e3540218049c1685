// layernorm_fast.cu: v4: each element is read once, 16 bytes a load, and stays in
// registers; the backward pass keeps the sums of its columns there, too.
#include "layernorm.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/scratch.h>

#include <algorithm>

#include "checks.h"
#include "groups.h"
#include "numbers.h"
#include "sums.h"

// #region v4-held
/// What one thread holds of a row: every group.threads-th access.
///
/// @tparam kPer   elements of an access: 16 bytes of them, or 1
/// @tparam kHeld  accesses of a thread, at most
template <class T, int kPer, int kHeld>
struct Held {
    wb::Elements<T, kPer> r_x[kHeld] = {};

    /// Reads all of it, before anything is used.
    __device__ __forceinline__ void load(const Row<T>& row, const Group& group) {
        // TODO(learner): r_x[k] are the elements from access * kPer on, where access is
        // group.place + k * group.threads, if the row has that access (about 5 lines)
        // #solution
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            const int access = group.place + k * group.threads;
            if (access < row.accesses)
                r_x[k] = wb::Elements<T, kPer>::load(row.x + access * kPer);
        }
        // #end
    }

    /// What the lanes of this warp know of their elements together.
    __device__ __forceinline__ Moments measure(const Row<T>& row,
                                               const Group& group,
                                               bool is_centered) const {
        const int count = group.elements_of_lanes<kPer, kHeld>(row.accesses);
        float mean = 0.0f;
        float squares = 0.0f;
        // TODO(learner): two passes over those r_x[k] that were loaded: the others may
        // still have elements of another piece of a wide row. If is_centered, the sum
        // of all elements, by unpack() and group.lane_sum(), and the mean of `count`
        // elements, which may be 0; then their squared distances (about 20 lines)
        // #solution
        float r_values[kPer];
        if (is_centered) {
            float sum = 0.0f;
#pragma unroll
            for (int k = 0; k < kHeld; ++k) {
                if (group.place + k * group.threads >= row.accesses) continue;
                r_x[k].unpack(r_values);
#pragma unroll
                for (int i = 0; i < kPer; ++i)
                    sum += r_values[i];
            }
            sum = group.lane_sum(sum);
            mean = count == 0 ? 0.0f : sum / static_cast<float>(count);
        }
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            if (group.place + k * group.threads >= row.accesses) continue;
            r_x[k].unpack(r_values);
#pragma unroll
            for (int i = 0; i < kPer; ++i) {
                const float distance = r_values[i] - mean;
                squares += distance * distance;
            }
        }
        squares = group.lane_sum(squares);
        // #end
        return {static_cast<float>(count), mean, squares};
    }

    /// Writes y, now that the whole row is known.
    __device__ __forceinline__ void store(const Row<T>& row,
                                          const Group& group,
                                          float mean,
                                          float rstd) const {
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            const int access = group.place + k * group.threads;
            if (access >= row.accesses) break;
            float r_y[kPer];
            float r_gamma[kPer];
            float r_beta[kPer];
            r_x[k].unpack(r_y);
            load_or(1.0f, row.gamma, access * kPer, r_gamma);
            load_or(0.0f, row.beta, access * kPer, r_beta);
#pragma unroll
            for (int i = 0; i < kPer; ++i)
                r_y[i] = (r_y[i] - mean) * rstd * r_gamma[i] + r_beta[i];
            wb::Elements<T, kPer>::pack(r_y).store(row.y + access * kPer);
        }
    }
};
// #endregion v4-held

// #region v4-kernel
/// norm_v4: some lanes, a warp or a block have a row, and hold it.
///
/// Launch   grid ceil_div(rows, rows of a block), block: shape_of()
/// Traffic  reads each element once, writes it once
template <class T, int kPer, int kHeld>
__global__ void __launch_bounds__(1024)
    norm_v4_kernel(Norm<T> norm, bool is_centered, int threads_of_row) {
    __shared__ Moments s_warps[wb::kWarpSize];
    const Group group(threads_of_row);
    const int64_t r = int64_t{blockIdx.x} * group.groups + group.index;
    const Row<T> row = row_of<T, kPer>(norm, r, 0);
    Held<T, kPer, kHeld> held;
    held.load(row, group);
    Moments known = held.measure(row, group, is_centered);
    if (group.is_block()) known = merge_warps(known, s_warps, norm.columns);
    const float rstd = rstd_of(known, norm.eps);
    held.store(row, group, known.mean, rstd);
    if (group.place == 0 && r < norm.rows) keep(norm, r, known.mean, rstd);
}

/// Where a row must be read twice: a block goes over its pieces, and once more.
template <class T, int kPer, int kHeld>
__global__ void __launch_bounds__(1024)
    norm_wide_kernel(Norm<T> norm, bool is_centered) {
    __shared__ Moments s_warps[wb::kWarpSize];
    constexpr int64_t kPiece = 1024 * kPer * kHeld;
    const Group group(1024);
    const int64_t r = blockIdx.x;
    Held<T, kPer, kHeld> held;
    const auto piece = [&](int64_t first) { return row_of<T, kPer>(norm, r, first); };
    Moments known = {};
    for (int64_t first = 0; first < norm.columns; first += kPiece) {
        held.load(piece(first), group);
        known = merged(known, held.measure(piece(first), group, is_centered));
    }
    known = merge_warps(known, s_warps, norm.columns);
    const float rstd = rstd_of(known, norm.eps);
    for (int64_t first = 0; first < norm.columns; first += kPiece) {
        held.load(piece(first), group);
        held.store(piece(first), group, known.mean, rstd);
    }
    if (group.place == 0) keep(norm, r, known.mean, rstd);
}
// #endregion v4-kernel

// #region v4-launch
template <class T, int kPer, int kElements>
static void launch_held(const Norm<T>& norm, bool is_centered, cudaStream_t stream) {
    const Shape shape = shape_of(norm.columns, kPer, kElements);
    const auto blocks =
        static_cast<unsigned>(wb::ceil_div<int64_t>(norm.rows, shape.rows_of_block()));
    norm_v4_kernel<T, kPer, kElements / kPer>
        <<<blocks, shape.block, 0, stream>>>(norm, is_centered, shape.threads_of_row);
    CUDA_CHECK_LAUNCH();
}

/// A thread holds 64 bytes: with less, too few are under way. Of floats it holds 128,
/// where one warp is then enough, or where there are not enough threads. One by one,
/// more than 16 elements would not fit the 64 registers that a thread of a block of
/// 1024 can have.
template <class T, int kPer>
static void launch_norm(const Norm<T>& norm, bool is_centered, cudaStream_t stream) {
    constexpr int kUsual = kPer == 1 ? 16 : static_cast<int>(64 / sizeof(T));
    const bool is_warp = norm.columns > 512 && norm.columns <= 1024;
    if (norm.columns <= 1024 * kUsual && (kUsual == 32 || kPer == 1 || !is_warp))
        return launch_held<T, kPer, kUsual>(norm, is_centered, stream);
    if constexpr (kPer > 1 && kUsual < 32) {
        if (norm.columns <= 32 * 1024)
            return launch_held<T, kPer, 32>(norm, is_centered, stream);
    }
    const auto blocks = static_cast<unsigned>(norm.rows);
    norm_wide_kernel<T, kPer, kPer == 1 ? 8 : kUsual / kPer>
        <<<blocks, 1024, 0, stream>>>(norm, is_centered);
    CUDA_CHECK_LAUNCH();
}

template <class T, bool kIsCentered>
static void norm_v4(const Norm<T>& norm, cudaStream_t stream) {
    if (has_vectors<T>(norm.columns, norm.x, norm.y, norm.gamma, norm.beta))
        launch_norm<T, wb::kPerVector<T>>(norm, kIsCentered, stream);
    else
        launch_norm<T, 1>(norm, kIsCentered, stream);
}
// #endregion v4-launch

// #region v4-backward
/// Threads of a block that has a row of a backward pass, at most.
inline constexpr int kMost = 512;

/// norm_backward_v4: a group of threads goes over rows, writes their dx, and keeps the
/// sums of its columns in registers. While it works on a row, the next one is loaded.
///
/// @param partial   [2, parts, columns] of dgamma, then of dbeta: the sums of each
///                  group, of which there are parts; or null: not wanted
/// @param row_sums  [rows] if a row is cut into slices, one for each blockIdx.y;
///                  or null: the group has the whole row
///
/// Launch   grid (any, slices), block: shape_of()
/// Traffic  reads each element of dy and x once, writes one of dx
template <class T, int kPer, int kHeld>
__global__ void __launch_bounds__(kMost) norm_backward_v4_kernel(NormGradient<T> norm,
                                                                 bool is_centered,
                                                                 int threads_of_row,
                                                                 float* partial,
                                                                 const Pair* row_sums) {
    __shared__ Pair s_warps[2][wb::kWarpSize];
    const Group group(threads_of_row);
    const int slice = threads_of_row * kPer * kHeld;
    const int first = static_cast<int>(blockIdx.y) * slice;
    const int columns = static_cast<int>(norm.columns);
    const int accesses = (columns - first) / kPer;
    const int64_t parts = int64_t{gridDim.x} * group.groups;
    const auto is_held = [&](int k) {
        return group.place + k * group.threads < accesses;
    };
    const auto column = [&](int k) {
        return first + (group.place + k * group.threads) * kPer;
    };

    float r_dgamma[kHeld][kPer] = {};
    float r_dbeta[kHeld][kPer] = {};

    Share<T, kPer, kHeld> now;
    int64_t row = int64_t{blockIdx.x} * group.groups + group.index;
    now.load(norm, row, first, accesses, group, is_centered);
    // The first group's row decides, so that all threads leave together.
#pragma unroll 1
    for (int turn = 0; norm.rows > row - group.index; row += parts, turn ^= 1) {
        Share<T, kPer, kHeld> next;
        next.load(norm, row + parts, first, accesses, group, is_centered);
        const bool is_row = row < norm.rows;
        Pair sums = {};
        // TODO(learner): for each k with is_row && is_held(k), and each element: h and
        // g; add to sums, to r_dgamma[k][i] and r_dbeta[k][i]. load_or() brings gamma
        // from column(k) on (about 17 lines)
        // #solution
        float r_dy[kPer];
        float r_x[kPer];
        float r_gamma[kPer];
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            if (!is_row || !is_held(k)) continue;
            now.r_dy[k].unpack(r_dy);
            now.r_x[k].unpack(r_x);
            load_or(1.0f, norm.gamma, column(k), r_gamma);
#pragma unroll
            for (int i = 0; i < kPer; ++i) {
                const float h = (r_x[i] - now.mean) * now.rstd;
                const float g = r_dy[i] * r_gamma[i];
                sums.g += g;
                sums.gh += g * h;
                r_dgamma[k][i] += r_dy[i] * h;
                r_dbeta[k][i] += r_dy[i];
            }
        }
        // #end
        if (norm.dx != nullptr) {
            if (row_sums == nullptr)
                sums = sum_of_row(sums, group, s_warps[turn]);
            else if (is_row)
                sums = row_sums[row];
            // TODO(learner): for each such k, dx of its elements, by pack() and store()
            // (about 15 lines)
            // #solution
            const auto count = static_cast<float>(norm.columns);
            const float mean_g = is_centered ? sums.g / count : 0.0f;
            const float mean_gh = sums.gh / count;
#pragma unroll
            for (int k = 0; k < kHeld; ++k) {
                if (!is_row || !is_held(k)) continue;
                now.r_dy[k].unpack(r_dy);
                now.r_x[k].unpack(r_x);
                load_or(1.0f, norm.gamma, column(k), r_gamma);
                float r_dx[kPer];
#pragma unroll
                for (int i = 0; i < kPer; ++i) {
                    const float h = (r_x[i] - now.mean) * now.rstd;
                    r_dx[i] = now.rstd * (r_dy[i] * r_gamma[i] - mean_g - h * mean_gh);
                }
                wb::Elements<T, kPer>::pack(r_dx).store(norm.dx + row * norm.columns +
                                                        column(k));
            }
            // #end
        }
        now = next;
    }

    if (partial == nullptr) return;
    const int64_t part = int64_t{blockIdx.x} * group.groups + group.index;
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
// #endregion v4-backward

// #region v4-backward-launch
/// As many blocks as run at the same time, so that each has many rows and there are few
/// partial sums: 512 threads a multiprocessor have up to 128 registers each.
template <class T, int kPer, int kElements>
static void launch_gradient(const NormGradient<T>& norm,
                            bool is_centered,
                            cudaStream_t stream) {
    constexpr int64_t kSlice = int64_t{kMost} * kElements;
    const int64_t slices = wb::ceil_div(norm.columns, kSlice);
    const Shape shape = shape_of(std::min(norm.columns, kSlice), kPer, kElements);
    constexpr int kResident = 512;
    const int64_t needed = wb::ceil_div<int64_t>(norm.rows, shape.rows_of_block());
    const int64_t resident = int64_t{wb::multiprocessors()} * (kResident / shape.block);
    const int64_t blocks = std::min(needed, wb::ceil_div(resident, slices));
    const int64_t parts = blocks * shape.rows_of_block();
    const bool has_sums = norm.dgamma != nullptr || norm.dbeta != nullptr;
    const wb::Scratch<float> partial(has_sums ? 2 * parts * norm.columns : 1, stream);
    const wb::Scratch<Pair> row_sums(slices > 1 ? norm.rows : 1, stream);
    if (slices > 1) {
        row_sums_kernel<<<static_cast<unsigned>(norm.rows), 1024, 0, stream>>>(
            norm, row_sums.data());
        CUDA_CHECK_LAUNCH();
    }
    const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(slices));
    norm_backward_v4_kernel<T, kPer, kElements / kPer>
        <<<grid, shape.block, 0, stream>>>(norm,
                                           is_centered,
                                           shape.threads_of_row,
                                           has_sums ? partial.data() : nullptr,
                                           slices > 1 ? row_sums.data() : nullptr);
    CUDA_CHECK_LAUNCH();
    if (!has_sums) return;
    const dim3 columns(
        static_cast<unsigned>(wb::ceil_div<int64_t>(norm.columns, wb::kWarpSize)), 2);
    part_sums_kernel<<<columns, dim3(wb::kWarpSize, wb::kWarpSize), 0, stream>>>(
        partial.data(), parts, norm.columns, norm.dgamma, norm.dbeta);
    CUDA_CHECK_LAUNCH();
}

template <class T, int kPer>
static void launch_backward(const NormGradient<T>& norm,
                            bool is_centered,
                            cudaStream_t stream) {
    constexpr int kFew = kPer == 1 ? 8 : 2 * kPer;
    if (norm.columns <= kMost * kFew)
        launch_gradient<T, kPer, kFew>(norm, is_centered, stream);
    else
        launch_gradient<T, kPer, 16>(norm, is_centered, stream);
}

template <class T, bool kIsCentered>
static void norm_backward_v4(const NormGradient<T>& norm, cudaStream_t stream) {
    if (has_vectors<T>(norm.columns, norm.dy, norm.x, norm.gamma, norm.dx))
        launch_backward<T, wb::kPerVector<T>>(norm, kIsCentered, stream);
    else
        launch_backward<T, 1>(norm, kIsCentered, stream);
}
// #endregion v4-backward-launch

// #solution
#ifndef WB_VERSION_ONLY  // layernorm.cu has all versions, and the contract
// #end
// #region contract
template <class T, bool kIsCentered>
static void forward(const char* function, const Norm<T>& norm, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs of Held are written
    if (!check_norm(function, norm, kIsCentered)) return;
    norm_v4<T, kIsCentered>(norm, stream);
}

template <class T, bool kIsCentered>
static void backward(const char* function,
                     const NormGradient<T>& norm,
                     cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when those of the backward pass are
    if (!check_norm(function, norm, kIsCentered)) return;
    if (norm.rows == 0) return clear_sums(norm, stream);
    norm_backward_v4<T, kIsCentered>(norm, stream);
}

void layer_norm(const Norm<float>& norm, cudaStream_t stream) {
    forward<float, true>("layer_norm", norm, stream);
}
void rms_norm(const Norm<float>& norm, cudaStream_t stream) {
    forward<float, false>("rms_norm", norm, stream);
}
void layer_norm_backward(const NormGradient<float>& norm, cudaStream_t stream) {
    backward<float, true>("layer_norm_backward", norm, stream);
}
void rms_norm_backward(const NormGradient<float>& norm, cudaStream_t stream) {
    backward<float, false>("rms_norm_backward", norm, stream);
}

#include "sixteen_bits.h"
// #endregion contract
// #solution
#endif
// #end
