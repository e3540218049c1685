/// operations.h: what is reduced: sums, the largest value, and where it is; and what
/// all launchers refuse. There is nothing to write here.
///
/// An operation has an element In, and a Value that two elements or two Values become:
///
///     make(element, index)   the Value of one element
///     combine(a, b)          associative but for rounding, and commutative
///     identity()             combine(identity(), v) is v
///     result(value)          what is written
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cstdint>

#include "reduction.h"

/// Threads in a block: a power of two, so that a tree can halve it down to one.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / wb::kWarpSize;
static_assert((kThreads & (kThreads - 1)) == 0, "a tree halves kThreads until it is 1");

// #region sum
/// The sum of T, computed in V.
template <class T, class V>
struct SumOf {
    using In = T;
    using Value = V;
    using Result = V;
    __device__ static Value identity() { return 0; }
    __device__ static In padding() { return static_cast<In>(0.0f); }
    __device__ static Value make(In element, int64_t) {
        return static_cast<Value>(element);
    }
    __device__ static Value combine(Value a, Value b) { return a + b; }
    __device__ static Result result(Value value) { return value; }
};
using Sum = SumOf<float, float>;
using SumBf16 = SumOf<bf16, float>;
using SumI32 = SumOf<int32_t, int64_t>;
// #endregion sum

// #region max
/// The largest value; NaN is larger than any number. fmaxf() prefers the number.
struct Max {
    using In = float;
    using Value = float;
    using Result = float;
    __device__ static Value identity() { return -INFINITY; }
    __device__ static In padding() { return -INFINITY; }
    __device__ static Value make(In element, int64_t) { return element; }
    __device__ static Value combine(Value a, Value b) {
        return a > b || a != a ? a : b;
    }
    __device__ static Result result(Value value) { return value; }
};
// #endregion max

// #region argmax
/// A value and where it is.
struct Best {
    float value;
    int64_t index;
};

/// Where the largest value is: the lowest index among equals, of NaN among NaN.
struct ArgMax {
    using In = float;
    using Value = Best;
    using Result = int64_t;
    __device__ static Value identity() { return {-INFINITY, INT64_MAX}; }
    __device__ static In padding() { return -INFINITY; }
    __device__ static Value make(In element, int64_t index) { return {element, index}; }
    __device__ static Value combine(Value a, Value b) {
        const bool a_is_nan = a.value != a.value;
        const bool b_is_nan = b.value != b.value;
        const bool equal = a.value == b.value || (a_is_nan && b_is_nan);
        const bool a_is_larger = a.value > b.value || (a_is_nan && !b_is_nan);
        return a_is_larger || (equal && a.index < b.index) ? a : b;
    }
    __device__ static Result result(Value value) { return value.index; }
};
// #endregion argmax

// #region shuffle
/// The value of the lane that is `distance` lanes above; a lane that has none above it
/// gets its own. All 32 lanes must call it.
template <class Value>
__device__ inline Value shuffle_down(Value value, int distance) {
    return __shfl_down_sync(wb::kAllLanes, value, distance);
}
__device__ inline Best shuffle_down(Best best, int distance) {
    return {__shfl_down_sync(wb::kAllLanes, best.value, distance),
            __shfl_down_sync(wb::kAllLanes, best.index, distance)};
}
// #endregion shuffle

// #region contract
/// What a contract's function does before it launches anything.
template <class Op>
struct Contract {
    using In = typename Op::In;
    using Result = typename Op::Result;

    const char* function;
    int64_t least = 0;  ///< elements that there must be, 0 or 1

    /// Whether there is something to launch. The sum of no elements is 0, and that is
    /// written here.
    bool has_work(const In* x,
                  Result* result,
                  int64_t n,
                  const unsigned* counter,
                  cudaStream_t stream) const {
        check(x, result, n, counter);
        if (n > 0) return true;
        CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof *result, stream));
        return false;
    }

    /// Throws wb::InvalidArgument for what the contract does not allow.
    void check(const In* x,
               const Result* result,
               int64_t n,
               const unsigned* counter) const {
        const wb::Arguments arguments(function);
        arguments.size("n", n).require(
            n >= least, "n", n, "must be > 0 (no element is the largest of none)");
        const int64_t bytes =
            arguments.product("n * bytes", {n, static_cast<int64_t>(sizeof(In))});
        arguments.device("x", x, n)
            .device("result", result, 1)
            .device("counter", counter, 1);
        constexpr int64_t kResult = sizeof(Result);
        constexpr int64_t kCounter = sizeof(unsigned);
        arguments.apart("result - x", x, bytes, result, kResult)
            .apart("counter - x", x, bytes, counter, kCounter)
            .apart("counter - result", result, kResult, counter, kCounter);
    }
};
// #endregion contract
