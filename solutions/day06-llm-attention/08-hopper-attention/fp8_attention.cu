// fp8_attention.cu: v6: attention on e4m3 numbers. See fp8_attention.h.
#include "fp8_attention.h"

#include <wb/scratch.h>

#include "calls.h"
#include "fp8_kernel.h"
#include "fp8_quantize.h"

namespace {

/// The inputs in e4m3, with their scales, for one call.
struct Fp8Inputs {
    int64_t heads, kv_heads;  ///< of all sequences
    int q_blocks, k_blocks;
    int64_t padded;  ///< keys, rounded up to whole groups of 16
    wb::Scratch<__nv_fp8_e4m3> q, k, v;
    wb::Scratch<float> q_scales, k_scales, v_scales;
    wb::Scratch<unsigned> largest;

    explicit Fp8Inputs(const wb::AttentionShape& shape, cudaStream_t stream)
        : heads(shape.batch * shape.query_heads),
          kv_heads(shape.batch * shape.kv_heads),
          q_blocks(static_cast<int>(wb::ceil_div<int64_t>(shape.queries, kGroupRows))),
          k_blocks(
              static_cast<int>(wb::ceil_div<int64_t>(shape.keys, TilesFp8::kKeys))),
          padded(wb::ceil_div<int64_t>(shape.keys, 16) * 16),
          q(shape.query_elements(), stream),
          k(shape.kv_elements(), stream),
          v(kv_heads * padded * TilesFp8::kDim, stream),
          q_scales(heads * q_blocks, stream),
          k_scales(kv_heads * k_blocks, stream),
          v_scales(kv_heads, stream),
          largest(kv_heads, stream) {}
};

// #region quantize
void quantize(const wb::AttentionShape& shape,
              const Call& call,
              const Fp8Inputs& to,
              cudaStream_t stream) {
    constexpr int kDim = TilesFp8::kDim;
    const auto grid = [](int64_t blocks, int64_t heads) {
        return dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(heads));
    };
    const auto of = [](const Rows& rows) {
        return static_cast<const __nv_bfloat16*>(rows.base);
    };
    const int queries = static_cast<int>(shape.queries);
    const int keys = static_cast<int>(shape.keys);
    quantize_rows_kernel<kGroupRows, kDim>
        <<<grid(to.q_blocks, to.heads), kQuantizeThreads, 0, stream>>>(
            of(call.q), to.q.data(), to.q_scales.data(), queries);
    CUDA_CHECK_LAUNCH();
    quantize_rows_kernel<TilesFp8::kKeys, kDim>
        <<<grid(to.k_blocks, to.kv_heads), kQuantizeThreads, 0, stream>>>(
            of(call.k), to.k.data(), to.k_scales.data(), keys);
    CUDA_CHECK_LAUNCH();
    const auto bytes = static_cast<size_t>(to.kv_heads) * sizeof(unsigned);
    CUDA_CHECK(cudaMemsetAsync(to.largest.data(), 0, bytes, stream));
    largest_of_head_kernel<<<grid(wb::ceil_div(keys, 256), to.kv_heads),
                             kQuantizeThreads,
                             0,
                             stream>>>(
        of(call.v), to.largest.data(), shape.keys * kDim);
    CUDA_CHECK_LAUNCH();
    transpose_values_kernel<kDim>
        <<<grid(to.padded / 16, to.kv_heads), kDim, 0, stream>>>(
            of(call.v),
            to.largest.data(),
            reinterpret_cast<uint4*>(to.v.data()),
            to.v_scales.data(),
            keys);
    CUDA_CHECK_LAUNCH();
}
// #endregion quantize

}  // namespace

void hopper_attention_fp8(const wb::AttentionShape& shape,
                          const __nv_bfloat16* q,
                          const __nv_bfloat16* k,
                          const __nv_bfloat16* v,
                          __nv_bfloat16* o,
                          float* lse,
                          cudaStream_t stream) {
    const wb::Arguments arguments("hopper_attention_fp8");
    arguments.require(shape.head_dim == TilesFp8::kDim,
                      "shape.head_dim",
                      shape.head_dim,
                      "must be 128 for e4m3; hopper_attention takes 64 and 256, too");
    arguments.require(shape.batch * std::max(shape.query_heads, shape.kv_heads) < 65536,
                      "shape.batch * heads",
                      shape.batch * std::max(shape.query_heads, shape.kv_heads),
                      "must be below 65536");
    Call call;
    if (!dense_call(shape, q, k, v, o, lse, stream, call)) return;
    const Fp8Inputs inputs(shape, stream);
    quantize(shape, call, inputs, stream);

    // The same tensors, a byte a number; the values transposed.
    const int64_t D = shape.head_dim;
    call.q.base = inputs.q.data();
    call.k.base = inputs.k.data();
    call.v = {inputs.v.data(),
              D,
              shape.kv_heads,
              shape.batch,
              inputs.padded,
              D * inputs.padded,
              shape.kv_heads * D * inputs.padded};
    const Fp8Scales scales{inputs.q_scales.data(),
                           inputs.k_scales.data(),
                           inputs.v_scales.data(),
                           inputs.q_blocks,
                           inputs.k_blocks};
    const wb::Scratch<unsigned> counter(1, stream);
    CUDA_CHECK(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned), stream));
    Problem problem = call.problem;
    const int64_t tiles_of_head = wb::ceil_div<int64_t>(shape.queries, TilesFp8::kRows);
    const unsigned tiles = wb::grid_size(inputs.heads * tiles_of_head, 1);
    problem.row_tiles = static_cast<int>(tiles_of_head);
    problem.tiles = static_cast<int>(tiles);
    problem.section =
        static_cast<int>(std::min<int64_t>(inputs.heads, heads_of_section(call)));
    problem.copy_rows = TilesFp8::kKeys;
    problem.counter = counter.data();
    TensorMaps maps;
    using T = __nv_fp8_e4m3;
    maps.q = map_of<T>("q", call.q, D, TilesFp8::kRows);
    maps.k = map_of<T>("k", call.k, D, TilesFp8::kKeys);
    maps.v = map_of<T>("v", call.v, inputs.padded, static_cast<int>(D));
    constexpr size_t kShared = kSharedBytes<TilesFp8>;
    CUDA_CHECK(cudaFuncSetAttribute(hopper_attention_v6_kernel,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(kShared)));
    int device = 0, multiprocessors = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(
        &multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const unsigned blocks = std::min(static_cast<unsigned>(multiprocessors), tiles);
    hopper_attention_v6_kernel<<<blocks, TilesFp8::kThreads, kShared, stream>>>(
        maps, problem, scales);
    CUDA_CHECK_LAUNCH();
}
