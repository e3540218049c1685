// bf16_gelu.cuh: given with this exercise: GELU and its derivative, of eight numbers at
// a time. There is nothing to write here.
#pragma once

#include "bf16_kernels.cuh"

// #region gelu-parts
/// What both need at z, by one exponential and one division: GELU is z yes, and its
/// derivative yes + 2 z yes no u', with yes = sigmoid(2 u), no = sigmoid(-2 u).
struct GeluParts {
    float yes;
    float no;
    float slope;  ///< u'

    __device__ __forceinline__ explicit GeluParts(float z) {
        constexpr float kScale = 0.797884561f;  // sqrt(2 / pi)
        constexpr float kCube = 0.044715f;
        const float squared = z * z;
        const float u = kScale * z * (1.0f + kCube * squared);
        slope = kScale * (1.0f + 3.0f * kCube * squared);
        // exp(-2 |u|) is at most 1: nothing overflows, and the smaller one of the two
        // keeps its digits.
        const float e = __expf(-2.0f * fabsf(u));
        const float large = __fdividef(1.0f, 1.0f + e);
        const float small = e * large;
        yes = u >= 0.0f ? large : small;
        no = u >= 0.0f ? small : large;
    }
};
// #endregion gelu-parts

// #region gelu
/// hidden = GELU(z).
///
/// At the end of the product that z is, it would save a pass over z. But there eight
/// warps share the exponentials of 128 x 192 numbers while the tensor cores wait: both
/// ways take about as long, see the lesson.
///
/// Launch   a thread for eight elements, block kBf16Threads
/// Traffic  reads 2 B, writes 2 B an element
static __global__ void __launch_bounds__(kBf16Threads)
    bf16_gelu_kernel(const Bf16* z,  // [8 count]
                     Bf16* hidden,   // [8 count]
                     uint32_t count) {
    const uint32_t i = thread_of_grid();
    if (i >= count) return;
    float r_z[8];
    Eight::load(z + i * 8).unpack(r_z);
#pragma unroll
    for (int k = 0; k < 8; ++k)
        r_z[k] *= GeluParts(r_z[k]).yes;
    Eight::pack(r_z).store(hidden + i * 8);
}
// #endregion gelu
