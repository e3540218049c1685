/// stencil_halo.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// The largest radius of a filter, and its taps along one line then: 9.
inline constexpr int kMaxRadius = 4;
inline constexpr int kMaxTaps = 2 * kMaxRadius + 1;

/// What stands for an element outside of the array.
enum class Border {
    zero,   ///< 0
    clamp,  ///< the nearest element of the array
    wrap,   ///< the array is repeated: after the last element comes the first
};

/// A filter along a line. weight[k + radius] belongs to the element at distance k.
struct Taps {
    int radius;              ///< 0 to kMaxRadius
    float weight[kMaxTaps];  ///< finite; the first 2 * radius + 1 count
};

/// A filter of (2 * radius + 1) rows and as many columns, row-major: weight[0] belongs
/// to the element `radius` rows above and `radius` columns to the left. It is not
/// turned round: "convolution" means here what it means in neural networks.
struct Filter {
    int radius;                         ///< 0 to kMaxRadius
    float weight[kMaxTaps * kMaxTaps];  ///< finite; the first ones count
};

/// out[i] = sum of taps.weight[k + radius] * in[i + k] for k = -radius ... radius.
///
/// @param in      [n] device memory, read only
/// @param out     [n] device memory, written; shares no element with in
/// @param n       >= 0, also less than the radius; 0 launches nothing
/// @param taps    the weights, on the host: they are copied with the launch
/// @param border  what stands for in[i] where i < 0 or i >= n
/// @param stream  where the work is queued; the function returns without waiting
///
/// Traffic  reads and writes n * 4 B
/// Error    that of a float sum of 2 * radius + 1 products, in any order
/// Throws   wb::InvalidArgument for a negative n, n * 4 B >= 2^63, a radius outside of
///          0 to kMaxRadius, a weight that is not finite, an unknown border, a null,
///          host or misaligned pointer, and arrays that overlap
void stencil_1d(const float* in,
                float* out,
                int64_t n,
                const Taps& taps,
                Border border,
                cudaStream_t stream);

/// The same with a filter of rows and columns, for each image of a batch by itself:
/// out[b, r, c] = sum of weight(y, x) * in[b, r + y, c + x].
///
/// @param in      [batch, rows, cols] device memory, read only
/// @param out     the same shape; shares no element with in
/// @param batch, rows, cols  >= 0; if one of them is 0, nothing is launched. At most
///                2^31 - 1 tiles of kTileRows x kTileCols elements
void convolve_2d(const float* in,
                 float* out,
                 int64_t batch,
                 int64_t rows,
                 int64_t cols,
                 const Filter& filter,
                 Border border,
                 cudaStream_t stream);

/// The same for a filter that is a product:
/// weight(y, x) = vertical.weight[y + radius] * horizontal.weight[x + radius].
/// 2 * (2 * radius + 1) multiplications for each element instead of the square.
///
/// @param vertical, horizontal  the weights, on the host; of the same radius
///
/// Error    that of float sums along the rows, whose results are summed along columns
void convolve_separable(const float* in,
                        float* out,
                        int64_t batch,
                        int64_t rows,
                        int64_t cols,
                        const Taps& vertical,
                        const Taps& horizontal,
                        Border border,
                        cudaStream_t stream);
