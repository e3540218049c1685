// plan.cpp: given with this exercise: when each array of a step is in use. There is
// nothing to write here.
#include <wb/arguments.h>
#include <wb/model/arena.h>
#include <wb/model/gpt.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "train_a_gpt.h"

namespace {

/// Wants arrays, and writes their offsets to where they belong, once all are known.
class Planner {
 public:
    void add(int64_t& offset,
             const char* name,
             int64_t count,
             int64_t first,
             int64_t last,
             int64_t bytes_each = 4) {
        wanted_.emplace_back(&offset,
                             arena_.add(name, count * bytes_each, first, last));
    }
    /// Returns the bytes of all.
    int64_t place() {
        arena_.place();
        for (const auto& [offset, array] : wanted_)
            *offset = arena_.offset(array);
        return arena_.bytes();
    }

 private:
    wb::model::ArenaPlan arena_;
    std::vector<std::pair<int64_t*, int>> wanted_;
};

/// Moments: 0 for the tokens, kForward for each layer, kEnd for the end of the model
/// and its gradient, kBackward for each layer from the last one on, one for the table.
constexpr int64_t kForward = 9;
constexpr int64_t kEnd = 5;
constexpr int64_t kBackward = 10;

/// The head dimension of arrays by heads: one that attention knows.
int64_t padded(int64_t head_dim) {
    return head_dim <= 64 ? 64 : 128;
}

void check(const wb::model::GptShape& shape, int64_t batch, int64_t length) {
    constexpr int64_t kMost = int64_t{1} << 16;
    const wb::Arguments arguments("plan_step");
    arguments
        .require(shape.layers <= kMostLayers,
                 "shape.layers",
                 shape.layers,
                 "must be at most 64")
        .require(shape.width <= kMost, "shape.width", shape.width, "must be <= 2^16")
        .require(shape.hidden <= kMost, "shape.hidden", shape.hidden, "must be <= 2^16")
        .require(shape.head_dim() <= 128,
                 "shape.width / shape.heads",
                 shape.head_dim(),
                 "must be at most 128")
        .positive("batch", batch)
        .positive("length", length)
        .require(
            length <= shape.context, "length", length, "must be at most shape.context")
        .require(
            arguments.product("batch * length", {batch, length}) <= int64_t{1} << 22,
            "batch * length",
            batch * length,
            "must be <= 2^22");
    const int64_t by_heads = shape.heads * padded(shape.head_dim());
    const int64_t widest =
        std::max({3 * shape.width, shape.hidden, by_heads, wb::model::kVocabulary});
    arguments.require(batch * length * widest < int64_t{1} << 31,
                      "elements of the largest array",
                      batch * length * widest,
                      "must be < 2^31");
}

ParameterPlaces places_of(const wb::model::GptShape& shape) {
    const auto all = wb::model::gpt_parameters(shape);
    std::map<std::string, int64_t> at;
    for (const auto& parameter : all)
        at[parameter.name] = parameter.offset;
    const auto pair = [&at](const std::string& name) {
        return ParameterPair{at.at(name + ".weight"), at.at(name + ".bias")};
    };
    ParameterPlaces p = {};
    p.embed_in = at.at("embed_in.weight");
    for (int64_t i = 0; i < shape.layers; ++i) {
        const std::string name = "layers." + std::to_string(i) + ".";
        p.layer[i] = {pair(name + "norm1"),
                      pair(name + "attention.qkv"),
                      pair(name + "attention.out"),
                      pair(name + "norm2"),
                      pair(name + "mlp.up"),
                      pair(name + "mlp.down")};
    }
    p.norm = pair("norm");
    p.embed_out = at.at("embed_out.weight");
    p.elements = wb::model::gpt_elements(all);
    return p;
}

}  // namespace

StepPlan plan_step(const wb::model::GptShape& shape, int64_t batch, int64_t length) {
    StepPlan p = {};
    p.shape = shape;
    p.batch = batch;
    p.length = length;
    (void)wb::model::gpt_parameters(shape);  // refuses first what makes no model
    check(shape, batch, length);
    p.head_dim = padded(shape.head_dim());
    p.parameters = places_of(shape);

    Planner plan;
    const int64_t rows = p.tokens();
    const int64_t row_width = rows * shape.width;
    const int64_t by_heads = rows * shape.heads * p.head_dim;
    const int64_t layers = shape.layers;
    const int64_t end = 1 + layers * kForward;
    const int64_t back = end + kEnd;
    const int64_t table = back + layers * kBackward;
    const auto norm =
        [&](NormArrays& arrays, int64_t first, int64_t last_y, int64_t last) {
            plan.add(arrays.y, "norm.y", row_width, first, last_y);
            plan.add(arrays.mean, "norm.mean", rows, first, last);
            plan.add(arrays.rstd, "norm.rstd", rows, first, last);
        };
    plan.add(p.inputs, "inputs", rows, 0, table, 8);
    plan.add(p.targets, "targets", rows, 0, end + 2);
    plan.add(p.angles, "angles", length * shape.rotary / 2, 0, table, 8);
    plan.add(p.layer[0].x, "x", row_width, 0, table - 1);
    for (int64_t i = 0; i < layers; ++i) {
        LayerArrays& a = p.layer[i];
        const int64_t f = 1 + i * kForward;  // the layer's first moment
        const int64_t b = back + (layers - 1 - i) * kBackward;  // and on the way back
        norm(a.norm1, f, b + 8, b + 9);
        plan.add(a.qkv, "qkv", 3 * row_width, f + 1, f + 2);
        plan.add(a.q, "q", by_heads, f + 2, b + 6);
        plan.add(a.k, "k", by_heads, f + 2, b + 6);
        plan.add(a.v, "v", by_heads, f + 2, b + 6);
        plan.add(a.o, "o", by_heads, f + 3, b + 6);
        plan.add(a.lse, "lse", rows * shape.heads, f + 3, b + 6);
        plan.add(a.attended, "attended", row_width, f + 4, b + 4);
        if (!shape.is_parallel) plan.add(a.middle, "middle", row_width, f + 5, b + 3);
        norm(a.norm2, f + 6, b + 2, b + 3);
        plan.add(a.up, "up", rows * shape.hidden, f + 7, b + 1);
        plan.add(a.hidden, "hidden", rows * shape.hidden, f + 7, b);
        // The next layer's x, which its norm1 reads for the last time on the way back.
        const int64_t first = f + (shape.is_parallel ? 5 : 8);
        plan.add(a.y, "y", row_width, first, i + 1 < layers ? b - 1 : end + 4);

        plan.add(a.d_hidden, "d_hidden", rows * shape.hidden, b, b + 2);
        plan.add(a.d_normed2, "d_normed2", row_width, b + 2, b + 3);
        plan.add(a.d_middle, "d_middle", row_width, b + 3, b + 9);
        plan.add(a.d_attended, "d_attended", row_width, b + 4, b + 5);
        plan.add(a.d_o, "d_o", by_heads, b + 5, b + 6);
        plan.add(a.d_q, "d_q", by_heads, b + 6, b + 7);
        plan.add(a.d_k, "d_k", by_heads, b + 6, b + 7);
        plan.add(a.d_v, "d_v", by_heads, b + 6, b + 7);
        plan.add(a.d_qkv, "d_qkv", 3 * row_width, b + 7, b + 8);
        plan.add(a.d_normed1, "d_normed1", row_width, b + 8, b + 9);
        plan.add(a.d_first, "d_first", row_width, b + 9, b + 9);
    }
    norm(p.norm, end, end + 3, end + 4);
    plan.add(p.logits, "logits", rows * wb::model::kVocabulary, end + 1, end + 3);
    plan.add(p.losses, "losses", rows, end + 2, end + 2);
    plan.add(p.d_normed, "d_normed", row_width, end + 3, end + 4);
    plan.add(p.d, "d", row_width, end + 4, table);
    p.bytes = plan.place();
    for (int64_t i = 0; i < layers; ++i) {
        if (i > 0) p.layer[i].x = p.layer[i - 1].y;
        if (shape.is_parallel) p.layer[i].middle = p.layer[i].x;
    }
    return p;
}
