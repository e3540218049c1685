/// arguments.h: given with this exercise: sizes and tensors that the contract refuses.
/// There is nothing to write here.
#pragma once

#include <wb/arguments.h>

#include <cstdint>

#include "fp4_linear.h"

/// What the contract's functions refuse.
class Fp4Arguments {
 public:
    Fp4Arguments(const char* function, const Fp4Shape& shape)
        : arguments_(function), s_(shape) {
        arguments_.size("shape.M", s_.M).size("shape.N", s_.N).size("shape.K", s_.K);
        arguments_.require(s_.M <= kLargest, "shape.M", s_.M, "must be at most 2^30")
            .require(s_.N <= kLargest, "shape.N", s_.N, "must be at most 2^30")
            .require(s_.K <= kLargestK, "shape.K", s_.K, "must be at most 2^25")
            .require(s_.N % 8 == 0, "shape.N", s_.N, "must be a multiple of 8")
            .require(s_.K % 32 == 0,
                     "shape.K",
                     s_.K,
                     "must be a multiple of 32: a row of W is vectors of 16 bytes")
            .require(s_.scales == Fp4Scales::channel || s_.scales == Fp4Scales::mx ||
                         s_.scales == Fp4Scales::nvfp4,
                     "shape.scales",
                     static_cast<int64_t>(s_.scales),
                     "must be channel, mx or nvfp4");
    }

    /// W's tensors, their lengths included.
    void tensors(const Fp4Weights& w) const {
        length("w.value_bytes", w.value_bytes, s_.N * (s_.K / 2));
        length("w.num_scales", w.num_scales, s_.num_scales());
        const int64_t one = num_global();
        arguments_
            .require(s_.scales == Fp4Scales::nvfp4 || w.global_scale == nullptr,
                     "w.global_scale",
                     static_cast<int64_t>(reinterpret_cast<uintptr_t>(w.global_scale)),
                     "must be null: only nvfp4 has one")
            .device("w.values", w.values, w.value_bytes)
            .device("w.global_scale", w.global_scale, one);
        if (s_.scales == Fp4Scales::channel)
            arguments_.device(
                "w.scales", static_cast<const float*>(w.scales), w.num_scales);
        else
            arguments_.device(
                "w.scales", static_cast<const uint8_t*>(w.scales), w.num_scales);
        vectors("w.values", w.values);
    }

    /// An address that must be a multiple of 16 bytes.
    void vectors(const char* name, const void* pointer) const {
        arguments_.require(reinterpret_cast<uintptr_t>(pointer) % 16 == 0,
                           name,
                           static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer)),
                           "must be a multiple of 16 (bytes)");
    }

    int64_t num_global() const {
        return s_.scales == Fp4Scales::nvfp4 && s_.N > 0 && s_.K > 0 ? 1 : 0;
    }
    int64_t scale_bytes() const { return s_.num_scales() * s_.bytes_of_scale(); }
    const wb::Arguments& arguments() const { return arguments_; }

 private:
    static constexpr int64_t kLargest = int64_t{1} << 30;
    static constexpr int64_t kLargestK = int64_t{1} << 25;

    void length(const char* name, int64_t given, int64_t needed) const {
        arguments_.require(
            given == needed, name, given, "is not the length that the shape asks for");
    }

    wb::Arguments arguments_;
    Fp4Shape s_;
};
