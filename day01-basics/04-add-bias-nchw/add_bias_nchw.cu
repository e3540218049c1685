// add_bias_nchw.cu: y[n, c, h, w] = x[n, c, h, w] + bias[c], a bias for each channel.
#include "add_bias_nchw.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include <algorithm>
#include <cstdint>

/// Threads of a block of v1: a row of 32, one warp, is one contiguous piece of memory.
constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

/// The most blocks that a grid may have along y and along z. (Along x: 2^31 - 1.)
constexpr int64_t kMaxGridYZ = 65535;

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
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launch

// #region contract
void add_bias_nchw(const float* x,
                   const float* bias,
                   float* y,
                   int64_t N,
                   int64_t C,
                   int64_t H,
                   int64_t W,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when both TODOs are written
    const wb::Arguments arguments("add_bias_nchw");
    arguments.size("N", N).size("C", C).size("H", H).size("W", W);
    const int64_t count = arguments.product("N * C * H * W", {N, C, H, W});
    if (count == 0) return;  // an image without rows, a batch without images, ...
    arguments.device("x", x, count).device("bias", bias, C).device("y", y, count);
    add_bias_nchw_v1(x, bias, y, N, C, H, W, stream);
}
// #endregion contract
