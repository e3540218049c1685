// bf16_plan.cpp: given with this exercise: see bf16_step.h.
#include <wb/arguments.h>

#include <algorithm>

#include "bf16_shares.h"
#include "bf16_step.h"

namespace {

void check(const wb::model::GptShape& shape, int64_t tokens) {
    const wb::Arguments arguments("plan_bf16_step");
    const auto multiple = [&](const char* name, int64_t value, int64_t of) {
        arguments.require(value % of == 0,
                          name,
                          value,
                          of == 8 ? "must be a multiple of 8 in bf16"
                                  : "must be a multiple of 16 in bf16");
    };
    multiple("shape.hidden", shape.hidden, 8);
    multiple("shape.width / shape.heads", shape.head_dim(), 8);
    multiple("shape.rotary", shape.rotary, 16);
    multiple("batch * length", tokens, 8);
}

/// The most that the gradients of a layer's matrices need, with or without those of the
/// two tables.
int64_t piece_elements(const Bf16Plan& plan) {
    const int64_t width = plan.shape.width;
    const int64_t hidden = plan.shape.hidden;
    const int of_layer = WeightShares::tiles_of(3 * width, width) +
                         WeightShares::tiles_of(width, width) +
                         WeightShares::tiles_of(hidden, width) +
                         WeightShares::tiles_of(width, hidden);
    const int of_table = WeightShares::tiles_of(wb::model::kVocabulary, width);
    int64_t most = 0;
    for (int tables = 0; tables <= 2; ++tables)
        most = std::max(
            most,
            WeightShares::of(of_layer + tables * of_table, plan.tokens()).elements());
    return most;
}

}  // namespace

Bf16Plan plan_bf16_step(const wb::model::GptShape& shape,
                        int64_t batch,
                        int64_t length) {
    // What fp32 refuses is refused here, too; and the parameters lie at the same
    // places.
    const StepPlan floats = plan_step(shape, batch, length);
    Bf16Plan p = {};
    p.shape = shape;
    p.batch = batch;
    p.length = length;
    check(shape, p.tokens());
    p.head_dim = floats.head_dim;
    p.parameters = floats.parameters;

    const auto add = [&p](int64_t& offset, int64_t count, int64_t bytes_each = 2) {
        offset = p.bytes;
        p.bytes += (count * bytes_each + 255) / 256 * 256;
    };
    const int64_t rows = p.tokens();
    const int64_t row_width = rows * shape.width;
    const int64_t by_heads = rows * shape.heads * p.head_dim;
    const auto norm = [&](Bf16NormArrays& arrays) {
        add(arrays.y, row_width);
        add(arrays.mean, rows, 4);
        add(arrays.rstd, rows, 4);
    };
    add(p.layer[0].x, row_width);
    for (int64_t i = 0; i < shape.layers; ++i) {
        Bf16LayerArrays& a = p.layer[i];
        if (i > 0) a.x = p.layer[i - 1].y;
        norm(a.norm1);
        for (int64_t* const array : {&a.q, &a.k, &a.v, &a.o})
            add(*array, by_heads);
        add(a.lse, rows * shape.heads, 4);
        add(a.attended, row_width);
        add(a.middle, row_width);
        norm(a.norm2);
        add(a.up, rows * shape.hidden);
        add(a.hidden, rows * shape.hidden);
        add(a.y, row_width);
    }
    Bf16SharedArrays& s = p.shared;
    constexpr int64_t kVocabulary = wb::model::kVocabulary;
    add(s.weights, p.parameters.elements);
    add(s.targets, rows, 4);
    add(s.one_hot, rows * kVocabulary);
    add(s.angles, length * shape.rotary / 2, 8);
    norm(s.norm);
    add(s.logits, rows * kVocabulary);
    add(s.losses, rows, 4);
    add(s.qkv, 3 * row_width);
    for (int64_t* const array : {&s.d, &s.d_normed, &s.d_normed2})
        add(*array, row_width);
    add(s.d_hidden, rows * shape.hidden);
    for (int64_t* const array : {&s.turned_d[0], &s.turned_d[1], &s.turned_middle})
        add(*array, row_width);
    add(s.turned_up, rows * shape.hidden);
    add(s.turned_qkv, 3 * row_width);
    add(s.turned_logits, rows * kVocabulary);
    add(s.pieces, piece_elements(p), 4);
    add(s.sums, (rows + 63) / 64 * p.sum_columns(), 4);
    for (int64_t* const array : {&s.d_o, &s.d_q, &s.d_k, &s.d_v})
        add(*array, by_heads);
    return p;
}
