// The product of v7, with the smallest of its sizes for all shapes, for the .diff files
// that edit 07_wgmma.cuh. Nothing here dequantises.
// Some versions that 07_launch.cuh chooses among are not called.
#pragma GCC diagnostic ignored "-Wunused-function"

#include "gptq_int4.h"

#define WB_VERSION_ONLY
#include "../../../../../solutions/day05-quantization/02-gptq-int4/gptq_int4_fast.cu"

// v7 leaves it nothing here.
static void gptq_matmul_v6(const GptqShape&,
                           const GptqTensors&,
                           const uint4*,
                           const __half*,
                           __half*,
                           cudaStream_t) {}

#include "../../../../../solutions/day05-quantization/02-gptq-int4/07_launch.cuh"

void gptq_dequantize(
    const GptqShape&, const GptqTensors&, __half*, unsigned long long*, cudaStream_t) {}

int64_t gptq_packed_vectors(const GptqShape& shape, bool has_order) {
    GptqArguments("gptq_packed_vectors", shape);
    return packed_vectors(shape, has_order);
}

void gptq_repack(const GptqShape& shape,
                 const GptqTensors& tensors,
                 uint4* packed,
                 unsigned long long* bad_rows,
                 cudaStream_t stream) {
    if (!repack_has_work(shape, tensors, packed, bad_rows)) return;
    repack(shape, tensors, packed, bad_rows, stream);
}

void gptq_matmul(const GptqShape& shape,
                 const GptqTensors& tensors,
                 const uint4* packed,
                 const __half* x,
                 __half* y,
                 cudaStream_t stream) {
    if (!product_has_work(shape, tensors, packed, x, y, stream)) return;
    using Sizes64 = WideSizes<64, 2, 12, 1>;
    launch_in_clusters<Sizes64>(
        shape, OrderedX(shape, tensors, packed, x, stream), y, WideParts{1, 0}, stream);
}
