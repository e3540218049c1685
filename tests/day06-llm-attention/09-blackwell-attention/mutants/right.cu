// The right functions that the .diff files edit. Attention has a thread for each row,
// and no tensor core: what edits of it get wrong is no matter of these.
// Only the test cases that reject its edits hold it.
#include "blackwell_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include <cmath>
#include <cstdint>

uint64_t shared_descriptor(uint32_t address,
                           uint32_t leading_bytes,
                           uint32_t stride_bytes,
                           Swizzle swizzle) {
    const uint64_t generation = uint64_t{1} << 46;
    const uint64_t mode = static_cast<uint64_t>(swizzle) << 61;
    const uint64_t distances = uint64_t{leading_bytes >> 4 & 0x3fff} << 16 |
                               uint64_t{stride_bytes >> 4 & 0x3fff} << 32;
    return uint64_t{address >> 4 & 0x3fff} | distances | generation | mode;
}

uint32_t instruction_descriptor(
    int m, int n, Element type, bool transpose_a, bool transpose_b) {
    const auto element = static_cast<uint32_t>(type);
    const uint32_t size =
        static_cast<uint32_t>(n / 8) << 17 | static_cast<uint32_t>(m / 16) << 24;
    const uint32_t a_bit = uint32_t{transpose_a} << 15;
    const uint32_t b_bit = uint32_t{transpose_b} << 16;
    return 1u << 4 | element << 7 | element << 10 | a_bit | b_bit | size;
}

uint32_t tensor_address(uint32_t base, int lane, int column) {
    return base + static_cast<uint32_t>(lane) * 65536 + static_cast<uint32_t>(column);
}

int swizzled_byte(int row, int byte) {
    return row * 128 + (byte ^ row % 8 * 16);
}

int key_step_bytes(int rows, int step) {
    return step / 4 * rows * 128 + step % 4 * 32;
}

WeightPlace weight_place(int row, int key) {
    return {row, key / 2, key % 2 * 16};
}

constexpr float kLog2e = 1.44269504f;

__device__ inline float to_float(__nv_bfloat16 x) {
    return __bfloat162float(x);
}

__global__ void attention_kernel(const wb::AttentionShape shape,
                                 int64_t rows,
                                 const __nv_bfloat16* q,
                                 const __nv_bfloat16* k,
                                 const __nv_bfloat16* v,
                                 __nv_bfloat16* o,
                                 float* lse) {
    const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int64_t D = shape.head_dim;
    const int64_t kv_head =
        row / shape.queries / (shape.query_heads / shape.kv_heads) * shape.keys;
    const int64_t visible =
        wb::visible_keys(shape.queries, shape.keys, shape.causal, row % shape.queries);
    float max = -INFINITY;
    float sum = 0.0f;
    float out[128] = {};
    for (int64_t key = kv_head; key < kv_head + visible; ++key) {
        float score = 0.0f;
        for (int64_t i = 0; i < D; ++i)
            score += to_float(q[row * D + i]) * to_float(k[key * D + i]);
        score *= shape.scale * kLog2e;
        float new_max = fmaxf(max, score);
        const float factor = exp2f(max - new_max);
        const float weight = exp2f(score - new_max);
        max = new_max;
        sum = sum * factor + weight;
        const float rounded = to_float(__float2bfloat16(weight));
        for (int64_t d = 0; d < D; ++d)
            out[d] = out[d] * factor + rounded * to_float(v[key * D + d]);
    }
    for (int64_t d = 0; d < D; ++d)
        o[row * D + d] = __float2bfloat16(visible == 0 ? 0.0f : out[d] / sum);
    if (lse != nullptr) lse[row] = (max + log2f(sum)) / kLog2e;
}

void blackwell_attention(const wb::AttentionShape& shape,
                         const __nv_bfloat16* q,
                         const __nv_bfloat16* k,
                         const __nv_bfloat16* v,
                         __nv_bfloat16* o,
                         float* lse,
                         cudaStream_t stream) {
    const wb::Arguments arguments("blackwell_attention");
    wb::check_shape(arguments, shape, {64, 128});
    if (shape.rows() == 0) return;
    arguments.device("q", q, shape.query_elements())
        .device("k", k, shape.kv_elements())
        .device("v", v, shape.kv_elements())
        .device("o", o, shape.query_elements());
    if (lse != nullptr) arguments.device("lse", lse, shape.rows());
    constexpr int kBlock = 64;
    attention_kernel<<<wb::grid_size(shape.rows(), kBlock), kBlock, 0, stream>>>(
        shape, shape.rows(), q, k, v, o, lse);
    CUDA_CHECK_LAUNCH();
}
