/// tensors.h: given with this exercise: what a kernel is told of W, and what the
/// contract refuses. There is nothing to write here.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <wb/arguments.h>
#include <wb/device.h>

#include <cstdint>

#include "gptq_int4.h"

// #region view
/// W as GPTQ stores it, for kernels. Words are unsigned here: shifted to the right, an
/// int32_t would bring its sign along.
struct GptqView {
    const uint32_t* qweight;  ///< [K / 8, N]
    const uint32_t* qzeros;   ///< [groups, N / 8]
    const __half* scales;     ///< [groups, N]
    const int32_t* g_idx;     ///< [K], or null
    int64_t N;
    int64_t K;
    int64_t groups;
    int64_t rows_of_group;  ///< where g_idx is null
    int add_to_zeros;       ///< 1 if they are stored minus one

    static GptqView of(const GptqShape& s, const GptqTensors& t) {
        return {reinterpret_cast<const uint32_t*>(t.qweight),
                reinterpret_cast<const uint32_t*>(t.qzeros),
                t.scales,
                t.g_idx,
                s.N,
                s.K,
                s.groups(),
                s.rows_of_group(),
                s.zeros_minus_one ? 1 : 0};
    }

    /// The zero of a group < groups and a column < N: 0 to 16.
    __device__ __forceinline__ int zero(int64_t group, int64_t column) const {
        const uint32_t word = qzeros[group * (N / 8) + column / 8];
        return static_cast<int>(word >> column % 8 * 4 & 15) + add_to_zeros;
    }
};
// #endregion view

/// What the contract's functions refuse.
class GptqArguments {
 public:
    GptqArguments(const char* function, const GptqShape& shape)
        : arguments_(function), s_(shape) {
        for (const auto& [name, size] :
             {Size{"shape.M", s_.M}, Size{"shape.N", s_.N}, Size{"shape.K", s_.K}})
            arguments_.size(name, size)
                .require(size <= kLargest, name, size, "must be at most 2^30");
        arguments_.require(s_.K <= kLargestK, "shape.K", s_.K, "must be at most 2^25")
            .require(s_.N % 8 == 0,
                     "shape.N",
                     s_.N,
                     "must be a multiple of 8: eight zeros share a word")
            .require(s_.K % 8 == 0,
                     "shape.K",
                     s_.K,
                     "must be a multiple of 8: eight rows share a word")
            .require(s_.group == -1 || s_.group > 0,
                     "shape.group",
                     s_.group,
                     "must be positive, or -1 for one group")
            .require(s_.group == -1 || s_.group == s_.K ||
                         (s_.group >= 32 && (s_.group & (s_.group - 1)) == 0),
                     "shape.group",
                     s_.group,
                     "must be 32, 64, 128 or another power of two, or K")
            .require(s_.K % (s_.group == -1 ? 1 : s_.group) == 0,
                     "shape.K",
                     s_.K,
                     "must be a multiple of shape.group");
    }

    /// Whether W has elements.
    bool has_weights() const { return s_.N > 0 && s_.K > 0; }

    /// W's tensors, their lengths included.
    void tensors(const GptqTensors& t) const {
        length("tensors.qweight_words", t.qweight_words, s_.K / 8 * s_.N);
        length("tensors.qzeros_words", t.qzeros_words, s_.groups() * (s_.N / 8));
        length("tensors.num_scales", t.num_scales, s_.groups() * s_.N);
        length("tensors.g_idx_rows", t.g_idx_rows, t.g_idx == nullptr ? 0 : s_.K);
        arguments_.device("tensors.qweight", t.qweight, t.qweight_words)
            .device("tensors.qzeros", t.qzeros, t.qzeros_words)
            .device("tensors.scales", t.scales, t.num_scales)
            .device("tensors.g_idx", t.g_idx, t.g_idx_rows);
        vectors("tensors.qweight", t.qweight);
        vectors("tensors.scales", t.scales);
    }

    /// What dequantising and repacking write, apart from everything else.
    /// @param name  of the output
    void written(const GptqTensors& t,
                 const char* name,
                 const void* output,
                 int64_t bytes,
                 const unsigned long long* bad_rows) const {
        const int64_t one = t.g_idx == nullptr ? 0 : 1;
        arguments_.device("bad_rows", bad_rows, one);
        arguments_.apart({{"tensors.qweight", t.qweight, 4 * t.qweight_words, false},
                          {"tensors.qzeros", t.qzeros, 4 * t.qzeros_words, false},
                          {"tensors.scales", t.scales, 2 * t.num_scales, false},
                          {"tensors.g_idx", t.g_idx, 4 * t.g_idx_rows, false},
                          {name, output, bytes, true},
                          {"bad_rows", bad_rows, 8 * one, true}});
    }

    /// An address that must be a multiple of 16 bytes.
    void vectors(const char* name, const void* pointer) const {
        arguments_.require(reinterpret_cast<uintptr_t>(pointer) % 16 == 0,
                           name,
                           static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer)),
                           "must be a multiple of 16 (bytes)");
    }

    const wb::Arguments& arguments() const { return arguments_; }

 private:
    static constexpr int64_t kLargest = int64_t{1} << 30;
    static constexpr int64_t kLargestK = int64_t{1} << 25;
    struct Size {
        const char* name;
        int64_t value;
    };

    void length(const char* name, int64_t given, int64_t needed) const {
        arguments_.require(
            given == needed, name, given, "is not the length that the shape asks for");
    }

    wb::Arguments arguments_;
    GptqShape s_;
};
