// Trains the block that tests quantise, and prints it as trained_block.inc.
//
//     g++ -std=c++20 -O3 -march=x86-64-v3 -ffast-math -o train train.cpp
//     ./train ../../../../day*/*/lesson.md > trained_block.inc
//
// The model guesses the next letter of English text: a vector of 64 numbers for each
// letter, one pre-LN block (one head of 64 that turns with the position, 128 hidden
// numbers, GELU), a LayerNorm, and the same vectors again, which choose. It is trained
// on 32 letters at a time by Adam, from a seed, on the lessons of this book as they
// were then.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "../../training_text.h"

namespace {

constexpr int kTokens = 32;
constexpr int kWidth = 64;
constexpr int kHidden = 128;
constexpr int kBatch = 8;
constexpr int kSteps = 12000;
constexpr float kEps = 1e-5f;

/// A matrix or vector that is trained, its gradient, and Adam's two means.
struct Parameter {
    std::vector<float> value, gradient, first, second;

    Parameter(int count, float size, std::mt19937& random, float around = 0.0f)
        : value(static_cast<size_t>(count), around),
          gradient(value.size()),
          first(value.size()),
          second(value.size()) {
        std::normal_distribution<float> normal;
        for (float& v : value)
            v += size * normal(random);
    }
    void step(float rate, int t) {
        const float b1 = 1.0f - std::pow(0.9f, static_cast<float>(t));
        const float b2 = 1.0f - std::pow(0.99f, static_cast<float>(t));
        for (size_t i = 0; i < value.size(); ++i) {
            first[i] = 0.9f * first[i] + 0.1f * gradient[i];
            second[i] = 0.99f * second[i] + 0.01f * gradient[i] * gradient[i];
            value[i] -= rate * (first[i] / b1) / (std::sqrt(second[i] / b2) + 1e-8f);
            gradient[i] = 0.0f;
        }
    }
};

/// Rows [kTokens, width].
using Rows = std::vector<float>;

/// y = x w^T + b, w [N, K].
Rows forward(const Rows& x, const Parameter& w, const Parameter& b, int N, int K) {
    Rows y(static_cast<size_t>(kTokens * N));
    for (int t = 0; t < kTokens; ++t)
        for (int n = 0; n < N; ++n) {
            float sum = b.value[size_t(n)];
            for (int k = 0; k < K; ++k)
                sum += x[size_t(t * K + k)] * w.value[size_t(n * K + k)];
            y[size_t(t * N + n)] = sum;
        }
    return y;
}
Rows backward(const Rows& dy, const Rows& x, Parameter& w, Parameter& b, int N, int K) {
    Rows dx(static_cast<size_t>(kTokens * K));
    for (int t = 0; t < kTokens; ++t)
        for (int n = 0; n < N; ++n) {
            const float d = dy[size_t(t * N + n)];
            b.gradient[size_t(n)] += d;
            for (int k = 0; k < K; ++k) {
                w.gradient[size_t(n * K + k)] += d * x[size_t(t * K + k)];
                dx[size_t(t * K + k)] += d * w.value[size_t(n * K + k)];
            }
        }
    return dx;
}

/// A LayerNorm that keeps what its backward pass needs.
struct Norm {
    Parameter gamma, beta;
    Rows h;
    float rstd[kTokens] = {};

    explicit Norm(std::mt19937& random)
        : gamma(kWidth, 0.0f, random, 1.0f), beta(kWidth, 0.0f, random) {}

    Rows forward(const Rows& x) {
        h.assign(x.size(), 0.0f);
        Rows y(x.size());
        for (int t = 0; t < kTokens; ++t) {
            float mean = 0.0f;
            float squares = 0.0f;
            for (int c = 0; c < kWidth; ++c)
                mean += x[size_t(t * kWidth + c)] / kWidth;
            for (int c = 0; c < kWidth; ++c) {
                const float d = x[size_t(t * kWidth + c)] - mean;
                squares += d * d / kWidth;
            }
            rstd[t] = 1.0f / std::sqrt(squares + kEps);
            for (int c = 0; c < kWidth; ++c) {
                const auto i = size_t(t * kWidth + c);
                h[i] = (x[i] - mean) * rstd[t];
                y[i] = h[i] * gamma.value[size_t(c)] + beta.value[size_t(c)];
            }
        }
        return y;
    }
    Rows backward(const Rows& dy) {
        Rows dx(dy.size());
        for (int t = 0; t < kTokens; ++t) {
            float mean = 0.0f;
            float of_h = 0.0f;
            for (int c = 0; c < kWidth; ++c) {
                const auto i = size_t(t * kWidth + c);
                const float g = dy[i] * gamma.value[size_t(c)];
                mean += g / kWidth;
                of_h += g * h[i] / kWidth;
                gamma.gradient[size_t(c)] += dy[i] * h[i];
                beta.gradient[size_t(c)] += dy[i];
            }
            for (int c = 0; c < kWidth; ++c) {
                const auto i = size_t(t * kWidth + c);
                const float g = dy[i] * gamma.value[size_t(c)];
                dx[i] = rstd[t] * (g - mean - h[i] * of_h);
            }
        }
        return dx;
    }
};

/// Turns column c of Q or K, [kTokens, 3 kWidth], by its position; backwards for a
/// gradient.
void turn(Rows& qkv, float direction) {
    constexpr int kHalf = kWidth / 2;
    for (int t = 0; t < kTokens; ++t)
        for (int part = 0; part < 2; ++part)
            for (int j = 0; j < kHalf; ++j) {
                const float angle =
                    static_cast<float>(t) *
                    std::pow(10000.0f, -2.0f * static_cast<float>(j) / kWidth);
                const float c = std::cos(angle);
                const float s = direction * std::sin(angle);
                float& a = qkv[size_t((3 * t + part) * kWidth + j)];
                float& b = qkv[size_t((3 * t + part) * kWidth + j + kHalf)];
                const float old = a;
                a = a * c - b * s;
                b = b * c + old * s;
            }
}

constexpr float kC = 0.7978845608f;  // sqrt(2 / pi)
float gelu(float z) {
    return 0.5f * z * (1.0f + std::tanh(kC * (z + 0.044715f * z * z * z)));
}
float gelu_slope(float z) {
    const float u = std::tanh(kC * (z + 0.044715f * z * z * z));
    return 0.5f * (1.0f + u) +
           0.5f * z * (1.0f - u * u) * kC * (1.0f + 3.0f * 0.044715f * z * z);
}

struct Model {
    std::mt19937 random{1};
    Parameter vectors{kLetters * kWidth, 0.3f, random};
    Norm norm1{random}, norm2{random}, last{random};
    Parameter qkv{3 * kWidth * kWidth, 0.1f, random}, qkv_bias{3 * kWidth, 0, random};
    Parameter out{kWidth * kWidth, 0.05f, random}, out_bias{kWidth, 0, random};
    Parameter up{kHidden * kWidth, 0.1f, random}, up_bias{kHidden, 0, random};
    Parameter down{kWidth * kHidden, 0.05f, random}, down_bias{kWidth, 0, random};

    std::vector<Parameter*> all() {
        return {&vectors,
                &norm1.gamma,
                &norm1.beta,
                &norm2.gamma,
                &norm2.beta,
                &last.gamma,
                &last.beta,
                &qkv,
                &qkv_bias,
                &out,
                &out_bias,
                &up,
                &up_bias,
                &down,
                &down_bias};
    }

    /// Adds the gradients of one text of kTokens + 1 letters. @return  its loss
    double train(const int* text) {
        Rows x(size_t(kTokens * kWidth));
        for (int t = 0; t < kTokens; ++t)
            for (int c = 0; c < kWidth; ++c)
                x[size_t(t * kWidth + c)] = vectors.value[size_t(text[t] * kWidth + c)];
        const Rows n1 = norm1.forward(x);
        Rows turned = forward(n1, qkv, qkv_bias, 3 * kWidth, kWidth);
        turn(turned, 1.0f);
        const float scale = 1.0f / std::sqrt(static_cast<float>(kWidth));
        const auto at = [](int t, int part, int c) {
            return size_t((3 * t + part) * kWidth + c);
        };
        Rows p(size_t(kTokens * kTokens));
        Rows a(size_t(kTokens * kWidth));
        for (int t = 0; t < kTokens; ++t) {
            float sum = 0.0f;
            for (int s = 0; s <= t; ++s) {
                float score = 0.0f;
                for (int c = 0; c < kWidth; ++c)
                    score += turned[at(t, 0, c)] * turned[at(s, 1, c)];
                p[size_t(t * kTokens + s)] = std::exp(score * scale);
                sum += p[size_t(t * kTokens + s)];
            }
            for (int s = 0; s <= t; ++s) {
                p[size_t(t * kTokens + s)] /= sum;
                for (int c = 0; c < kWidth; ++c)
                    a[size_t(t * kWidth + c)] +=
                        p[size_t(t * kTokens + s)] * turned[at(s, 2, c)];
            }
        }
        Rows h = forward(a, out, out_bias, kWidth, kWidth);
        for (size_t i = 0; i < h.size(); ++i)
            h[i] += x[i];
        const Rows n2 = norm2.forward(h);
        const Rows z = forward(n2, up, up_bias, kHidden, kWidth);
        Rows f(z.size());
        for (size_t i = 0; i < z.size(); ++i)
            f[i] = gelu(z[i]);
        Rows y = forward(f, down, down_bias, kWidth, kHidden);
        for (size_t i = 0; i < y.size(); ++i)
            y[i] += h[i];
        const Rows n3 = last.forward(y);

        double loss = 0.0;
        Rows dn3(n3.size());
        for (int t = 0; t < kTokens; ++t) {
            float chances[kLetters];
            float sum = 0.0f;
            for (int l = 0; l < kLetters; ++l) {
                float score = 0.0f;
                for (int c = 0; c < kWidth; ++c)
                    score += n3[size_t(t * kWidth + c)] *
                             vectors.value[size_t(l * kWidth + c)];
                chances[l] = std::exp(score);
                sum += chances[l];
            }
            loss -= std::log(double{chances[text[t + 1]] / sum}) / kTokens;
            for (int l = 0; l < kLetters; ++l) {
                const float d =
                    (chances[l] / sum - (l == text[t + 1] ? 1.0f : 0.0f)) / kTokens;
                for (int c = 0; c < kWidth; ++c) {
                    const auto v = size_t(l * kWidth + c);
                    dn3[size_t(t * kWidth + c)] += d * vectors.value[v];
                    vectors.gradient[v] += d * n3[size_t(t * kWidth + c)];
                }
            }
        }
        const Rows dy = last.backward(dn3);
        Rows dz = backward(dy, f, down, down_bias, kWidth, kHidden);
        for (size_t i = 0; i < dz.size(); ++i)
            dz[i] *= gelu_slope(z[i]);
        Rows dh = norm2.backward(backward(dz, n2, up, up_bias, kHidden, kWidth));
        for (size_t i = 0; i < dh.size(); ++i)
            dh[i] += dy[i];
        const Rows da = backward(dh, a, out, out_bias, kWidth, kWidth);
        Rows d(turned.size());
        for (int t = 0; t < kTokens; ++t) {
            float dp[kTokens];
            float mean = 0.0f;
            for (int s = 0; s <= t; ++s) {
                dp[s] = 0.0f;
                for (int c = 0; c < kWidth; ++c) {
                    dp[s] += da[size_t(t * kWidth + c)] * turned[at(s, 2, c)];
                    d[at(s, 2, c)] +=
                        p[size_t(t * kTokens + s)] * da[size_t(t * kWidth + c)];
                }
                mean += p[size_t(t * kTokens + s)] * dp[s];
            }
            for (int s = 0; s <= t; ++s) {
                const float ds = p[size_t(t * kTokens + s)] * (dp[s] - mean) * scale;
                for (int c = 0; c < kWidth; ++c) {
                    d[at(t, 0, c)] += ds * turned[at(s, 1, c)];
                    d[at(s, 1, c)] += ds * turned[at(t, 0, c)];
                }
            }
        }
        turn(d, -1.0f);
        Rows dx = norm1.backward(backward(d, n1, qkv, qkv_bias, 3 * kWidth, kWidth));
        for (int t = 0; t < kTokens; ++t)
            for (int c = 0; c < kWidth; ++c) {
                const auto i = size_t(t * kWidth + c);
                vectors.gradient[size_t(text[t] * kWidth + c)] += dx[i] + dh[i];
            }
        return loss;
    }
};

}  // namespace

int main(int count, char** files) {
    const std::vector<int> text = text_of(count, files);
    if (text.empty()) return 1;
    Model model;
    const size_t places = text.size() - kTokens - 1;
    double loss = 0.0;
    for (int t = 1; t <= kSteps; ++t) {
        for (int i = 0; i < kBatch; ++i)
            loss += model.train(text.data() + model.random() % places) / kBatch;
        const float rate = 0.003f * (1.0f - static_cast<float>(t) / (kSteps + 1));
        for (Parameter* const p : model.all()) {
            for (float& g : p->gradient)
                g /= kBatch;
            p->step(rate, t);
        }
        if (t % 500 == 0) {
            std::fprintf(stderr, "%d steps: loss %.3f\n", t, loss / 500);
            loss = 0.0;
        }
    }
    std::printf("// Made by train.cpp, which says how. Units of 1/4096.\n");
    std::printf("inline constexpr int kTokens = %d;\n", kTokens);
    std::printf("inline constexpr int kSamples = 4;\n");
    print("kVectors", model.vectors.value);
    const char* const names[] = {"kNorm1Gamma",
                                 "kNorm1Beta",
                                 "kNorm2Gamma",
                                 "kNorm2Beta",
                                 "kLastGamma",
                                 "kLastBeta",
                                 "kQkv",
                                 "kQkvBias",
                                 "kOut",
                                 "kOutBias",
                                 "kUp",
                                 "kUpBias",
                                 "kDown",
                                 "kDownBias"};
    const auto all = model.all();
    for (size_t i = 1; i < all.size(); ++i)
        print(names[i - 1], all[i]->value);
    std::vector<float> samples;  // of kTokens + 1 letters
    for (int s = 0; s < 4; ++s) {
        const int* const from = text.data() + model.random() % places;
        for (int t = 0; t <= kTokens; ++t)
            samples.push_back(static_cast<float>(from[t]) / 4096.0f);
    }
    print("kText", samples);
}
