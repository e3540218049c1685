// rope_and_kv_append.cu: q and k are turned by their position, on the way to the cache.
#include "rope_and_kv_append.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include "checks.h"
#include "pieces.cuh"

constexpr int kThreads = 256;

// #region v1-angles
/// rope_angles_v1: a thread for each position and pair.
///
/// Launch   grid ceil_div(rows * pairs, kThreads), block kThreads
__global__ void __launch_bounds__(kThreads)
    rope_angles_v1_kernel(const double* frequencies,  // [pairs]
                          int64_t pairs,
                          double magnitude,
                          int64_t rows,
                          float2* angles) {  // [rows, pairs]
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= rows * pairs) return;
    // TODO(learner): which position and which pair is this? Cosine and sine of their
    // product, in double: a float knows an angle of 100,000 to a hundredth only. Round
    // at the end (about 4 lines)
}

static void rope_angles_v1(const double* frequencies,
                           int64_t pairs,
                           double magnitude,
                           int64_t rows,
                           float2* angles,
                           cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(rows * pairs, kThreads);
    rope_angles_v1_kernel<<<blocks, kThreads, 0, stream>>>(
        frequencies, pairs, magnitude, rows, angles);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-angles

// #region v1-rotated
/// A pair, turned by an angle.
///
/// @param angle  its cosine (x) and sine (y)
__device__ __forceinline__ float2 rotated(float a, float b, float2 angle) {
    // TODO(learner): (about 1 line)
    return make_float2(a, b);
}
// #endregion v1-rotated

// #region v1-kernel
/// rope_append_v1: a thread for each pair of each head of q, k and v.
///
/// Launch   grid ceil_div(tokens * heads() * head_dim / 2, kThreads), block kThreads
/// Traffic  reads 8 B of angles for each pair, and look-ups for each thread
template <class T, class Stored>
__global__ void __launch_bounds__(kThreads)
    rope_append_v1_kernel(const RopeAppend<T, Stored> call, wb::PagedStatus* status) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const int64_t pairs = call.cache.head_dim / 2;  // of a head, turned or not
    if (i >= call.tokens * call.heads() * pairs) return;
    // TODO(learner): which token, head and pair is this? Look up the token's slot, and
    // leave if it has no page. Load the pair's two numbers, from head_of() at
    // places_of<1>(). If the pair turns and the head is no value, turn it by row
    // slot.position of the angles. Then store it: a query where it came from, key and
    // value at target_of(), with its factor; see store_numbers() (about 25 lines)
}

template <class T, class Stored>
static void rope_append_v1(const RopeAppend<T, Stored>& call,
                           const wb::PagedWorkspace& workspace,
                           cudaStream_t stream) {
    const int64_t pairs = call.tokens * call.heads() * (call.cache.head_dim / 2);
    const unsigned blocks = wb::grid_size(pairs, kThreads);
    rope_append_v1_kernel<<<blocks, kThreads, 0, stream>>>(call, workspace.status());
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-kernel

// #region contract
void rope_angles(const double* frequencies,
                 int64_t pairs,
                 double magnitude,
                 int64_t rows,
                 float2* angles,
                 cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the first TODO is written
    if (!angles_have_work(frequencies, pairs, magnitude, rows, angles)) return;
    rope_angles_v1(frequencies, pairs, magnitude, rows, angles, stream);
}

template <class T, class Stored>
static void append(const char* function,
                   const RopeAppend<T, Stored>& call,
                   const wb::PagedWorkspace& workspace,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one, when the other two are
    if (!append_has_work(function, call)) return;
    rope_append_v1(call, workspace, stream);
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
