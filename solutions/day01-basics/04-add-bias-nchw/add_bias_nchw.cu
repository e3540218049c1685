// add_bias_nchw.cu: y[n, c, h, w] = x[n, c, h, w] + bias[c], a bias for each channel.
// #solution
//
// <Ladder of="add_bias_nchw" at="N C H W = 1024 2048 7 7">
//        GB/s  idea                        what limits it
//   v1    517  a grid of three dimensions  rows of 7 in warps of 32
//   v2  1,940  a flat grid                 a 64-bit division for each element
//   v3  1,940  four elements a thread      as v2: planes of 49 are not divided by 4
//   v4  2,980  float4 across planes        the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "add_bias_nchw.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

#include <algorithm>
#include <cstdint>

/// Threads of a block of v1: a row of 32, one warp, is one contiguous piece of memory.
constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

/// The most blocks that a grid may have along y and along z. (Along x: 2^31 - 1.)
constexpr int64_t kMaxGridYZ = 65535;
// #solution

/// Threads in a block of v2, v3 and v4.
constexpr int kThreads = 256;
// #end

// #region v1-kernel
/// add_bias_nchw_v1: one thread a column w; rows and planes in strides of the grid.
///
/// A plane is one channel of one image, H * W elements; plane n * C + c is channel c of
/// image n.
///
/// Launch   block (kBlockX, kBlockY), grid (tiles of W, tiles of H, N * C), of which y
///          and z are cut at kMaxGridYZ
__global__ void add_bias_nchw_v1_kernel(const float* x,     // [N, C, H, W]
                                        const float* bias,  // [C]
                                        float* y,           // [N, C, H, W]
                                        int64_t N,
                                        int64_t C,
                                        int64_t H,
                                        int64_t W) {
    // TODO(learner): find this thread's column w and first row h. For every plane from
    // blockIdx.z on, in steps of gridDim.z, and every row from h on, in steps of the
    // grid's height in threads, write y = x + bias[c] (about 12 lines)
    // #solution
    const int64_t w = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t first_h = int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    const int64_t h_step = int64_t{gridDim.y} * blockDim.y;
    if (w >= W) return;  // right of the image
    for (int64_t plane = blockIdx.z; plane < N * C; plane += gridDim.z) {
        const float b = bias[plane % C];  // plane = n * C + c
        for (int64_t h = first_h; h < H; h += h_step) {
            const int64_t i = (plane * H + h) * W + w;
            y[i] = x[i] + b;
        }
    }
    // #end
}
// #endregion v1-kernel

// #region v1-launch
static void add_bias_nchw_v1(const float* x,
                             const float* bias,
                             float* y,
                             int64_t N,
                             int64_t C,
                             int64_t H,
                             int64_t W,
                             cudaStream_t stream) {
    // TODO(learner): a block of kBlockX times kBlockY threads, a grid that covers W, H
    // and N * C but is at most kMaxGridYZ high and deep, and the launch (about 6 lines)
    // #solution
    const dim3 block(kBlockX, kBlockY);
    const dim3 grid(
        wb::grid_size(W, kBlockX),
        static_cast<unsigned>(std::min(wb::ceil_div(H, int64_t{kBlockY}), kMaxGridYZ)),
        static_cast<unsigned>(std::min(N * C, kMaxGridYZ)));
    add_bias_nchw_v1_kernel<<<grid, block, 0, stream>>>(x, bias, y, N, C, H, W);
    // #end
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launch

// #solution
WB_RUNG(add_bias_nchw, add_bias_nchw_v1, "a grid of three dimensions");

// #region v2-kernel
/// add_bias_nchw_v2: the tensor as one long array, one thread an element.
///
/// No thread idles whatever the shape, at the price of two divisions an element.
///
/// Launch   grid ceil_div(count, kThreads), block kThreads
__global__ void add_bias_nchw_v2_kernel(const float* x,     // [count], count = N C H W
                                        const float* bias,  // [C]
                                        float* y,           // [count]
                                        int64_t count,
                                        int64_t C,
                                        int64_t plane_size  // H * W
) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) {
        const int64_t c = i / plane_size % C;
        y[i] = x[i] + bias[c];
    }
}
// #endregion v2-kernel

// #region v2-launch
static void add_bias_nchw_v2(const float* x,
                             const float* bias,
                             float* y,
                             int64_t N,
                             int64_t C,
                             int64_t H,
                             int64_t W,
                             cudaStream_t stream) {
    const int64_t count = N * C * H * W;
    const unsigned blocks = wb::grid_size(count, kThreads);
    add_bias_nchw_v2_kernel<<<blocks, kThreads, 0, stream>>>(
        x, bias, y, count, C, H * W);
    CUDA_CHECK_LAUNCH();
}
// #endregion v2-launch
WB_RUNG(add_bias_nchw, add_bias_nchw_v2, "a flat grid, c by division");

// #region v3-kernel
/// add_bias_nchw_v3: the same, four neighbouring elements a thread.
///
/// A plane of 4 k elements is k vectors, none of which reaches into the next plane: one
/// bias serves all four elements.
///
/// Launch   grid ceil_div(num_vectors, kThreads), block kThreads
__global__ void add_bias_nchw_v3_kernel(const float* x,       // 16-byte aligned
                                        const float* bias,    // [C]
                                        float* y,             // 16-byte aligned
                                        int64_t num_vectors,  // N C H W / 4
                                        int64_t C,
                                        int64_t vectors_per_plane  // H W / 4
) {
    const int64_t v = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (v < num_vectors) {
        const float b = bias[v / vectors_per_plane % C];
        const float4 r = reinterpret_cast<const float4*>(x)[v];
        reinterpret_cast<float4*>(y)[v] =
            make_float4(r.x + b, r.y + b, r.z + b, r.w + b);
    }
}
// #endregion v3-kernel

/// Whether a pointer may be read as float4.
static bool is_aligned_for_float4(const void* pointer) {
    return reinterpret_cast<uintptr_t>(pointer) % alignof(float4) == 0;
}

// #region v3-launch
static void add_bias_nchw_v3(const float* x,
                             const float* bias,
                             float* y,
                             int64_t N,
                             int64_t C,
                             int64_t H,
                             int64_t W,
                             cudaStream_t stream) {
    // It is the plane that must divide by four, not the whole tensor: 4 planes of 15
    // elements divide as well, but their fourth vector has elements of two channels.
    if (H * W % 4 != 0 || !is_aligned_for_float4(x) || !is_aligned_for_float4(y)) {
        return add_bias_nchw_v2(x, bias, y, N, C, H, W, stream);
    }
    const int64_t num_vectors = N * C * H * W / 4;
    const unsigned blocks = wb::grid_size(num_vectors, kThreads);
    add_bias_nchw_v3_kernel<<<blocks, kThreads, 0, stream>>>(
        x, bias, y, num_vectors, C, H * W / 4);
    CUDA_CHECK_LAUNCH();
}
// #endregion v3-launch
WB_RUNG(add_bias_nchw, add_bias_nchw_v3, "float4: four elements a thread");

// #region v4-kernel
/// add_bias_nchw_v4: four neighbouring elements a thread, whatever the plane's size.
///
/// One division finds the plane of the first element; the next three are at most one
/// step further, in the next plane when this one ends.
///
/// @tparam Index  an unsigned type that holds count: a division of 64-bit numbers takes
///                several times as many instructions as one of 32-bit numbers
///
/// Launch   grid ceil_div(count / 4 + 1, kThreads), block kThreads; the one extra
///          thread does the count % 4 last elements
template <class Index>
__global__ void add_bias_nchw_v4_kernel(const float* x,     // [count] 16-byte aligned
                                        const float* bias,  // [C]
                                        float* y,           // [count] 16-byte aligned
                                        Index count,        // N C H W
                                        Index C,
                                        Index plane_size  // H W
) {
    const Index v = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    const Index num_vectors = count / 4;
    if (v > num_vectors) return;
    const Index plane = 4 * v / plane_size;
    Index place = 4 * v - plane * plane_size;  // within the plane
    Index c = plane % C;
    const auto next_bias = [&] {
        const float b = bias[c];
        if (++place == plane_size) {
            place = 0;
            if (++c == C) c = 0;
        }
        return b;
    };
    if (v < num_vectors) {
        float4 r = reinterpret_cast<const float4*>(x)[v];
        r.x += next_bias();
        r.y += next_bias();
        r.z += next_bias();
        r.w += next_bias();
        reinterpret_cast<float4*>(y)[v] = r;
    } else {
        for (Index i = 4 * v; i < count; ++i)
            y[i] = x[i] + next_bias();
    }
}
// #endregion v4-kernel

// #region v4-launch
template <class Index>
static void launch_add_bias_nchw_v4(const float* x,
                                    const float* bias,
                                    float* y,
                                    int64_t count,
                                    int64_t C,
                                    int64_t plane_size,
                                    cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(count / 4 + 1, kThreads);
    const auto kernel = add_bias_nchw_v4_kernel<Index>;
    kernel<<<blocks, kThreads, 0, stream>>>(x,
                                            bias,
                                            y,
                                            static_cast<Index>(count),
                                            static_cast<Index>(C),
                                            static_cast<Index>(plane_size));
    CUDA_CHECK_LAUNCH();
}

static void add_bias_nchw_v4(const float* x,
                             const float* bias,
                             float* y,
                             int64_t N,
                             int64_t C,
                             int64_t H,
                             int64_t W,
                             cudaStream_t stream) {
    if (!is_aligned_for_float4(x) || !is_aligned_for_float4(y)) {
        return add_bias_nchw_v2(x, bias, y, N, C, H, W, stream);
    }
    const int64_t count = N * C * H * W;
    // The threads left over in the last block compute an index too, which must fit.
    if (count + 4 * kThreads <= UINT32_MAX) {
        launch_add_bias_nchw_v4<uint32_t>(x, bias, y, count, C, H * W, stream);
    } else {
        launch_add_bias_nchw_v4<uint64_t>(x, bias, y, count, C, H * W, stream);
    }
}
// #endregion v4-launch
WB_RUNG(add_bias_nchw, add_bias_nchw_v4, "float4 across planes, 32-bit division");
// #end

// #region contract
void add_bias_nchw(const float* x,
                   const float* bias,
                   float* y,
                   int64_t N,
                   int64_t C,
                   int64_t H,
                   int64_t W,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when both TODOs are written
    const wb::Arguments arguments("add_bias_nchw");
    arguments.size("N", N).size("C", C).size("H", H).size("W", W);
    const int64_t count = arguments.product("N * C * H * W", {N, C, H, W});
    if (count == 0) return;  // an image without rows, a batch without images, ...
    arguments.device("x", x, count).device("bias", bias, C).device("y", y, count);
    // #solution
    add_bias_nchw_v4(x, bias, y, N, C, H, W, stream);
    // #end
    // #starter add_bias_nchw_v1(x, bias, y, N, C, H, W, stream);
}
// #endregion contract
