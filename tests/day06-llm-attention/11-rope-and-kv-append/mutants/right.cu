// The right rope_and_kv_append that the .diff files edit: v1 of the solution.
#include "rope_and_kv_append.h"

#include <wb/check.h>
#include <wb/launch.h>

#include "checks.h"
#include "pieces.cuh"

__global__ void right_angles_kernel(const double* frequencies,
                                    int64_t pairs,
                                    double magnitude,
                                    int64_t rows,
                                    float2* angles) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= rows * pairs) return;
    const double angle = static_cast<double>(i / pairs) * frequencies[i % pairs];
    angles[i] = make_float2(static_cast<float>(magnitude * cos(angle)),
                            static_cast<float>(magnitude * sin(angle)));
}

template <class T, class Stored>
__global__ void right_kernel(const RopeAppend<T, Stored> call,
                             wb::PagedStatus* status) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t pairs = call.cache.head_dim / 2;
    if (i >= call.tokens * call.heads() * pairs) return;
    const int64_t token = i / pairs / call.heads();
    const int head = static_cast<int>(i / pairs % call.heads());
    const int pair = static_cast<int>(i % pairs);
    const Slot slot = slot_of(call, token, status);
    if (slot.page < 0) return;
    const Places at = places_of<1>(call, pair);
    const T* const from = head_of(call, token, head);
    float a = wb::to_float(from[at.first]);
    float b = wb::to_float(from[at.second]);
    const bool turns = at.rotates && !is_value(call, head);
    if (turns) {
        const int64_t row = slot.position * (call.rotary_dim / 2);
        const float2 angle = call.angles[row + pair];
        const float old = a;
        a = a * angle.x - b * angle.y;
        b = b * angle.x + old * angle.y;
    }
    if (is_query(call, head)) {
        T* const to = call.q + (from - call.q);
        to[at.first] = wb::to_element<T>(a);
        to[at.second] = wb::to_element<T>(b);
        return;
    }
    const Target<Stored> target = target_of(call, slot, head);
    const float first[1] = {a * target.factor};
    const float second[1] = {b * target.factor};
    store_numbers(target.row + at.first, first);
    store_numbers(target.row + at.second, second);
}

void rope_angles(const double* frequencies,
                 int64_t pairs,
                 double magnitude,
                 int64_t rows,
                 float2* angles,
                 cudaStream_t stream) {
    if (!angles_have_work(frequencies, pairs, magnitude, rows, angles)) return;
    right_angles_kernel<<<wb::grid_size(rows * pairs, 256), 256, 0, stream>>>(
        frequencies, pairs, magnitude, rows, angles);
    CUDA_CHECK_LAUNCH();
}

template <class T, class Stored>
static void append(const char* function,
                   const RopeAppend<T, Stored>& call,
                   const wb::PagedWorkspace& workspace,
                   cudaStream_t stream) {
    if (!append_has_work(function, call)) return;
    const int64_t work = call.tokens * call.heads() * (call.cache.head_dim / 2);
    right_kernel<<<wb::grid_size(work, 256), 256, 0, stream>>>(call,
                                                               workspace.status());
    CUDA_CHECK_LAUNCH();
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
