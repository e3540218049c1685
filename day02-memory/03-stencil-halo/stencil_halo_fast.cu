// stencil_halo_fast.cu: a warp walks down a strip of the image. Neighbours come from
// other lanes, and each element is loaded once for all the rows that need it.
#include "stencil_halo.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include "borders.h"
#include "strips.h"

// #region with-halo
/// Puts together what a lane needs of a row: its own columns, R to the left of them and
/// R to the right. The lane's own column j is r_x[R + j], so r_x[0] lies R columns to
/// the left of the first of them.
///
/// @tparam R  radius, at most kLaneCols
///
/// All lanes of the warp must call it.
template <int R>
__device__ void with_halo(const Piece& piece, float (&r_x)[kLaneCols + 2 * R]) {
    // TODO(learner): the middle is piece.own. The R values before it are the last ones
    // of the lane before this one, the R values behind it the first ones of the next
    // lane. Lane 0 and lane 31 have such a neighbour on one side only: what they lack
    // on the other one is in the `edge` of other lanes, see Piece. Every lane must take
    // part in every shuffle: put the result of each into a variable, then choose among
    // the variables. An arm of `?:` runs in some of the lanes only (about 12 lines)
    for (float& x : r_x)
        x = piece.own[0];
}
// #endregion with-halo

// #region stencil-v5
/// stencil_1d_v5: a warp has kStripCols elements, and a lane four of them.
///
/// @tparam R        radius
/// @tparam kVector  both arrays begin at a multiple of 16 bytes
///
/// Launch   grid of as many warps as there are strips, block kWalkThreads
template <int R, bool kVector>
__global__ void stencil_1d_v5_kernel(Line in, float* out, Taps taps) {
    const int64_t warp = int64_t{blockIdx.x} * kWarps + threadIdx.x / wb::kWarpSize;
    const int64_t first = warp * kStripCols;
    if (first >= in.n) return;  // the whole warp
    const Columns columns = columns_of_lane<R>(first, in.n, in.border);
    const Piece piece = first + kStripCols <= in.n
                            ? load_piece<kVector>(in.values, columns)
                            : load_piece_at_border(in, columns);
    float r_x[kLaneCols + 2 * R];
    with_halo<R>(piece, r_x);
    float r_sum[kLaneCols] = {};
#pragma unroll
    for (int k = 0; k <= 2 * R; ++k)
#pragma unroll
        for (int j = 0; j < kLaneCols; ++j)
            r_sum[j] += taps.weight[k] * r_x[j + k];
    store_columns<kVector>(out, columns.own, in.n, r_sum);
}
// #endregion stencil-v5

static void stencil_1d_v5(const float* in,
                          float* out,
                          int64_t n,
                          const Taps& taps,
                          Border border,
                          cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kWarps * kStripCols);
    with_radius(taps.radius, [&](auto radius) {
        constexpr int R = decltype(radius)::value;
        const auto kernel = are_aligned(in, out) ? stencil_1d_v5_kernel<R, true>
                                                 : stencil_1d_v5_kernel<R, false>;
        kernel<<<blocks, kWalkThreads, 0, stream>>>({in, n, border}, out, taps);
        CUDA_CHECK_LAUNCH();
    });
}

// #region rules
/// Sums that are not complete yet: r_sum[d] is that of the lane's columns in the row
/// that lies R - d rows above the one that is being added. After it r_sum[0] is
/// complete.
template <int R>
using Sums = float[2 * R + 1][kLaneCols];

/// What a row adds to all the sums of which it is a part, for a filter of any weights.
template <int R>
struct AnyFilter {
    static constexpr int kRadius = R;
    Filter filter;

    /// @param r_x  see with_halo()
    __device__ void add(Sums<R>& r_sum, const float (&r_x)[kLaneCols + 2 * R]) const {
        // TODO(learner): for each sum d, the row of the filter with which this row of
        // the image is multiplied; then kLaneCols columns, 2 * R + 1 products each
        // (about 8 lines)
    }
};

/// The same for a product of two filters along lines.
template <int R>
struct ProductFilter {
    static constexpr int kRadius = R;
    Taps vertical;
    Taps horizontal;

    __device__ void add(Sums<R>& r_sum, const float (&r_x)[kLaneCols + 2 * R]) const {
        // TODO(learner): filter the row along its columns, once; then add the result,
        // with a weight of `vertical`, to each sum (about 10 lines)
    }
};
// #endregion rules

// #region walk
/// v4: a warp walks down its strip, kRowsAtOnce rows at a step. What it loads, it adds
/// to the sums of 2 R + 1 rows at once; the uppermost of them is then complete.
///
/// @tparam Rule     AnyFilter or ProductFilter
/// @tparam kVector  all rows of both arrays begin at a multiple of 16 bytes
///
/// Launch   grid of as many warps as there are strips, block kWalkThreads
/// Traffic  reads R rows above and R rows below each strip a second time
template <class Rule, bool kVector>
__global__ void __launch_bounds__(kWalkThreads)
    walk_v4_kernel(Strips strips, float* out, Rule rule) {
    constexpr int R = Rule::kRadius;
    const int64_t strip = int64_t{blockIdx.x} * kWarps + threadIdx.x / wb::kWarpSize;
    if (strip >= strips.count) return;  // the whole warp
    const int64_t row_of_strips = strip / strips.across;
    const int64_t first_col = strip % strips.across * kStripCols;
    const int64_t first_row = row_of_strips % strips.down * strips.rows;
    Image image = strips.first;
    const int64_t start = row_of_strips / strips.down * image.rows * image.cols;
    image.values += start;
    out += start;
    const int64_t end_row =
        first_row + strips.rows < image.rows ? first_row + strips.rows : image.rows;
    const Columns columns = columns_of_lane<R>(first_col, image.cols, image.border);
    Sums<R> r_sum = {};
    for (int64_t row = first_row - R; row < end_row + R; row += kRowsAtOnce) {
        Piece piece[kRowsAtOnce];
        if (row >= 0 && row + kRowsAtOnce <= image.rows &&
            first_col + kStripCols <= image.cols) {
#pragma unroll
            for (int i = 0; i < kRowsAtOnce; ++i)
                piece[i] =
                    load_piece<kVector>(image.values + (row + i) * image.cols, columns);
        } else {
#pragma unroll
            for (int i = 0; i < kRowsAtOnce; ++i)
                piece[i] = load_piece_at_border(image.line(row + i), columns);
        }
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i) {
            float r_x[kLaneCols + 2 * R];
            with_halo<R>(piece[i], r_x);
            rule.add(r_sum, r_x);
            const int64_t done = row + i - R;  // its sum is complete
            if (done >= first_row && done < end_row)
                store_columns<kVector>(
                    out + done * image.cols, columns.own, image.cols, r_sum[0]);
#pragma unroll
            for (int d = 0; d <= 2 * R; ++d)
#pragma unroll
                for (int j = 0; j < kLaneCols; ++j)
                    r_sum[d][j] = d < 2 * R ? r_sum[d + 1][j] : 0.0f;
        }
    }
}
// #endregion walk

// #region walk-launch
template <class Rule>
static void launch_walk_v4(const float* in,
                           float* out,
                           int64_t batch,
                           int64_t rows,
                           int64_t cols,
                           const Rule& rule,
                           Border border,
                           cudaStream_t stream) {
    const Strips strips = cut_into_strips(in, batch, rows, cols, border, Rule::kRadius);
    const bool vector = are_aligned(in, out) && cols % kLaneCols == 0;
    const auto kernel =
        vector ? walk_v4_kernel<Rule, true> : walk_v4_kernel<Rule, false>;
    const unsigned blocks = wb::grid_size(strips.count, kWarps);
    kernel<<<blocks, kWalkThreads, 0, stream>>>(strips, out, rule);
    CUDA_CHECK_LAUNCH();
}
// #endregion walk-launch

static void convolve_2d_v4(const float* in,
                           float* out,
                           int64_t batch,
                           int64_t rows,
                           int64_t cols,
                           const Filter& filter,
                           Border border,
                           cudaStream_t stream) {
    with_radius(filter.radius, [&](auto radius) {
        const AnyFilter<decltype(radius)::value> rule = {filter};
        launch_walk_v4(in, out, batch, rows, cols, rule, border, stream);
    });
}

static void convolve_separable_v4(const float* in,
                                  float* out,
                                  int64_t batch,
                                  int64_t rows,
                                  int64_t cols,
                                  const Taps& vertical,
                                  const Taps& horizontal,
                                  Border border,
                                  cudaStream_t stream) {
    with_radius(vertical.radius, [&](auto radius) {
        const ProductFilter<decltype(radius)::value> rule = {vertical, horizontal};
        launch_walk_v4(in, out, batch, rows, cols, rule, border, stream);
    });
}

// #region contract
void stencil_1d(const float* in,
                float* out,
                int64_t n,
                const Taps& taps,
                Border border,
                cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when with_halo() is written
    if (check_stencil_1d(in, out, n, taps, border) == 0) return;
    stencil_1d_v5(in, out, n, taps, border, stream);
}

void convolve_2d(const float* in,
                 float* out,
                 int64_t batch,
                 int64_t rows,
                 int64_t cols,
                 const Filter& filter,
                 Border border,
                 cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one, when AnyFilter::add() is
    if (check_convolve_2d(in, out, batch, rows, cols, filter, border) == 0) return;
    convolve_2d_v4(in, out, batch, rows, cols, filter, border, stream);
}

void convolve_separable(const float* in,
                        float* out,
                        int64_t batch,
                        int64_t rows,
                        int64_t cols,
                        const Taps& vertical,
                        const Taps& horizontal,
                        Border border,
                        cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one, when ProductFilter::add() is
    if (check_separable(in, out, batch, rows, cols, vertical, horizontal, border) == 0)
        return;
    convolve_separable_v4(
        in, out, batch, rows, cols, vertical, horizontal, border, stream);
}
// #endregion contract
