// rope_and_kv_append_fast.cu: v3: a thread keeps its angles for four heads, and has all
// their numbers under way at once.
#include "rope_and_kv_append.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include "checks.h"
#include "pieces.cuh"

/// Heads of a thread, and threads of a block.
constexpr int kHeads = 4;
constexpr int kBlock = 128;

// #region v3-rotate
/// A pair, turned by an angle: its cosine (x) and sine (y).
__device__ __forceinline__ float2 rotate(float a, float b, float2 angle) {
    return make_float2(a * angle.x - b * angle.y, b * angle.x + a * angle.y);
}

/// The angles of kWidth pairs, 16 bytes a load where there are eight of them.
///
/// @param from  a multiple of 16 bytes, unless kWidth is 1
template <int kWidth>
__device__ __forceinline__ void load_angles(float2 (&angles)[kWidth],
                                            const float2* from) {
    // TODO(learner): two angles are a float4; if kWidth is 1, there is one angle (about
    // 10 lines)
}
// #endregion v3-rotate

// #region v3-kernel
/// rope_append_v3: a thread for kWidth pairs of kHeads heads of a token. Heads of a
/// thread are `groups` apart, so that neighbouring threads have neighbouring heads.
///
/// Launch   grid ceil_div(tokens * ceil_div(heads(), kHeads) * head_dim / 2 / kWidth,
///          kBlock), block kBlock
/// Traffic  reads 8 B of angles for each pair of four heads
template <int kWidth, class T, class Stored>
__global__ void __launch_bounds__(kBlock)
    rope_append_v3_kernel(const RopeAppend<T, Stored> call, wb::PagedStatus* status) {
    const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
    const int items = static_cast<int>(call.cache.head_dim) / (2 * kWidth);
    const int heads = static_cast<int>(call.heads());
    const int groups = (heads + kHeads - 1) / kHeads;
    if (i >= call.tokens * groups * items) return;
    const int64_t token = i / (groups * items);
    const int item = static_cast<int>(i % (groups * items));
    const int group = item / items;
    const int pair = item % items * kWidth;
    const Places at = places_of<kWidth>(call, pair);
    Loaded<T, kWidth> loaded[kHeads];
    // TODO(learner): load the numbers of all heads of this thread, before anything is
    // waited for: heads group, group + groups, ... below `heads`. Then look up the
    // slot, and leave if there is no page. Load the angles, if the pairs turn. Then,
    // for each head: turn what is to turn, and store it, as v1 does. Queries that do
    // not turn are where they belong (about 32 lines)
    (void)loaded, (void)pair, (void)token, (void)group, (void)at;
}

template <class T, class Stored>
static void rope_append_v3(const RopeAppend<T, Stored>& call,
                           const wb::PagedWorkspace& workspace,
                           cudaStream_t stream) {
    const int64_t groups = wb::ceil_div(call.heads(), int64_t{kHeads});
    const int64_t pairs = call.tokens * groups * (call.cache.head_dim / 2);
    if (has_vectors(call)) {
        const unsigned blocks = wb::grid_size(pairs / 8, kBlock);
        rope_append_v3_kernel<8>
            <<<blocks, kBlock, 0, stream>>>(call, workspace.status());
    } else {
        const unsigned blocks = wb::grid_size(pairs, kBlock);
        rope_append_v3_kernel<1>
            <<<blocks, kBlock, 0, stream>>>(call, workspace.status());
    }
    CUDA_CHECK_LAUNCH();
}
// #endregion v3-kernel

// #region contract
/// As in the first stage.
__global__ void __launch_bounds__(kBlock)
    rope_angles_kernel(const double* frequencies,  // [pairs]
                       int64_t pairs,
                       double magnitude,
                       int64_t rows,
                       float2* angles) {  // [rows, pairs]
    const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
    if (i >= rows * pairs) return;
    const double angle = static_cast<double>(i / pairs) * frequencies[i % pairs];
    angles[i] = make_float2(static_cast<float>(magnitude * cos(angle)),
                            static_cast<float>(magnitude * sin(angle)));
}

void rope_angles(const double* frequencies,
                 int64_t pairs,
                 double magnitude,
                 int64_t rows,
                 float2* angles,
                 cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line, too: angles are given here
    if (!angles_have_work(frequencies, pairs, magnitude, rows, angles)) return;
    rope_angles_kernel<<<wb::grid_size(rows * pairs, kBlock), kBlock, 0, stream>>>(
        frequencies, pairs, magnitude, rows, angles);
    CUDA_CHECK_LAUNCH();
}

template <class T, class Stored>
static void append(const char* function,
                   const RopeAppend<T, Stored>& call,
                   const wb::PagedWorkspace& workspace,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!append_has_work(function, call)) return;
    rope_append_v3(call, workspace, stream);
}

void rope_append_fp16(const RopeAppend<__half, __half>& call,
                      const wb::PagedWorkspace& workspace,
                      cudaStream_t stream) {
    append("rope_append_fp16", call, workspace, stream);
}
void rope_append_bf16(const RopeAppend<__nv_bfloat16, __nv_bfloat16>& call,
                      const wb::PagedWorkspace& workspace,
                      cudaStream_t stream) {
    append("rope_append_bf16", call, workspace, stream);
}
void rope_append_fp8(const RopeAppend<__nv_bfloat16, __nv_fp8_e4m3>& call,
                     const wb::PagedWorkspace& workspace,
                     cudaStream_t stream) {
    append("rope_append_fp8", call, workspace, stream);
}
// #endregion contract
