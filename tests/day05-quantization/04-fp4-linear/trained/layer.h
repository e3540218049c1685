// The layer that train.cpp trained, and how near a quantised one comes to it.
#pragma once

#include <wb/reference/activations.h>
#include <wb/reference/fp4.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace trained {

#include "trained_layer.inc"

/// Numbers that are stored in units of 1/4096.
template <std::size_t N>
std::vector<float> numbers(const short (&stored)[N]) {
    std::vector<float> values;
    for (const short x : stored)
        values.push_back(static_cast<float>(x) / 4096.0f);
    return values;
}

/// How near outputs of a layer come to the right ones.
struct Nearness {
    double cosine;    ///< of all outputs, as one vector
    double relative;  ///< the norm of the difference, over the norm
    double same;   ///< part of the samples in which the model guesses the same letter
    double right;  ///< part of the samples in which it guesses the right one
};

/// The letter that the last layer chooses for outputs of a sample.
inline int guess(const double* h) {
    int best = 0;
    double most = -1e300;
    for (int c = 0; c < 28; ++c) {
        double sum = 0.0;
        for (int j = 0; j < kHidden; ++j)
            sum += h[j] * kNext[c * kHidden + j];
        if (sum > most) {
            most = sum;
            best = c;
        }
    }
    return best;
}

/// y = silu(x W^T + b) in double, for all samples.
template <class Weight>
std::vector<double> outputs(Weight weight) {
    std::vector<double> y;
    for (int s = 0; s < kSamples; ++s)
        for (int n = 0; n < kHidden; ++n) {
            double sum = kBias[n] / 4096.0;
            for (int k = 0; k < kIn; ++k)
                sum += kInputs[s * kIn + k] / 4096.0 * weight(n, k);
            y.push_back(wb::reference::silu(sum));
        }
    return y;
}

inline Nearness nearness(const std::vector<double>& right,
                         const std::vector<double>& y) {
    double dot = 0.0;
    double of_right = 0.0;
    double of_y = 0.0;
    double off = 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        dot += right[i] * y[i];
        of_right += right[i] * right[i];
        of_y += y[i] * y[i];
        off += (right[i] - y[i]) * (right[i] - y[i]);
    }
    Nearness n = {
        dot / std::sqrt(of_right * of_y), std::sqrt(off / of_right), 0.0, 0.0};
    for (int s = 0; s < kSamples; ++s) {
        const int got = guess(&y[static_cast<std::size_t>(s * kHidden)]);
        n.same += got == guess(&right[static_cast<std::size_t>(s * kHidden)]);
        n.right += got == kRight[s];
    }
    n.same /= kSamples;
    n.right /= kSamples;
    return n;
}

}  // namespace trained
