/// runs.h: given with this exercise: what scans put together, where it comes from and
/// where it goes, and what the launchers refuse. There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/arguments.h>
#include <wb/launch.h>

#include <cstdint>

#include "scan.h"

// #region runs
/// The sum of a run of neighbouring elements. Run<T>{} is that of no elements.
template <class T>
struct Run {
    using Number = T;
    T sum;
};

/// The same where segments are. If a segment begins in the run, `sum` is that of the
/// elements from the last head on.
template <class T>
struct SegmentRun {
    using Number = T;
    T sum;
    uint32_t head;  // 1: a segment begins in this run; 0: none
};

/// Two runs, one behind the other, as one. The order matters.
template <class T>
__device__ inline Run<T> join(Run<T> left, Run<T> right) {
    return {left.sum + right.sum};
}
template <class T>
__device__ inline SegmentRun<T> join(SegmentRun<T> left, SegmentRun<T> right) {
    return {right.head ? right.sum : left.sum + right.sum, left.head | right.head};
}
// #endregion runs

/// The run of one element.
template <class T>
__device__ inline Run<T> make_run(const Run<T>*, T value, uint32_t) {
    return {value};
}
template <class T>
__device__ inline SegmentRun<T> make_run(const SegmentRun<T>*, T value, uint32_t head) {
    return {value, head};
}

/// Whether a segment begins in a run.
template <class T>
__device__ inline bool has_head(Run<T>) {
    return false;
}
template <class T>
__device__ inline bool has_head(SegmentRun<T> run) {
    return run.head != 0;
}

/// The run that the lane `distance` before this one gives. Its own where there is none.
template <class T>
__device__ inline Run<T> shuffle_up(Run<T> run, int distance) {
    return {__shfl_up_sync(wb::kAllLanes, run.sum, distance)};
}
template <class T>
__device__ inline SegmentRun<T> shuffle_up(SegmentRun<T> run, int distance) {
    return {__shfl_up_sync(wb::kAllLanes, run.sum, distance),
            __shfl_up_sync(wb::kAllLanes, run.head, distance)};
}

/// The run that a lane of the warp gives.
template <class T>
__device__ inline Run<T> shuffle(Run<T> run, int lane) {
    return {__shfl_sync(wb::kAllLanes, run.sum, lane)};
}
template <class T>
__device__ inline SegmentRun<T> shuffle(SegmentRun<T> run, int lane) {
    return {__shfl_sync(wb::kAllLanes, run.sum, lane),
            __shfl_sync(wb::kAllLanes, run.head, lane)};
}

// #region ends
/// What is scanned: an array of numbers, with heads if R has segments; or runs that
/// have been put together already.
template <class R>
struct Input {
    const typename R::Number* x;  // [n], or null
    const uint8_t* heads;         // [n], or null: no segments
    const R* runs;                // [n], where x is null

    __device__ R load(int64_t i) const {
        if (x == nullptr) return runs[i];
        const uint32_t head = heads != nullptr && heads[i] != 0 ? 1 : 0;
        return make_run(static_cast<const R*>(nullptr), x[i], head);
    }
    /// Whether element i begins a segment: an exclusive sum is 0 there.
    __device__ bool begins(int64_t i) const {
        return heads != nullptr && heads[i] != 0;
    }
};

/// Where the sums go: to an array of numbers, or of runs.
template <class R>
struct Output {
    typename R::Number* y;  // [n], or null
    R* runs;                // [n], where y is null

    __device__ void store(int64_t i, R run) const {
        if (y == nullptr)
            runs[i] = run;
        else
            y[i] = run.sum;
    }
};
// #endregion ends

/// Refuses what is wrong with the arguments of all four functions.
template <class T>
void check_scan(
    const wb::Arguments& arguments, const T* x, const T* y, int64_t n, ScanKind kind) {
    arguments.size("n", n).require(
        kind == ScanKind::inclusive || kind == ScanKind::exclusive,
        "kind",
        static_cast<int64_t>(kind),
        "must be inclusive (0) or exclusive (1)");
    const int64_t bytes =
        arguments.product("n * sizeof(element)", {n, int64_t{sizeof(T)}});
    arguments.device("x", x, n).device("y", y, n);
    const auto distance = static_cast<int64_t>(reinterpret_cast<uintptr_t>(y) -
                                               reinterpret_cast<uintptr_t>(x));
    arguments.require(
        n == 0 || distance == 0 || distance >= bytes || distance <= -bytes,
        "y - x in bytes",
        distance,
        "the two arrays must be the same, or must not overlap");
}

/// The same for the segmented ones.
template <class T>
void check_segments(const wb::Arguments& arguments,
                    const T* x,
                    const uint8_t* heads,
                    const T* y,
                    int64_t n,
                    ScanKind kind) {
    check_scan(arguments, x, y, n, kind);
    arguments.device("heads", heads, n);
    const auto distance = static_cast<int64_t>(reinterpret_cast<uintptr_t>(heads) -
                                               reinterpret_cast<uintptr_t>(y));
    arguments.require(n == 0 || distance >= n * int64_t{sizeof(T)} || distance <= -n,
                      "heads - y in bytes",
                      distance,
                      "the two arrays must not overlap");
}

// #region jobs
/// One call of one of the four functions: what each version is given.
template <class R>
struct Job {
    const typename R::Number* x;  // [n]
    const uint8_t* heads;         // [n], or null: no segments
    typename R::Number* y;        // [n]
    int64_t n;                    // > 0
    ScanKind kind;
    cudaStream_t stream;
};

/// scan_int32() by a version, which has a function template run(const Job<R>&).
/// Integers are scanned as unsigned ones, whose sums wrap.
template <class Version>
void scan_int32_by(
    const int32_t* x, int32_t* y, int64_t n, ScanKind kind, cudaStream_t stream) {
    check_scan(wb::Arguments("scan_int32"), x, y, n, kind);
    if (n == 0) return;  // a grid of no blocks is an error
    Version::run(Job<Run<uint32_t>>{reinterpret_cast<const uint32_t*>(x),
                                    nullptr,
                                    reinterpret_cast<uint32_t*>(y),
                                    n,
                                    kind,
                                    stream});
}
// #endregion jobs

/// scan_float() by a version.
template <class Version>
void scan_float_by(
    const float* x, float* y, int64_t n, ScanKind kind, cudaStream_t stream) {
    check_scan(wb::Arguments("scan_float"), x, y, n, kind);
    if (n == 0) return;
    Version::run(Job<Run<float>>{x, nullptr, y, n, kind, stream});
}

/// segmented_scan_int32() by a version.
template <class Version>
void segmented_scan_int32_by(const int32_t* x,
                             const uint8_t* heads,
                             int32_t* y,
                             int64_t n,
                             ScanKind kind,
                             cudaStream_t stream) {
    check_segments(wb::Arguments("segmented_scan_int32"), x, heads, y, n, kind);
    if (n == 0) return;
    Version::run(Job<SegmentRun<uint32_t>>{reinterpret_cast<const uint32_t*>(x),
                                           heads,
                                           reinterpret_cast<uint32_t*>(y),
                                           n,
                                           kind,
                                           stream});
}

/// segmented_scan_float() by a version.
template <class Version>
void segmented_scan_float_by(const float* x,
                             const uint8_t* heads,
                             float* y,
                             int64_t n,
                             ScanKind kind,
                             cudaStream_t stream) {
    check_segments(wb::Arguments("segmented_scan_float"), x, heads, y, n, kind);
    if (n == 0) return;
    Version::run(Job<SegmentRun<float>>{x, heads, y, n, kind, stream});
}
