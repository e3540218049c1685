/// wb/testing/stored_types.h: fp16 and bf16 as the tests of attention see them: their
/// unit of rounding, and inputs as they are after they were stored.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <wb/testing/attention.h>

#include <vector>

namespace wb::testing {

/// What the tests know of a 16-bit type.
template <class T>
struct Format;
template <>
struct Format<__half> {
    static constexpr const char* kName = "fp16";
    static constexpr double kUnit = 0x1p-11;      ///< u: half the distance of 1 and the
                                                  ///< next number
    static constexpr double kSmallest = 0x1p-24;  ///< distance of the numbers around 0
    static constexpr double kLargest = 65504.0;
};
template <>
struct Format<__nv_bfloat16> {
    static constexpr const char* kName = "bf16";
    static constexpr double kUnit = 0x1p-8;
    static constexpr double kSmallest = 0x1p-133;
    static constexpr double kLargest = 0x1.FEp127;
};

/// The contract of a chapter with two types, for one of them.
template <class T>
using StoredAttention = void(const AttentionShape& shape,
                             const T* q,
                             const T* k,
                             const T* v,
                             T* o,
                             float* lse,
                             cudaStream_t stream);

template <class T>
std::vector<T> rounded(const std::vector<float>& values) {
    std::vector<T> result;
    result.reserve(values.size());
    for (const float value : values)
        result.push_back(static_cast<T>(value));
    return result;
}

/// The same numbers after rounding to T, as floats: what the kernel really gets, and so
/// what the reference is computed from. Storing numbers in 16 bits is no error of the
/// kernel's.
template <class T>
AttentionInputs as_stored(const AttentionInputs& inputs) {
    const auto widened = [](const std::vector<float>& values) {
        std::vector<float> result;
        result.reserve(values.size());
        for (const float value : values)
            result.push_back(static_cast<float>(static_cast<T>(value)));
        return result;
    };
    return {widened(inputs.q), widened(inputs.k), widened(inputs.v)};
}

/// The bound of an element of o after its rounding to T, however small it is.
/// @param bound  of the error so far; that of a NaN stays as it is
template <class T>
double stored_bound(double exact, double bound) {
    if (std::isnan(exact)) return bound;
    return bound + Format<T>::kUnit * (std::abs(exact) + bound) +
           0.5 * Format<T>::kSmallest;
}

}  // namespace wb::testing
