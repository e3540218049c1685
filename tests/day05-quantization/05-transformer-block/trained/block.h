// The block that train.cpp trained, in each kind of weights, and what the model guesses
// with it: all of it in double, on the CPU.
#pragma once

#include "../run.h"

namespace trained {

#include "trained_block.inc"

using block_grading::at;
using block_grading::Bf16;
using block_grading::HostBlock;
using block_grading::HostLayer;
using block_grading::Reference;
using block_grading::Sizes;
using block_grading::Tokens;
using block_grading::Wanted;

constexpr int kLetters = 28;
constexpr int kWidth = 64;

/// Numbers that are stored in units of 1/4096.
template <std::size_t N>
std::vector<float> numbers(const short (&stored)[N]) {
    std::vector<float> values;
    for (const short x : stored)
        values.push_back(static_cast<float>(x) / 4096.0f);
    return values;
}

/// kSamples texts of kTokens letters, as vectors, and the letter behind each.
struct Texts {
    std::vector<double> x;  ///< [kSamples, kTokens, kWidth], rounded to bf16
    std::vector<int> next;  ///< [kSamples, kTokens]
    Tokens tokens;

    Texts() {
        const auto vectors = numbers(kVectors);
        for (int s = 0; s < kSamples; ++s) {
            tokens.added.push_back(kTokens);
            for (int t = 0; t < kTokens; ++t) {
                const short* const letter = kText + s * (kTokens + 1) + t;
                next.push_back(letter[1]);
                for (int c = 0; c < kWidth; ++c)
                    x.push_back(double{
                        static_cast<float>(Bf16(vectors[at(letter[0] * kWidth + c)]))});
            }
        }
    }
};

/// The first `count` letters, for a call.
inline std::vector<Bf16> letters(const Texts& texts, int count) {
    std::vector<Bf16> x;
    for (int64_t i = 0; i < count * kWidth; ++i)
        x.push_back(Bf16(static_cast<float>(texts.x[at(i)])));
    return x;
}

/// The arrays of a block in double, from the exact ones before them.
struct Arrays {
    std::vector<double> normed, attended, normed2, hidden, y;
};

inline Arrays arrays_of(const HostBlock& b, const Texts& texts) {
    // Rotary embeddings need positions: a cache, of which only the sizes matter.
    block_grading::HostCache c = block_grading::make_cache(
        b.sizes, std::vector<int32_t>(kSamples), kTokens, 16, 1);
    const Reference reference(b, texts.tokens, &c);
    const auto exactly = [](const Wanted& w) { return Wanted::of(w.values); };
    const auto norm = [&](int i, const Wanted& x) {
        return exactly(block_grading::normed(x,
                                             block_grading::doubles(b.gamma[i]),
                                             block_grading::doubles(b.beta[i]),
                                             double{b.sizes.eps}));
    };
    Wanted k_pool, v_pool;
    const Wanted x = Wanted::of(texts.x);
    const Wanted qkv = exactly(reference.qkv(x));
    const Wanted attended = exactly(reference.attended(qkv, k_pool, v_pool));
    const Wanted middle = exactly(reference.middle(attended, x));
    const Wanted hidden = exactly(reference.hidden(middle));
    return {norm(0, x).values,
            attended.values,
            norm(1, middle).values,
            hidden.values,
            reference.y(hidden, middle).values};
}

/// A layer in a kind of weights.
///
/// @param inputs  of the layer, for GPTQ
inline HostLayer layer_of(const Sizes& s,
                          const std::vector<float>& weights,
                          const std::vector<float>& bias,
                          bool propagates,
                          const std::vector<double>& inputs,
                          bool is_stored) {
    const auto N = static_cast<int64_t>(bias.size());
    const auto K = static_cast<int64_t>(weights.size()) / N;
    HostLayer layer;
    layer.N = N;
    layer.K = K;
    layer.exact = {N, K, {}, {}, s.kind != WeightKind::bf16};
    for (const float x : bias)
        layer.bias.push_back(Bf16(x));
    layer.exact.bias = block_grading::doubles(layer.bias);
    if (s.kind == WeightKind::int4) {
        std::vector<double> transposed;
        for (int64_t k = 0; k < K; ++k)
            for (int64_t n = 0; n < N; ++n)
                transposed.push_back(double{weights[at(n * K + k)]});
        layer.int4 = wb::reference::gptq_quantize(
            transposed, inputs, N, K, {32, true, false, propagates});
        const auto w = wb::reference::dequantized(layer.int4);
        for (int64_t n = 0; n < N; ++n)
            for (int64_t k = 0; k < K; ++k)
                layer.exact.weights.push_back(double{w[at(k * N + n)]});
    } else if (s.kind == WeightKind::fp4) {
        layer.fp4 = wb::reference::fp4_quantized(
            weights,
            N,
            K,
            static_cast<wb::reference::Fp4Kind>(s.scales),
            s.scales == Fp4Scales::nvfp4 ? wb::reference::fp4_global_scale(weights)
                                         : 1.0f);
        for (int64_t n = 0; n < N; ++n)
            for (int64_t k = 0; k < K; ++k)
                layer.exact.weights.push_back(layer.fp4.weight(n, k));
    } else {
        for (const float w : weights)
            layer.dense.push_back(Bf16(w));
        layer.exact.weights = block_grading::doubles(layer.dense);
        if (!is_stored) layer.exact.weights.assign(weights.begin(), weights.end());
    }
    return layer;
}

/// The trained block.
///
/// @param is_stored  false: weights as they were trained, for comparison
inline HostBlock block_of(WeightKind kind,
                          Fp4Scales scales,
                          bool propagates,
                          const Texts& texts,
                          bool is_stored = true) {
    HostBlock b;
    Sizes& s = b.sizes;
    s.d_ff = 128;
    s.rotary_dim = kWidth;
    s.kind = kind;
    s.scales = scales;
    const auto rounded = [](const std::vector<float>& values) {
        std::vector<Bf16> result;
        for (const float x : values)
            result.push_back(Bf16(x));
        return result;
    };
    b.gamma[0] = rounded(numbers(kNorm1Gamma));
    b.beta[0] = rounded(numbers(kNorm1Beta));
    b.gamma[1] = rounded(numbers(kNorm2Gamma));
    b.beta[1] = rounded(numbers(kNorm2Beta));
    for (int p = 0; p < 2 * kTokens; ++p)
        for (int j = 0; j < kWidth / 2; ++j) {
            const double angle = p * std::pow(10000.0, -2.0 * j / kWidth);
            b.angles.push_back(static_cast<float>(std::cos(angle)));
            b.angles.push_back(static_cast<float>(std::sin(angle)));
        }
    Arrays inputs;
    if (kind == WeightKind::int4)
        inputs =
            arrays_of(block_of(WeightKind::bf16, scales, false, texts, false), texts);
    const auto layer = [&](const auto& weights, const auto& bias, const auto& input) {
        return layer_of(
            s, numbers(weights), numbers(bias), propagates, input, is_stored);
    };
    b.qkv = layer(kQkv, kQkvBias, inputs.normed);
    b.out = layer(kOut, kOutBias, inputs.attended);
    b.up = layer(kUp, kUpBias, inputs.normed2);
    b.down = layer(kDown, kDownBias, inputs.hidden);
    return b;
}

/// Scores of the letters behind each letter, [kSamples, kTokens, kLetters].
inline std::vector<double> outputs(const HostBlock& b, const Texts& texts) {
    const auto gamma = numbers(kLastGamma);
    const auto beta = numbers(kLastBeta);
    const auto vectors = numbers(kVectors);
    const Wanted last = block_grading::normed(Wanted::of(arrays_of(b, texts).y),
                                              {gamma.begin(), gamma.end()},
                                              {beta.begin(), beta.end()},
                                              1e-5);
    std::vector<double> scores;
    for (int i = 0; i < kSamples * kTokens; ++i)
        for (int l = 0; l < kLetters; ++l) {
            double sum = 0.0;
            for (int c = 0; c < kWidth; ++c)
                sum += last.values[at(i * kWidth + c)] *
                       double{vectors[at(l * kWidth + c)]};
            scores.push_back(sum);
        }
    return scores;
}

/// The mean surprise of a letter, in bits.
inline double bits(const std::vector<double>& scores, const Texts& texts) {
    double sum = 0.0;
    for (int i = 0; i < kSamples * kTokens; ++i) {
        double chances = 0.0;
        for (int l = 0; l < kLetters; ++l)
            chances += std::exp(scores[at(i * kLetters + l)]);
        sum += std::log(chances) - scores[at(i * kLetters + texts.next[at(i)])];
    }
    return sum / (kSamples * kTokens) / std::log(2.0);
}

/// How many of the best guesses are the same.
inline int same_guesses(const std::vector<double>& a, const std::vector<double>& b) {
    int same = 0;
    for (int i = 0; i < kSamples * kTokens; ++i) {
        const auto best = [&](const std::vector<double>& scores) {
            const auto from = scores.begin() + i * kLetters;
            return std::max_element(from, from + kLetters) - from;
        };
        same += best(a) == best(b);
    }
    return same;
}

}  // namespace trained
