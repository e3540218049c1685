/// wb/attention_rows.h: where the rows of q, k, v or o lie in memory, and the tensor
/// map that lets the TMA unit copy them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "wb/ptx/tma.h"

namespace wb {

/// One of the tensors of attention. Strides are in elements; a row is dense.
struct AttentionRows {
    const void* base = nullptr;
    int64_t head_dim = 0;  ///< elements of a row
    int64_t rows = 0, heads = 0, sequences = 0;
    int64_t row_stride = 0, head_stride = 0, sequence_stride = 0;
};

/// A tensor [sequences, heads, rows, head_dim], row-major without gaps.
inline AttentionRows dense_rows(const void* base,
                                int64_t sequences,
                                int64_t heads,
                                int64_t rows,
                                int64_t head_dim) {
    const int64_t head = rows * head_dim;
    return {base, head_dim, rows, heads, sequences, head_dim, head, heads * head};
}

/// The map of a tensor whose copies bring `box_rows` rows of one panel of 128 bytes.
/// Dimensions: element of a row, row, head, sequence. Throws as make_tensor_map.
///
/// @param name  of the tensor, for the message
template <class T>
ptx::TensorMap tensor_map(const char* name, const AttentionRows& tensor, int box_rows) {
    constexpr int kBytes = sizeof(T);
    const int64_t rows = std::max<int64_t>(tensor.rows, 1);
    return ptx::make_tensor_map(
        name,
        {tensor.base,
         kBytes,
         {tensor.head_dim, rows, tensor.heads, tensor.sequences},
         {tensor.row_stride * kBytes,
          tensor.head_stride * kBytes,
          tensor.sequence_stride * kBytes},
         {ptx::kSwizzleBytes / kBytes, box_rows, 1, 1}});
}

}  // namespace wb
