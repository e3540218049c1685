/// given.h: what both of your files need: constants, what the functions refuse on the
/// host, and the kernel that looks at offsets on the device. There is nothing to write.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cstdint>
#include <limits>

#include "jagged_tensors.h"

using wb::JaggedArray;
using wb::JaggedFault;
using wb::JaggedStatus;

/// Threads in a block.
constexpr int kThreads = 256;

// #region check-kernel
/// Offsets that a kernel is about to use.
template <class Offset>
struct Checked {
    const Offset* offsets;  // [num_rows + 1]
    int64_t total;          // what the last one must be
    JaggedArray array;      // whose they are, for the message
};

/// Thread r compares offset r with its neighbour before it; those at the ends with what
/// they must be. If none is wrong, all of them are in [0, total].
///
/// Launch   grid (ceil_div(num_rows + 1, kThreads), 1 or 2), block kThreads
template <class Offset>
__global__ void check_offsets_kernel(Checked<Offset> one,
                                     Checked<Offset> other,  // if gridDim.y is 2
                                     int64_t num_rows,
                                     JaggedStatus* status) {
    const Checked<Offset> checked = blockIdx.y == 0 ? one : other;
    const int64_t r = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (r > num_rows) return;
    const int64_t value = checked.offsets[r];
    const auto report = [&](JaggedFault fault, int64_t bound) {
        wb::report_fault(status,
                         {static_cast<int32_t>(fault),
                          static_cast<int32_t>(checked.array),
                          r,
                          value,
                          bound});
    };
    const int64_t before = r == 0 ? 0 : int64_t{checked.offsets[r - 1]};
    if (r == 0 && value != 0) {
        report(JaggedFault::first, 0);
    } else if (value < before) {
        report(JaggedFault::falls, before);
    } else if (r == num_rows && value != checked.total) {
        report(JaggedFault::last, checked.total);
    }
}
// #endregion check-kernel

/// Queues a look at offsets of one jagged tensor. Kernels behind it on the stream find
/// status->fault different from 0 if they must not use them.
template <class Offset>
void check_offsets(const Offset* offsets,
                   const JaggedShape& shape,
                   JaggedStatus* status,
                   cudaStream_t stream) {
    const Checked<Offset> one = {offsets, shape.total, JaggedArray::offsets};
    const unsigned blocks = wb::grid_size(shape.num_rows + 1, kThreads);
    check_offsets_kernel<Offset>
        <<<blocks, kThreads, 0, stream>>>(one, one, shape.num_rows, status);
    CUDA_CHECK_LAUNCH();
}

/// The same for two jagged tensors with as many rows, in one launch.
template <class Offset>
void check_offsets(const Offset* a_offsets,
                   const Offset* b_offsets,
                   const PairShape& shape,
                   JaggedStatus* status,
                   cudaStream_t stream) {
    const Checked<Offset> a = {a_offsets, shape.a_total, JaggedArray::a_offsets};
    const Checked<Offset> b = {b_offsets, shape.b_total, JaggedArray::b_offsets};
    const dim3 grid(wb::grid_size(shape.num_rows + 1, kThreads), 2);
    check_offsets_kernel<Offset>
        <<<grid, kThreads, 0, stream>>>(a, b, shape.num_rows, status);
    CUDA_CHECK_LAUNCH();
}

// #region length
/// lengths[r]; if it is negative, a note in status, and 0.
__device__ inline int64_t checked_length(const int32_t* lengths,
                                         int64_t r,
                                         JaggedStatus* status) {
    const int64_t length = lengths[r];
    if (length >= 0) return length;
    const auto fault = static_cast<int32_t>(JaggedFault::negative);
    wb::report_fault(status, {fault, 0, r, length, 0});
    return 0;
}

/// offsets[r + 1] = sum; if it does not fit, a note in status, and the largest.
/// @param sum  of lengths[0], ..., lengths[r]
template <class Offset>
__device__ void store_offset(Offset* offsets,
                             int64_t r,
                             int64_t sum,
                             JaggedStatus* status) {
    constexpr int64_t kHalf = int64_t{1} << (8 * sizeof(Offset) - 2);
    constexpr int64_t kLargest = kHalf - 1 + kHalf;  // 2^31 - 1, or 2^63 - 1
    if (sum > kLargest) {
        const auto fault = static_cast<int32_t>(JaggedFault::sum);
        wb::report_fault(status, {fault, 0, r, sum, kLargest});
        sum = kLargest;
    }
    offsets[r + 1] = static_cast<Offset>(sum);
}
// #endregion length

/// Calls f(offsets), with a pointer to their type.
template <class F>
void with_offsets(wb::Offsets offsets, F f) {
    if (offsets.is_wide())
        f(offsets.wide());
    else
        f(offsets.narrow());
}

/// Calls f(a_offsets, b_offsets), which have the same type.
template <class F>
void with_offsets(wb::Offsets a_offsets, wb::Offsets b_offsets, F f) {
    if (a_offsets.is_wide())
        f(a_offsets.wide(), b_offsets.wide());
    else
        f(a_offsets.narrow(), b_offsets.narrow());
}

/// The offsets to be written, which have the type of others.
inline int32_t* like(const int32_t*, wb::OffsetsOut offsets) {
    return offsets.narrow();
}
inline int64_t* like(const int64_t*, wb::OffsetsOut offsets) {
    return offsets.wide();
}

/// An array, as far as its place in memory is concerned.
struct Bytes {
    const void* begin;
    int64_t count;
};

inline void check_rows(const wb::Arguments& arguments,
                       const char* name,
                       int64_t num_rows) {
    arguments.size(name, num_rows)
        .require(num_rows <= std::numeric_limits<int32_t>::max(),
                 name,
                 num_rows,
                 "a grid has at most 2^31 - 1 blocks");
}

/// Whatever kind of offsets.
template <class AnyOffsets>
Bytes check_offset_pointer(const wb::Arguments& arguments,
                           const char* name,
                           AnyOffsets offsets,
                           int64_t num_rows) {
    const int64_t count = num_rows + 1;
    if (offsets.is_wide()) {
        arguments.device(name, offsets.wide(), count);
        return {offsets.wide(), count * int64_t{sizeof(int64_t)}};
    }
    arguments.device(name, offsets.narrow(), count);
    return {offsets.narrow(), count * int64_t{sizeof(int32_t)}};
}

inline void check_jagged_offsets(const int32_t* lengths,
                                 wb::OffsetsOut offsets,
                                 int64_t num_rows,
                                 const JaggedStatus* status) {
    const wb::Arguments arguments("jagged_offsets");
    check_rows(arguments, "num_rows", num_rows);
    arguments.device("lengths", lengths, num_rows).device("status", status, 1);
    const Bytes out = check_offset_pointer(arguments, "offsets", offsets, num_rows);
    arguments.apart("offsets - lengths", lengths, num_rows * 4, out.begin, out.count);
}

/// For jagged_to_dense() and dense_to_jagged(). Returns whether there are any rows.
inline bool check_conversion(const char* function,
                             const bf16* values,
                             wb::Offsets offsets,
                             const bf16* dense,
                             const JaggedShape& shape,
                             const JaggedStatus* status) {
    const wb::Arguments arguments(function);
    const auto& [num_rows, total, max_length, dim] = shape;
    check_rows(arguments, "shape.num_rows", num_rows);
    arguments.size("shape.total", total)
        .size("shape.max_length", max_length)
        .positive("shape.dim", dim);
    constexpr int64_t kBytes = sizeof(bf16);
    const int64_t jagged = arguments.product("total * dim * 2", {total, dim, kBytes});
    const int64_t padded = arguments.product("num_rows * max_length * dim * 2",
                                             {num_rows, max_length, dim, kBytes});
    arguments.require(num_rows > 0 || total == 0,
                      "shape.total",
                      total,
                      "must be 0 where there are no rows");
    if (num_rows == 0) return false;
    arguments.device("values", values, jagged / kBytes)
        .device("dense", dense, padded / kBytes)
        .device("status", status, 1);
    check_offset_pointer(arguments, "offsets", offsets, num_rows);
    arguments.apart("dense - values", values, jagged, dense, padded);
    return true;
}

/// For jagged_concat() and jagged_split(). Returns whether there are any rows.
inline bool check_pair(const char* function,
                       const bf16* a,
                       wb::Offsets a_offsets,
                       const bf16* b,
                       wb::Offsets b_offsets,
                       const bf16* values,
                       const PairShape& shape,
                       const JaggedStatus* status) {
    const wb::Arguments arguments(function);
    const auto& [num_rows, a_total, b_total, dim] = shape;
    check_rows(arguments, "shape.num_rows", num_rows);
    arguments.size("shape.a_total", a_total)
        .size("shape.b_total", b_total)
        .positive("shape.dim", dim);
    constexpr int64_t kBytes = sizeof(bf16);
    // Twice the bytes of each, so that the bytes of both are less than 2^63, too.
    const int64_t a_bytes =
        arguments.product("a_total * dim * 4", {a_total, dim, 2 * kBytes}) / 2;
    const int64_t b_bytes =
        arguments.product("b_total * dim * 4", {b_total, dim, 2 * kBytes}) / 2;
    arguments
        .require(num_rows > 0 || a_total == 0,
                 "shape.a_total",
                 a_total,
                 "must be 0 where there are no rows")
        .require(num_rows > 0 || b_total == 0,
                 "shape.b_total",
                 b_total,
                 "must be 0 where there are no rows");
    if (num_rows == 0) return false;
    arguments.device("a", a, a_bytes / kBytes)
        .device("b", b, b_bytes / kBytes)
        .device("values", values, (a_bytes + b_bytes) / kBytes)
        .device("status", status, 1);
    check_offset_pointer(arguments, "a_offsets", a_offsets, num_rows);
    check_offset_pointer(arguments, "b_offsets", b_offsets, num_rows);
    arguments.require(a_offsets.is_wide() == b_offsets.is_wide(),
                      "bits of b_offsets",
                      b_offsets.is_wide() ? 64 : 32,
                      "must be as many as those of a_offsets");
    arguments.apart("values - a", a, a_bytes, values, a_bytes + b_bytes)
        .apart("values - b", b, b_bytes, values, a_bytes + b_bytes);
    return true;
}

/// What jagged_concat() refuses besides.
inline bool check_concat(const bf16* a,
                         wb::Offsets a_offsets,
                         const bf16* b,
                         wb::Offsets b_offsets,
                         const bf16* values,
                         wb::OffsetsOut offsets,
                         const PairShape& shape,
                         const JaggedStatus* status) {
    if (!check_pair("jagged_concat", a, a_offsets, b, b_offsets, values, shape, status))
        return false;
    const wb::Arguments arguments("jagged_concat");
    const int64_t rows = shape.num_rows;
    arguments.require(offsets.is_wide() == a_offsets.is_wide(),
                      "bits of offsets",
                      offsets.is_wide() ? 64 : 32,
                      "must be as many as those of a_offsets");
    const int64_t total = shape.a_total + shape.b_total;
    arguments.require(offsets.is_wide() || total <= std::numeric_limits<int32_t>::max(),
                      "shape.a_total + shape.b_total",
                      total,
                      "offsets of 32 bits hold 2^31 - 1 at most");
    const Bytes out = check_offset_pointer(arguments, "offsets", offsets, rows);
    const Bytes in_a = check_offset_pointer(arguments, "a_offsets", a_offsets, rows);
    const Bytes in_b = check_offset_pointer(arguments, "b_offsets", b_offsets, rows);
    arguments.apart("offsets - a_offsets", in_a.begin, in_a.count, out.begin, out.count)
        .apart("offsets - b_offsets", in_b.begin, in_b.count, out.begin, out.count);
    return true;
}

/// What jagged_split() refuses besides.
inline bool check_split(const bf16* values,
                        wb::Offsets a_offsets,
                        wb::Offsets b_offsets,
                        const bf16* a,
                        const bf16* b,
                        const PairShape& shape,
                        const JaggedStatus* status) {
    if (!check_pair("jagged_split", a, a_offsets, b, b_offsets, values, shape, status))
        return false;
    const int64_t entry = shape.dim * int64_t{sizeof(bf16)};
    wb::Arguments("jagged_split")
        .apart("b - a", a, shape.a_total * entry, b, shape.b_total * entry);
    return true;
}
