// rope_and_kv_append.cu: q and k are turned by their position, on the way to the cache.
// #solution
//
// v1 is in this file, v2 in 02_vectors.cuh, v3 in rope_and_kv_append_fast.cu, the
// second stage, v4 in 04_lookups.cuh.
//
// <Ladder of="rope_append_bf16" at="16384 tokens, Hq32 Hkv8 D128">
//        GB/s  idea                     what limits it
//   v1    822  one thread a pair        accesses of 2 bytes, look-ups for each pair
//   v2  2,520  eight pairs a thread     angles: twice as many bytes as numbers
//   v3  3,090  four heads share angles  three loads that wait for each other
//   v4  3,340  angles before the page   the speed of memory
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-28
//
// <Ladder of="rope_append_fp16" at="16384 tokens, Hq32 Hkv8 D128">
//        GB/s  idea                     what limits it
//   v1    826  one thread a pair        as above
//   v2  2,530  eight pairs a thread     as above
//   v3  3,130  four heads share angles  three loads that wait for each other
//   v4  3,390  angles before the page   the speed of memory
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-28
//
// <Ladder of="rope_append_fp8" at="16384 tokens, Hq32 Hkv8 D128">
//        GB/s  idea                     what limits it
//   v1    741  one thread a pair        as above, and stores of one byte
//   v2  2,350  eight pairs a thread     as above
//   v3  2,830  four heads share angles  three loads that wait for each other
//   v4  3,080  angles before the page   the speed of memory
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-28
//
// <Ladder of="rope_angles" at="65536 positions, 64 pairs">
//        GB/s  idea               what limits it
//   v1  1,180  one thread a pair  sine and cosine of doubles
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-28
// #end
#include "rope_and_kv_append.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
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
    // #solution
    const double angle = static_cast<double>(i / pairs) * frequencies[i % pairs];
    angles[i] = make_float2(static_cast<float>(magnitude * cos(angle)),
                            static_cast<float>(magnitude * sin(angle)));
    // #end
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
    // #solution
    return make_float2(a * angle.x - b * angle.y, b * angle.x + a * angle.y);
    // #end
    // #starter return make_float2(a, b);
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
    // #solution
    const int64_t token = i / pairs / call.heads();
    const int head = static_cast<int>(i / pairs % call.heads());
    const int pair = static_cast<int>(i % pairs);
    const Slot slot = slot_of(call, token, status);
    if (slot.page < 0) return;
    const Places at = places_of<1>(call, pair);
    const T* const from = head_of(call, token, head);
    float2 numbers =
        make_float2(wb::to_float(from[at.first]), wb::to_float(from[at.second]));
    const bool turns = at.rotates && !is_value(call, head);
    if (turns) {
        const int64_t row = slot.position * (call.rotary_dim / 2);
        numbers = rotated(numbers.x, numbers.y, call.angles[row + pair]);
    }
    if (is_query(call, head)) {
        if (!turns) return;
        T* const to = call.q + (from - call.q);
        to[at.first] = wb::to_element<T>(numbers.x);
        to[at.second] = wb::to_element<T>(numbers.y);
        return;
    }
    const Target<Stored> target = target_of(call, slot, head);
    const float first[1] = {numbers.x * target.factor};
    const float second[1] = {numbers.y * target.factor};
    store_numbers(target.row + at.first, first);
    store_numbers(target.row + at.second, second);
    // #end
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

// #solution
#define WB_VERSION_ONLY
#include "rope_and_kv_append_fast.cu"

#include "02_vectors.cuh"
#include "04_lookups.cuh"

WB_RUNG(rope_angles, rope_angles_v1, "one thread a pair");

/// A version for all three types.
#define WB_ROPE_RUNGS(version, idea)                             \
    constexpr auto& rope_append_fp16_##version =                 \
        rope_append_##version<__half, __half>;                   \
    constexpr auto& rope_append_bf16_##version =                 \
        rope_append_##version<__nv_bfloat16, __nv_bfloat16>;     \
    constexpr auto& rope_append_fp8_##version =                  \
        rope_append_##version<__nv_bfloat16, __nv_fp8_e4m3>;     \
    WB_RUNG(rope_append_fp16, rope_append_fp16_##version, idea); \
    WB_RUNG(rope_append_bf16, rope_append_bf16_##version, idea); \
    WB_RUNG(rope_append_fp8, rope_append_fp8_##version, idea)

WB_ROPE_RUNGS(v1, "one thread a pair");
WB_ROPE_RUNGS(v2, "eight pairs a thread");
WB_ROPE_RUNGS(v3, "four heads share angles");
WB_ROPE_RUNGS(v4, "angles before the page");
// #end

// #region contract
void rope_angles(const double* frequencies,
                 int64_t pairs,
                 double magnitude,
                 int64_t rows,
                 float2* angles,
                 cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the first TODO is written
    if (!angles_have_work(frequencies, pairs, magnitude, rows, angles)) return;
    rope_angles_v1(frequencies, pairs, magnitude, rows, angles, stream);
}

template <class T, class Stored>
static void append(const char* function,
                   const RopeAppend<T, Stored>& call,
                   const wb::PagedWorkspace& workspace,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when the other two are
    if (!append_has_work(function, call)) return;
    // #solution
    rope_append_v4(call, workspace, stream);
    // #end
    // #starter rope_append_v1(call, workspace, stream);
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
