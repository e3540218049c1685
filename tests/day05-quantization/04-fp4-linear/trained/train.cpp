// Trains the layer that tests quantise, and prints its weights as trained_layer.inc.
//
//     g++ -std=c++20 -O3 -march=x86-64-v3 -ffast-math -o train train.cpp
//     ./train ../../../../day*/*/lesson.md > trained_layer.inc
//
// The model guesses a letter of English text from the 8 letters before it: a vector of
// 16 numbers for each letter, a layer of 128 x 64 with SiLU, and one of 64 x 28 that
// chooses. It is trained by plain gradient descent, from a seed, on the lessons of this
// book as they were then. What is kept of it: W [64, 128] and b of the first layer, the
// second one, and 64 samples.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "../../training_text.h"

namespace {

constexpr int kBefore = 8;
constexpr int kWidth = 16;
constexpr int kIn = kBefore * kWidth;
constexpr int kHidden = 64;
constexpr int kSteps = 1500000;

struct Model {
    std::vector<float> vectors = std::vector<float>(kLetters * kWidth);
    std::vector<float> w1 = std::vector<float>(kHidden * kIn);
    std::vector<float> b1 = std::vector<float>(kHidden);
    std::vector<float> w2 = std::vector<float>(kLetters * kHidden);
};

/// One step of gradient descent on one letter. @return  its loss
double step(Model& model, const int* text, float rate) {
    float x[kIn];
    for (int i = 0; i < kIn; ++i)
        x[i] =
            model.vectors[static_cast<size_t>(text[i / kWidth] * kWidth + i % kWidth)];
    float z[kHidden];
    float h[kHidden];
    for (int j = 0; j < kHidden; ++j) {
        z[j] = model.b1[static_cast<size_t>(j)];
        for (int i = 0; i < kIn; ++i)
            z[j] += model.w1[static_cast<size_t>(j * kIn + i)] * x[i];
        h[j] = z[j] / (1.0f + std::exp(-z[j]));
    }
    float p[kLetters];
    float sum = 0.0f;
    for (int c = 0; c < kLetters; ++c) {
        p[c] = 0.0f;
        for (int j = 0; j < kHidden; ++j)
            p[c] += model.w2[static_cast<size_t>(c * kHidden + j)] * h[j];
        p[c] = std::exp(p[c]);
        sum += p[c];
    }
    float dh[kHidden] = {};
    const int right = text[kBefore];
    const double loss = -std::log(static_cast<double>(p[right] / sum));
    for (int c = 0; c < kLetters; ++c) {
        const float d = p[c] / sum - (c == right ? 1.0f : 0.0f);
        for (int j = 0; j < kHidden; ++j) {
            float& w = model.w2[static_cast<size_t>(c * kHidden + j)];
            dh[j] += d * w;
            w -= rate * d * h[j];
        }
    }
    float dx[kIn] = {};
    for (int j = 0; j < kHidden; ++j) {
        const float s = 1.0f / (1.0f + std::exp(-z[j]));
        const float d = dh[j] * s * (1.0f + z[j] * (1.0f - s));
        for (int i = 0; i < kIn; ++i) {
            float& w = model.w1[static_cast<size_t>(j * kIn + i)];
            dx[i] += d * w;
            w -= rate * d * x[i];
        }
        model.b1[static_cast<size_t>(j)] -= rate * d;
    }
    for (int i = 0; i < kIn; ++i)
        model.vectors[static_cast<size_t>(text[i / kWidth] * kWidth + i % kWidth)] -=
            rate * dx[i];
    return loss;
}

}  // namespace

int main(int count, char** files) {
    const std::vector<int> text = text_of(count, files);
    if (text.empty()) return 1;
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    Model model;
    for (float& v : model.vectors)
        v = 0.5f * normal(random);
    for (float& v : model.w1)
        v = normal(random) / std::sqrt(static_cast<float>(kIn));
    for (float& v : model.w2)
        v = normal(random) / std::sqrt(static_cast<float>(kHidden));
    double loss = 0.0;
    for (int i = 1; i <= kSteps; ++i) {
        const float rate = 0.02f * (1.0f - static_cast<float>(i) / kSteps);
        const size_t place = random() % (text.size() - kBefore);
        loss += step(model, text.data() + place, rate);
        if (i % 100000 == 0) {
            std::fprintf(stderr, "%d letters: loss %.3f\n", i, loss / 100000);
            loss = 0.0;
        }
    }
    std::printf("// Made by train.cpp, which says how. Units of 1/4096.\n");
    std::printf("inline constexpr int kIn = %d;\n", kIn);
    std::printf("inline constexpr int kHidden = %d;\n", kHidden);
    std::printf("inline constexpr int kSamples = 64;\n");
    print("kWeights", model.w1);
    print("kBias", model.b1);
    print("kNext", model.w2);
    std::vector<float> inputs;
    std::vector<float> letters;
    for (int s = 0; s < 64; ++s) {
        const int* const at = text.data() + random() % (text.size() - kBefore);
        for (int i = 0; i < kIn; ++i)
            inputs.push_back(model.vectors[static_cast<size_t>(at[i / kWidth] * kWidth +
                                                               i % kWidth)]);
        letters.push_back(static_cast<float>(at[kBefore]) / 4096.0f);
    }
    print("kInputs", inputs);
    print("kRight", letters);
}
