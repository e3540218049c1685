// compensated.cuh: v11: v10 for sums that lose hardly anything.
#pragma once

// #region v11-operation
/// A sum, and what the roundings so far have taken from it.
struct Compensated {
    float sum;
    float lost;
};

/// The sum of floats, compensated: each addition computes what it rounds off, exactly
/// (D. E. Knuth, The Art of Computer Programming 2, 4.2.2, theorem B), and adds it to a
/// sum of its own. The compiler must not take (a - b) - c for 0: no -use_fast_math.
struct SumCompensated {
    using In = float;
    using Value = Compensated;
    using Result = float;
    __device__ static Value identity() { return {0.0f, 0.0f}; }
    __device__ static In padding() { return 0.0f; }
    __device__ static Value make(In element, int64_t) { return {element, 0.0f}; }
    __device__ static Value combine(Value a, Value b) {
        const float sum = a.sum + b.sum;
        const float b_as_added = sum - a.sum;
        const float rounded_off = (a.sum - (sum - b_as_added)) + (b.sum - b_as_added);
        return {sum, a.lost + b.lost + rounded_off};
    }
    __device__ static Result result(Value value) {
        // Of infinities nothing can be computed that was lost.
        return isfinite(value.sum) ? value.sum + value.lost : value.sum;
    }
};
// #endregion v11-operation

__device__ inline Compensated shuffle_down(Compensated value, int distance) {
    return {__shfl_down_sync(wb::kAllLanes, value.sum, distance),
            __shfl_down_sync(wb::kAllLanes, value.lost, distance)};
}
