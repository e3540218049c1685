/// reference.h: a step of the decoder in double, sub-layer by sub-layer, with a bound
/// of what floats may make of it.
///
/// Every sub-layer begins with the hidden states that the decoder itself has had, of
/// this token and of those before: so a bound is that of one sub-layer, and not of all
/// that have come before it.
#pragma once

#include <wb/reference/layernorm.h>
#include <wb/testing/bounds.h>
#include <wb/testing/norms.h>

#include <cmath>
#include <vector>

#include "decoder.h"

/// A number, and how far from it a float result may be.
struct Near {
    double value = 0.0;
    double error = 0.0;
};

class Reference {
 public:
    using Vector = std::vector<Near>;

    Reference(const Decoder& decoder, const std::vector<float>& weights)
        : s_(decoder.shape), p_(decoder.places), weights_(weights) {}

    /// The hidden state behind the embedding.
    Vector embed(int32_t token) const {
        Vector x(width());
        for (size_t i = 0; i < width(); ++i)
            x[i].value = at(p_.embed_in + token * s_.gpt.width + int64_t(i));
        return x;
    }

    /// The norm of a hidden state that is known.
    Vector norm(const std::vector<float>& x, const Pair& pair) const {
        const auto row =
            wb::reference::row_moments(x.data(), s_.gpt.width, s_.gpt.eps, true);
        const wb::testing::RowBounds bounds(row, s_.gpt.width, s_.gpt.eps, true);
        Vector n(width());
        for (size_t i = 0; i < width(); ++i) {
            const double gamma = at(pair.weight + int64_t(i));
            const double beta = at(pair.bias + int64_t(i));
            n[i].value = wb::reference::normalized(double{x[i]}, row, gamma, beta);
            // eps is a float for the kernels: 2^-24 of it, at most 2^-25 of rstd.
            n[i].error = bounds.of_element(double{x[i]}, row, gamma, beta) +
                         std::abs(n[i].value - beta) * kU;
        }
        return n;
    }

    /// weights in + bias.
    Vector product(const Vector& in, const Pair& pair, int64_t outputs) const {
        const auto inputs = static_cast<int64_t>(in.size());
        Vector out(static_cast<size_t>(outputs));
        for (int64_t row = 0; row < outputs; ++row) {
            const double bias = pair.bias < 0 ? 0.0 : at(pair.bias + row);
            double sum = bias, size = std::abs(bias), error = 0.0;
            for (int64_t i = 0; i < inputs; ++i) {
                const Near& v = in[size_t(i)];
                const double w = at(pair.weight + row * inputs + i);
                sum += w * v.value;
                size += std::abs(w) * (std::abs(v.value) + v.error);
                error += std::abs(w) * v.error;
            }
            const double k = static_cast<double>(inputs) + 2.0;
            out[size_t(row)] = {sum, error + wb::testing::float_bound(k, size)};
        }
        return out;
    }

    /// What attention adds at the last of these tokens.
    /// @param x  [tokens] hidden states before the layer
    Vector attention(const std::vector<std::vector<float>>& x, int64_t layer) const {
        const auto last = static_cast<int64_t>(x.size()) - 1;
        std::vector<Vector> qkv;
        for (int64_t t = 0; t <= last; ++t)
            qkv.push_back(turned(product(norm(x[size_t(t)], of(p_.norm1, layer)),
                                         of(p_.qkv, layer),
                                         3 * s_.gpt.width),
                                 t));
        const int64_t D = s_.gpt.head_dim();
        Vector mixed(width());
        for (int64_t head = 0; head < s_.gpt.heads; ++head)
            for (int64_t c = 0; c < D; ++c)
                mixed[size_t(head * D + c)] = mix(qkv, last, head, c);
        return product(mixed, of(p_.out, layer), s_.gpt.width);
    }

    /// What the MLP adds.
    Vector mlp(const std::vector<float>& x, int64_t layer) const {
        Vector hidden =
            product(norm(x, of(p_.norm2, layer)), of(p_.up, layer), s_.gpt.hidden);
        for (Near& z : hidden)
            z = gelu(z);
        return product(hidden, of(p_.down, layer), s_.gpt.width);
    }

    /// x + delta, rounded once.
    static Vector sum(const std::vector<float>& x, const Vector& delta) {
        Vector result(x.size());
        for (size_t i = 0; i < x.size(); ++i) {
            const double value = double{x[i]} + delta[i].value;
            const double error = delta[i].error;
            result[i] = {value, error + kU * (std::abs(value) + error)};
        }
        return result;
    }

    Vector logits(const std::vector<float>& x) const {
        return product(norm(x, p_.norm), {p_.embed_out, -1}, wb::model::kVocabulary);
    }

 private:
    static constexpr double kU = wb::testing::kUnitRoundoff<float>;

    size_t width() const { return static_cast<size_t>(s_.gpt.width); }
    double at(int64_t place) const { return double{weights_[size_t(place)]}; }
    Pair of(const Pair& first, int64_t layer) const {
        const int64_t stride = layer * p_.layer_stride;
        return {first.weight + stride, first.bias + stride};
    }

    /// q and k with the first pairs of each head turned, as GPT-NeoX does.
    Vector turned(Vector qkv, int64_t position) const {
        const int64_t half = s_.gpt.rotary / 2;
        for (int64_t head = 0; head < 2 * s_.gpt.heads; ++head) {
            for (int64_t j = 0; j < half; ++j) {
                const double angle =
                    static_cast<double>(position) *
                    std::pow(10000.0, -2.0 * double(j) / double(s_.gpt.rotary));
                const double c = std::cos(angle), s = std::sin(angle);
                Near& a = qkv[size_t(head * s_.gpt.head_dim() + j)];
                Near& b = qkv[size_t(head * s_.gpt.head_dim() + j + half)];
                const Near first = a, second = b;
                a = combine(first, c, second, -s);
                b = combine(second, c, first, s);
            }
        }
        return qkv;
    }
    static Near combine(const Near& a, double c, const Near& b, double s) {
        const double size = std::abs(c) * (std::abs(a.value) + a.error) +
                            std::abs(s) * (std::abs(b.value) + b.error);
        return {a.value * c + b.value * s,
                std::abs(c) * a.error + std::abs(s) * b.error +
                    wb::testing::float_bound(4.0, size)};
    }

    bool is_seen(int64_t token, int64_t last) const {
        return token < s_.sinks || token > last - s_.window;
    }

    Near mix(const std::vector<Vector>& qkv,
             int64_t last,
             int64_t head,
             int64_t c) const {
        const int64_t D = s_.gpt.head_dim();
        const double scale = 1.0 / std::sqrt(static_cast<double>(D));
        std::vector<Near> scores;
        std::vector<Near> values;
        double most = -INFINITY;
        for (int64_t t = 0; t <= last; ++t) {
            if (!is_seen(t, last)) continue;
            double sum = 0.0, size = 0.0, error = 0.0;
            for (int64_t i = 0; i < D; ++i) {
                const Near& q = qkv[size_t(last)][size_t(head * D + i)];
                const Near& k = qkv[size_t(t)][width() + size_t(head * D + i)];
                sum += q.value * k.value;
                size += (std::abs(q.value) + q.error) * (std::abs(k.value) + k.error);
                error += std::abs(q.value) * k.error + q.error * std::abs(k.value) +
                         q.error * k.error;
            }
            error += wb::testing::float_bound(double(D) + 4.0, size);
            scores.push_back({sum * scale, error * scale});
            values.push_back(qkv[size_t(t)][2 * width() + size_t(head * D + c)]);
            most = std::max(most, sum * scale);
        }
        // exp(score - largest): expf is right to 2 ulp, 4 u; the largest score itself
        // is in all weights, whatever it is, and cancels.
        double wrong = 0.0, total = 0.0, sum = 0.0, size = 0.0, error = 0.0;
        for (size_t t = 0; t < scores.size(); ++t) {
            const double weight = std::exp(scores[t].value - most);
            const double far = std::abs(scores[t].value - most) + 2.0 * scores[t].error;
            wrong = std::max(wrong, std::expm1(scores[t].error + kU * far) + 5.0 * kU);
            total += weight;
            sum += weight * values[t].value;
            size += weight * (std::abs(values[t].value) + values[t].error);
            error += weight * values[t].error;
        }
        const double k = 2.0 * static_cast<double>(scores.size()) + 4.0;
        const double factor =
            (1.0 + wrong) / (1.0 - wrong) * (1.0 + wb::testing::gamma(k, kU)) - 1.0;
        return {sum / total, (error + size * factor) / total};
    }

    /// z * sigmoid(2 u). Its slope is at most 1.13, and 2 sigmoid' at most 0.5.
    static Near gelu(const Near& z) {
        const double scale = double{0.797884561f}, cube = double{0.044715f};
        const double size = std::abs(z.value) + z.error;
        const double u = scale * (z.value + cube * z.value * z.value * z.value);
        const double value = z.value / (1.0 + std::exp(-2.0 * u));
        const double u_error =
            wb::testing::gamma(8.0, kU) * scale * (size + cube * size * size * size);
        return {value,
                1.13 * z.error + 0.5 * size * u_error +
                    wb::testing::float_bound(10.0, std::abs(value) + 1.13 * z.error)};
    }

    DecoderShape s_;
    Places p_;
    const std::vector<float>& weights_;
};
