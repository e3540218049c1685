/// arguments.h: given with this exercise: sizes and tensors that the contract refuses.
/// There is nothing to write here.
#pragma once

#include <wb/arguments.h>

#include <cstdint>

#include "../02-gptq-int4/tensors.h"
#include "layernorm_gptq_qkv.h"

/// What the contract's functions refuse. What is not of this chapter is chapter 02's.
class QkvArguments {
 public:
    QkvArguments(const char* function, const QkvShape& shape)
        : arguments_(function),
          s_(shape),
          weights_(function, checked(arguments_, shape)) {}

    /// W's tensors, their lengths included. A report that many have read gives qzeros
    /// the shape [groups, group / 8]; so a wrong length of it is refused with the right
    /// one.
    void tensors(const GptqTensors& t) const {
        arguments_.require(
            t.qzeros_words == s_.weights().groups() * (3 * s_.hidden / 8),
            "tensors.qzeros_words",
            t.qzeros_words,
            "must be groups * 3 * hidden / 8: a word has eight columns of a group");
        weights_.tensors(t);
    }

    const wb::Arguments& arguments() const { return arguments_; }
    const GptqArguments& weights() const { return weights_; }

 private:
    static GptqShape checked(const wb::Arguments& arguments, const QkvShape& s) {
        constexpr int64_t kMostRows = int64_t{1} << 30;
        constexpr int64_t kMostHidden = int64_t{1} << 25;
        arguments.size("shape.batch", s.batch)
            .size("shape.seq", s.seq)
            .size("shape.hidden", s.hidden);
        constexpr const char* kRows = "shape.batch * shape.seq";
        const int64_t rows = arguments.product(kRows, {s.batch, s.seq});
        arguments.require(rows <= kMostRows, kRows, rows, "must be at most 2^30")
            .require(s.hidden <= kMostHidden,
                     "shape.hidden",
                     s.hidden,
                     "must be at most 2^25")
            .require(s.hidden % 8 == 0,
                     "shape.hidden",
                     s.hidden,
                     "must be a multiple of 8: eight rows of W share a word")
            .require(s.group <= 0 || s.hidden % s.group == 0,
                     "shape.hidden",
                     s.hidden,
                     "must be a multiple of shape.group");
        return s.weights();
    }

    wb::Arguments arguments_;
    QkvShape s_;
    GptqArguments weights_;
};
