/// embedding_lookup.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

/// Which rows of a table are meant.
struct Lookup {
    const int64_t* indices;   ///< [count] device memory: rows of the table
    int64_t count;            ///< >= 0
    int64_t num_rows;         ///< of the table, >= 0
    int64_t cols;             ///< of the table, 0 to 2^30
    unsigned long long* bad;  ///< [1] device memory. Each index that is outside of
                              ///< [0, num_rows) adds 1 and has no other effect.
                              ///< check_indices() in lookup.h looks at it
};

/// What a bag makes of its rows.
enum class Pool { sum, mean };

/// Bag b holds the indices offsets[b] to offsets[b + 1] - 1.
struct Bags {
    const int64_t* offsets;  ///< [num_bags + 1] device memory: 0 <= offsets[b]
                             ///< <= offsets[b + 1] <= count. A bag for which that is
                             ///< not so adds 1 to Lookup::bad and is not written
    int64_t num_bags;        ///< >= 0
    Pool pool;
    int64_t padding;  ///< an index that stands for nothing and is left out; -1: none
};

/// out[i, :] = table[indices[i], :]: a gather. The bits are copied: a NaN keeps its
/// payload, a zero its sign. Where indices[i] is no row, out[i, :] is not written.
///
/// @param table   [num_rows, cols] device memory, read only
/// @param out     [count, cols] device memory, written; shares no element with table
/// @param stream  where the work is queued; the function returns without waiting
///
/// If count or cols is 0 there is nothing to do, and nothing is launched.
///
/// Traffic  reads count * (cols * 4 + 8) B, writes count * cols * 4 B
/// Error    none
/// Throws   wb::InvalidArgument for a size that is negative or too large, a product of
///          sizes past 2^63 - 1, a null, host or misaligned pointer, and for table and
///          out that overlap
void embedding(const float* table,
               float* out,
               const Lookup& lookup,
               cudaStream_t stream);

/// The same for elements of two bytes, whatever they mean: __half or __nv_bfloat16.
void embedding_u16(const uint16_t* table,
                   uint16_t* out,
                   const Lookup& lookup,
                   cudaStream_t stream);

/// out[b, :] = the sum of the rows in bag b, or their mean. Indices equal to
/// bags.padding, and those that are no rows, are left out: the mean does not count
/// them. A bag of which nothing is left gives zeros.
///
/// @param table  [num_rows, cols] device memory, read only
/// @param out    [num_bags, cols] device memory, written; shares no element with table
///
/// If num_bags or cols is 0 there is nothing to do, and nothing is launched.
///
/// Numbers  sums in float, in any order; rounded once to the type of out
/// Error    gamma(k + 2) * sum of |x| for k rows, divided by k for a mean, and the
///          rounding to the type of out
/// Throws   as embedding(), and for a padding outside of [-1, num_rows)
void embedding_bag(const float* table,
                   float* out,
                   const Lookup& lookup,
                   const Bags& bags,
                   cudaStream_t stream);
void embedding_bag_fp16(const __half* table,
                        __half* out,
                        const Lookup& lookup,
                        const Bags& bags,
                        cudaStream_t stream);
void embedding_bag_bf16(const __nv_bfloat16* table,
                        __nv_bfloat16* out,
                        const Lookup& lookup,
                        const Bags& bags,
                        cudaStream_t stream);

/// The backward pass of embedding(): what a gather has read more than once, a scatter
/// adds up.
///
///     grad_table[r, :] = sum over i with indices[i] == r of grad_out[i, :]
///
/// Every row is written: one that no index means, and the row `padding`, is zero.
///
/// @param grad_out    [count, cols] device memory, read only
/// @param grad_table  [num_rows, cols] device memory, written; shares no element with
///                    grad_out
/// @param padding     an index whose gradients are left out; -1: none
///
/// If num_rows or cols is 0 there is nothing to do, and nothing is launched.
///
/// Numbers  sums in float, in any order, which may change from call to call
/// Error    gamma(k) * sum of |x| for k summands
/// Traffic  reads count * (cols * 4 + 8) B, writes num_rows * cols * 4 B
/// Throws   as embedding_bag(), and for count or num_rows above 2^31 - 1
void embedding_backward(const float* grad_out,
                        float* grad_table,
                        const Lookup& lookup,
                        int64_t padding,
                        cudaStream_t stream);
