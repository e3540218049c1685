/// choices.h: attention as written in the textbook, with a choice of precision for each
/// of its parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// How a number is kept.
enum class Precision { fp32, fp16, bf16 };

/// "fp16".
std::string name_of(Precision precision);

/// The float after rounding to a precision and back.
float rounded(float x, Precision precision);

/// What is kept how.
struct Choice {
    Precision storage;     ///< q, k, v and o in memory
    Precision accumulate;  ///< the sums of q . k and of weight * v, with fused
                           ///< multiply-adds; and the product with the scale
    Precision softmax;     ///< scores, maximum, exponential, sum and weights
    Precision weights;     ///< what the second product is given: the weights of the
                           ///< softmax, divided by their sum, where it is the same as
                           ///< softmax; else, as tensor cores want it, the weights
                           ///< rounded to this, and o is divided by their sum
};

/// All choices that the program measures: each storage, with its own precision or fp32
/// for sums and softmax, and with nothing but the weights in its own. For fp32 storage,
/// the other precision is fp16.
std::vector<Choice> all_choices();

/// Head dimension of the inputs.
constexpr int kHeadDim = 64;

/// One head: scores, their softmax, weights divided by their sum, the output.
///
/// @param q      [queries, kHeadDim], rounded to the storage by this function
/// @param k, v   [keys, kHeadDim] the same
/// Returns o [queries, kHeadDim], as stored.
std::vector<float> attend(const Choice& choice,
                          const std::vector<float>& q,
                          const std::vector<float>& k,
                          const std::vector<float>& v,
                          float scale);

/// What one precision makes of four small sums and exponentials.
struct Demonstration {
    std::string what;
    std::vector<float> results;  ///< fp32, fp16, bf16
};

/// Runs them on the device.
std::vector<Demonstration> demonstrate();
