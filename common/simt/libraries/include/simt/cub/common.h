/// simt/cub/common.h: what the parts of cub share.
#pragma once
#include <cstddef>

#include "cuda_runtime.h"
#include "simt/thrust/functional.h"

#ifdef __CUDACC_RDC__
#define CUB_RUNTIME_FUNCTION __host__ __device__
#else
#define CUB_RUNTIME_FUNCTION __host__
#endif
#define CUB_VERSION 300001
#define CUB_MAJOR_VERSION 3
#define CUB_MINOR_VERSION 0
#define CUB_SUBMINOR_VERSION 1
#define CUB_PTX_WARP_THREADS 32
#define CUB_PTX_LOG_WARP_THREADS 5

namespace cub {
using Sum = thrust::plus<>;
using Difference = thrust::minus<>;
using Division = thrust::divides<>;
using Max = thrust::maximum<>;
using Min = thrust::minimum<>;
using Equality = thrust::equal_to<>;
using Inequality = thrust::not_equal_to<>;

/// No values beside the keys.
struct NullType {};

/// A value and where it was found.
template <class Key, class Value>
struct KeyValuePair {
    Key key;
    Value value;
};

/// Two buffers, one of which holds the data.
template <class T>
struct DoubleBuffer {
    T* d_buffers[2] = {};
    int selector = 0;
    DoubleBuffer() = default;
    DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
    T* Current() { return d_buffers[selector]; }
    T* Alternate() { return d_buffers[selector ^ 1]; }
};

/// The calling thread's place in its warp, and its warp's number in the block.
inline unsigned LaneId() {
    return simt::detail::thread_rank % 32;
}
inline unsigned WarpId() {
    return simt::detail::thread_rank / 32;
}

namespace detail {
/// The calling thread's number in its block.
inline unsigned rank() {
    return simt::detail::thread_rank;
}
/// op(values[0], …, values[n - 1])
template <class T, class Op>
T fold(const T* values, int n, Op op) {
    T total = values[0];
    for (int i = 1; i < n; ++i)
        total = static_cast<T>(op(total, values[i]));
    return total;
}
/// Turns values into the results before each of them, the first being `initial`;
/// returns the total of the values.
template <class T, class Op>
T scan(T* values, int n, T initial, bool has_initial, bool inclusive, Op op) {
    T total{};
    T prefix = initial;
    for (int i = 0; i < n; ++i) {
        const T value = values[i];
        total = i == 0 ? value : static_cast<T>(op(total, value));
        const T next =
            i == 0 && !has_initial ? value : static_cast<T>(op(prefix, value));
        values[i] = inclusive ? next : prefix;
        prefix = next;
    }
    return total;
}
}  // namespace detail
}  // namespace cub
