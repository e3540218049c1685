/// CPU reference of a small GPT (<wb/model/gpt.h>): its loss and all gradients, in
/// double. Slow, and as close to the formulas as can be.
#pragma once

#include <wb/model/gpt.h>
#include <wb/reference/gpt_layers.h>

#include <functional>
#include <map>
#include <string>

namespace wb::reference {

/// What a layer has computed on the way forward. Rows are tokens, but where it is said.
struct GptLayerStates {
    Numbers x;           ///< [tokens, width] what it was given
    Numbers normed1;     ///< [tokens, width]
    Numbers q, k, v;     ///< [batch, heads, length, head_dim], q and k turned
    Attended attention;  ///< by heads
    Numbers attended;    ///< [tokens, width]
    Numbers middle;      ///< [tokens, width] h; of a parallel layer x
    Numbers normed2;     ///< [tokens, width]
    Numbers up, hidden;  ///< [tokens, hidden] before and after the GELU
};

struct GptStates {
    std::vector<GptLayerStates> layers;
    Numbers x;       ///< [tokens, width] what the last layer gave
    Numbers normed;  ///< [tokens, width]
    Numbers logits;  ///< [tokens, 256]
    double loss;     ///< mean over the tokens of -log of the next one's probability
};

/// The model with its weights: an array by gpt_parameters().
class Gpt {
 public:
    Gpt(const model::GptShape& shape, Numbers weights)
        : shape_(shape), weights_(std::move(weights)) {
        for (const model::GptParameter& it : model::gpt_parameters(shape))
            offsets_[it.name] = it.offset;
    }

    /// From now on, change(numbers) is called for each array that is computed, before
    /// it is used: rounding errors may be made so, and their effect be measured.
    void disturb(std::function<void(Numbers&)> change) { disturb_ = std::move(change); }

    /// @param tokens  [batch, length + 1]
    GptStates forward(const std::vector<int32_t>& tokens,
                      int64_t batch,
                      int64_t length) const {
        GptStates states;
        const int64_t width = shape_.width;
        Numbers x;
        for (int64_t t = 0; t < batch * length; ++t) {
            const double* const row =
                at("embed_in.weight") + input(tokens, length, t) * width;
            x.insert(x.end(), row, row + width);
        }
        for (int64_t i = 0; i < shape_.layers; ++i) {
            states.layers.emplace_back();
            x = layer(
                name_of_layer(i), std::move(x), batch, length, states.layers.back());
        }
        states.x = std::move(x);
        states.normed = rounded(layer_norm(
            states.x, at("norm.weight"), at("norm.bias"), width, shape_.eps));
        states.logits = rounded(linear(
            states.normed, at("embed_out.weight"), nullptr, model::kVocabulary, width));
        states.loss = 0.0;
        for (int64_t t = 0; t < batch * length; ++t) {
            const double* const row = &states.logits[place(t * model::kVocabulary)];
            states.loss += (log_sum(row) - row[target(tokens, length, t)]) /
                           static_cast<double>(batch * length);
        }
        return states;
    }

    /// The gradient of the loss of each parameter, in an array as the weights are.
    Numbers backward(const GptStates& states,
                     const std::vector<int32_t>& tokens,
                     int64_t batch,
                     int64_t length) const {
        const int64_t width = shape_.width;
        Numbers gradient(weights_.size());
        const auto g = [&](const std::string& name) {
            return &gradient[place(offsets_.at(name))];
        };
        Numbers dlogits(states.logits.size());
        for (int64_t t = 0; t < batch * length; ++t) {
            const double* const row = &states.logits[place(t * model::kVocabulary)];
            const double sum = log_sum(row);
            for (int64_t n = 0; n < model::kVocabulary; ++n) {
                const double hit = n == target(tokens, length, t) ? 1.0 : 0.0;
                dlogits[place(t * model::kVocabulary + n)] =
                    (std::exp(row[n] - sum) - hit) /
                    static_cast<double>(batch * length);
            }
        }
        dlogits = rounded(std::move(dlogits));
        const Numbers dnormed = rounded(linear_backward(dlogits,
                                                        states.normed,
                                                        at("embed_out.weight"),
                                                        model::kVocabulary,
                                                        width,
                                                        g("embed_out.weight"),
                                                        nullptr));
        Numbers dx = rounded(layer_norm_backward(dnormed,
                                                 states.x,
                                                 at("norm.weight"),
                                                 width,
                                                 shape_.eps,
                                                 g("norm.weight"),
                                                 g("norm.bias")));
        for (int64_t i = shape_.layers - 1; i >= 0; --i)
            dx = layer_backward(name_of_layer(i),
                                std::move(dx),
                                states.layers[place(i)],
                                batch,
                                length,
                                g);
        double* const table = g("embed_in.weight");
        for (int64_t t = 0; t < batch * length; ++t)
            for (int64_t c = 0; c < width; ++c)
                table[input(tokens, length, t) * width + c] += dx[place(t * width + c)];
        return gradient;
    }

 private:
    Numbers rounded(Numbers numbers) const {
        if (disturb_) disturb_(numbers);
        return numbers;
    }
    static std::string name_of_layer(int64_t i) {
        return "layers." + std::to_string(i) + ".";
    }
    static int64_t input(const std::vector<int32_t>& tokens,
                         int64_t length,
                         int64_t t) {
        return tokens[place(t / length * (length + 1) + t % length)];
    }
    static int64_t target(const std::vector<int32_t>& tokens,
                          int64_t length,
                          int64_t t) {
        return tokens[place(t / length * (length + 1) + t % length + 1)];
    }
    static double log_sum(const double* logits) {
        const double most = *std::max_element(logits, logits + model::kVocabulary);
        double sum = 0.0;
        for (int64_t n = 0; n < model::kVocabulary; ++n)
            sum += std::exp(logits[n] - most);
        return most + std::log(sum);
    }
    const double* at(const std::string& name) const {
        return &weights_[place(offsets_.at(name))];
    }
    AttentionShape attention_shape(int64_t batch, int64_t length) const {
        AttentionShape shape = {};
        shape.batch = batch;
        shape.query_heads = shape.kv_heads = shape_.heads;
        shape.queries = shape.keys = length;
        shape.head_dim = shape_.head_dim();
        shape.scale = 1.0f / std::sqrt(static_cast<float>(shape_.head_dim()));
        shape.causal = true;
        return shape;
    }

    /// Calls move(by heads, by tokens) with the two places of each element: of
    /// [batch, heads, length, head_dim], and of columns first .. first + width of rows
    /// of `columns` numbers.
    template <class Move>
    void for_each(int64_t batch,
                  int64_t length,
                  int64_t columns,
                  int64_t first,
                  Move move) const {
        const int64_t D = shape_.head_dim();
        for (int64_t b = 0; b < batch; ++b)
            for (int64_t h = 0; h < shape_.heads; ++h)
                for (int64_t t = 0; t < length; ++t)
                    for (int64_t d = 0; d < D; ++d)
                        move(place(((b * shape_.heads + h) * length + t) * D + d),
                             place((b * length + t) * columns + first + h * D + d));
    }

    Numbers layer(const std::string& name,
                  Numbers x,
                  int64_t batch,
                  int64_t length,
                  GptLayerStates& s) const {
        const int64_t width = shape_.width;
        s.x = std::move(x);
        s.normed1 = rounded(layer_norm(s.x,
                                       at(name + "norm1.weight"),
                                       at(name + "norm1.bias"),
                                       width,
                                       shape_.eps));
        const Numbers qkv = rounded(linear(s.normed1,
                                           at(name + "attention.qkv.weight"),
                                           at(name + "attention.qkv.bias"),
                                           3 * width,
                                           width));
        int64_t first = 0;
        for (Numbers* const part : {&s.q, &s.k, &s.v}) {
            part->resize(s.x.size());
            for_each(
                batch, length, 3 * width, first, [&](std::size_t h, std::size_t t) {
                    (*part)[h] = qkv[t];
                });
            first += width;
        }
        turn(s.q, length, shape_.head_dim(), shape_.rotary, 1.0);
        turn(s.k, length, shape_.head_dim(), shape_.rotary, 1.0);
        s.q = rounded(std::move(s.q));
        s.k = rounded(std::move(s.k));
        s.attention = attend(attention_shape(batch, length), s.q, s.k, s.v);
        s.attention.o = rounded(std::move(s.attention.o));
        s.attention.lse = rounded(std::move(s.attention.lse));
        s.attended.resize(s.x.size());
        for_each(batch, length, width, 0, [&](std::size_t h, std::size_t t) {
            s.attended[t] = s.attention.o[h];
        });
        Numbers y = rounded(linear(s.attended,
                                   at(name + "attention.out.weight"),
                                   at(name + "attention.out.bias"),
                                   width,
                                   width));
        for (std::size_t i = 0; i < y.size(); ++i)
            y[i] += s.x[i];
        y = rounded(std::move(y));
        s.middle = shape_.is_parallel ? s.x : y;
        s.normed2 = rounded(layer_norm(s.middle,
                                       at(name + "norm2.weight"),
                                       at(name + "norm2.bias"),
                                       width,
                                       shape_.eps));
        s.up = rounded(linear(s.normed2,
                              at(name + "mlp.up.weight"),
                              at(name + "mlp.up.bias"),
                              shape_.hidden,
                              width));
        s.hidden.resize(s.up.size());
        std::transform(s.up.begin(), s.up.end(), s.hidden.begin(), gelu_tanh);
        s.hidden = rounded(std::move(s.hidden));
        const Numbers mlp = rounded(linear(s.hidden,
                                           at(name + "mlp.down.weight"),
                                           at(name + "mlp.down.bias"),
                                           width,
                                           shape_.hidden));
        for (std::size_t i = 0; i < y.size(); ++i)
            y[i] += mlp[i];
        return rounded(std::move(y));
    }

    template <class Gradient>
    Numbers layer_backward(const std::string& name,
                           Numbers dy,
                           const GptLayerStates& s,
                           int64_t batch,
                           int64_t length,
                           Gradient g) const {
        const int64_t width = shape_.width;
        // The MLP.
        Numbers dup = rounded(linear_backward(dy,
                                              s.hidden,
                                              at(name + "mlp.down.weight"),
                                              width,
                                              shape_.hidden,
                                              g(name + "mlp.down.weight"),
                                              g(name + "mlp.down.bias")));
        for (std::size_t i = 0; i < dup.size(); ++i)
            dup[i] *= gelu_tanh_slope(s.up[i]);
        dup = rounded(std::move(dup));
        const Numbers dnormed2 = rounded(linear_backward(dup,
                                                         s.normed2,
                                                         at(name + "mlp.up.weight"),
                                                         shape_.hidden,
                                                         width,
                                                         g(name + "mlp.up.weight"),
                                                         g(name + "mlp.up.bias")));
        const Numbers dmiddle = rounded(layer_norm_backward(dnormed2,
                                                            s.middle,
                                                            at(name + "norm2.weight"),
                                                            width,
                                                            shape_.eps,
                                                            g(name + "norm2.weight"),
                                                            g(name + "norm2.bias")));
        // y is x + attention + mlp(middle); in a sequential layer middle is the sum of
        // the first two, in a parallel one it is x.
        Numbers dx = dy;
        Numbers dh = dy;
        for (std::size_t i = 0; i < dx.size(); ++i) {
            dx[i] += dmiddle[i];
            if (!shape_.is_parallel) dh[i] += dmiddle[i];
        }
        dx = rounded(std::move(dx));
        if (!shape_.is_parallel) dh = dx;
        // Attention.
        const Numbers dattended =
            rounded(linear_backward(dh,
                                    s.attended,
                                    at(name + "attention.out.weight"),
                                    width,
                                    width,
                                    g(name + "attention.out.weight"),
                                    g(name + "attention.out.bias")));
        BackwardInputs<double> in = {s.q, s.k, s.v, s.attention.o, s.attention.lse, {}};
        in.d_o.resize(s.x.size());
        for_each(batch, length, width, 0, [&](std::size_t h, std::size_t t) {
            in.d_o[h] = dattended[t];
        });
        AttentionGradients d = attention_backward(
            attention_shape(batch, length), in, [](const BackwardPair&) {});
        turn(d.dq, length, shape_.head_dim(), shape_.rotary, -1.0);
        turn(d.dk, length, shape_.head_dim(), shape_.rotary, -1.0);
        for (Numbers* const part : {&d.dq, &d.dk, &d.dv})
            *part = rounded(std::move(*part));
        Numbers dqkv(place(batch * length * 3 * width));
        int64_t first = 0;
        for (const Numbers* const part : {&d.dq, &d.dk, &d.dv}) {
            for_each(
                batch, length, 3 * width, first, [&](std::size_t h, std::size_t t) {
                    dqkv[t] = (*part)[h];
                });
            first += width;
        }
        const Numbers dnormed1 =
            rounded(linear_backward(dqkv,
                                    s.normed1,
                                    at(name + "attention.qkv.weight"),
                                    3 * width,
                                    width,
                                    g(name + "attention.qkv.weight"),
                                    g(name + "attention.qkv.bias")));
        const Numbers dfirst = rounded(layer_norm_backward(dnormed1,
                                                           s.x,
                                                           at(name + "norm1.weight"),
                                                           width,
                                                           shape_.eps,
                                                           g(name + "norm1.weight"),
                                                           g(name + "norm1.bias")));
        for (std::size_t i = 0; i < dx.size(); ++i)
            dx[i] += dfirst[i];
        return rounded(std::move(dx));
    }

    model::GptShape shape_;
    Numbers weights_;
    std::map<std::string, int64_t> offsets_;
    std::function<void(Numbers&)> disturb_;
};

}  // namespace wb::reference
