/// jagged_tensors.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <wb/jagged.h>

#include <cstdint>

using bf16 = __nv_bfloat16;

/// Sizes of a jagged tensor, and of its dense form.
struct JaggedShape {
    int64_t num_rows;    ///< in [0, 2^31); 0 launches nothing
    int64_t total;       ///< entries of all rows, >= 0; 0 if there are no rows
    int64_t max_length;  ///< entries of each row of the dense form, >= 0
    int64_t dim;         ///< elements of an entry, >= 1
};

/// Sizes of two jagged tensors with as many rows.
struct PairShape {
    int64_t num_rows;  ///< in [0, 2^31); 0 launches nothing
    int64_t a_total;   ///< entries of all rows of a, >= 0; 0 if there are no rows
    int64_t b_total;   ///< the same of b
    int64_t dim;       ///< elements of an entry, >= 1
};

// Everywhere: row r of a jagged tensor has the entries offsets[r] to offsets[r + 1] - 1
// of its values [total, dim]; an entry is dim elements.
//
// status      device memory; see wb::JaggedCheck. Never reset here
// stream      where the work is queued; the functions return without waiting
//
// Offsets must rise from 0 to the number of entries. Whether they do is found out on
// the device: if not, the fault is noted in status, and nothing is written. Nor is it
// if there is a fault in status already: calls that build upon each other may share it.
//
// Elements    bf16, copied bit by bit, whatever number they are
// Throws      wb::InvalidArgument for a negative size or one above 2^31 - 1 rows, a
//             product of 2^63 bytes or more, a null or a host pointer, arrays that
//             overlap

/// offsets[r] = lengths[0] + ... + lengths[r - 1], for every r in [0, num_rows].
///
/// @param lengths  [num_rows] device memory, read only; each >= 0
/// @param offsets  [num_rows + 1] device memory, written; of 32 or 64 bits each. With
///                 no rows, it has one offset, 0
///
/// A negative length is noted in status and counts as 0. A sum that an offset cannot
/// hold is noted, and the offset is the largest there is. What is in status before does
/// not matter here.
///
/// Traffic  reads num_rows * 4 B, writes num_rows * 4 B or 8 B
void jagged_offsets(const int32_t* lengths,
                    wb::OffsetsOut offsets,
                    int64_t num_rows,
                    wb::JaggedStatus* status,
                    cudaStream_t stream);

/// dense[r, t] = the entry t of row r, and zeros where the row has no such entry.
///
/// @param values      [total, dim] device memory, read only
/// @param offsets     [num_rows + 1] device memory, read only
/// @param dense       [num_rows, max_length, dim] device memory, written. What a row
///                    has behind max_length is left out; 0 of it launches nothing
///
/// Traffic  reads what is copied, and num_rows offsets; writes num_rows * max_length *
///          dim * 2 B
void jagged_to_dense(const bf16* values,
                     wb::Offsets offsets,
                     bf16* dense,
                     const JaggedShape& shape,
                     wb::JaggedStatus* status,
                     cudaStream_t stream);

/// The entry t of row r = dense[r, t], and zeros if t >= max_length.
///
/// @param dense       [num_rows, max_length, dim] device memory, read only
/// @param offsets     [num_rows + 1] device memory, read only
/// @param values      [total, dim] device memory, written
///
/// Traffic  reads what is copied, and num_rows offsets; writes total * dim * 2 B
void dense_to_jagged(const bf16* dense,
                     wb::Offsets offsets,
                     bf16* values,
                     const JaggedShape& shape,
                     wb::JaggedStatus* status,
                     cudaStream_t stream);

/// Row r of the result is row r of a, and behind it row r of b.
///
/// @param a, b         [a_total, dim], [b_total, dim] device memory, read only
/// @param a_offsets, b_offsets  [num_rows + 1] device memory, read only
/// @param values       [a_total + b_total, dim] device memory, written
/// @param offsets      [num_rows + 1] device memory, written: a_offsets + b_offsets.
///                     All three are of 32 bits, or all three of 64
///
/// Traffic  reads and writes (a_total + b_total) * dim * 2 B, and num_rows offsets
void jagged_concat(const bf16* a,
                   wb::Offsets a_offsets,
                   const bf16* b,
                   wb::Offsets b_offsets,
                   bf16* values,
                   wb::OffsetsOut offsets,
                   const PairShape& shape,
                   wb::JaggedStatus* status,
                   cudaStream_t stream);

/// The other way round: the first entries of row r are row r of a, the others row r of
/// b. How many they are, the offsets of a and b say.
///
/// @param values       [a_total + b_total, dim] device memory, read only
/// @param a_offsets, b_offsets  [num_rows + 1] device memory, read only; both of 32
///                     bits, or both of 64
/// @param a, b         [a_total, dim], [b_total, dim] device memory, written
///
/// Traffic  reads and writes (a_total + b_total) * dim * 2 B, and num_rows offsets
void jagged_split(const bf16* values,
                  wb::Offsets a_offsets,
                  wb::Offsets b_offsets,
                  bf16* a,
                  bf16* b,
                  const PairShape& shape,
                  wb::JaggedStatus* status,
                  cudaStream_t stream);
