// Grades day07-tuning/08-train-a-gpt: what a step writes of its memory, and with how
// many digits.
#include "grading.h"

#include <wb/testing/fail.h>

#include <utility>

using namespace gpt_grading;

namespace {

/// A plan in which no two arrays share memory, and behind each of them there are 256
/// bytes or more that belong to none.
struct Spread {
    struct Gap {
        std::string before;  ///< the name of the array before it
        int64_t first, end;
    };
    StepPlan plan;
    std::vector<Gap> gaps;

    explicit Spread(const Problem& p) : plan(plan_step(p.shape, p.batch, p.length)) {
        plan.bytes = 0;
        const int64_t rows = plan.tokens();
        const int64_t row_width = rows * p.shape.width;
        add("inputs", plan.inputs, rows, 8);
        add("targets", plan.targets, rows);
        add("angles", plan.angles, p.length * p.shape.rotary / 2, 8);
        for (int64_t i = 0; i < p.shape.layers; ++i)
            add_layer(i, p.shape, row_width);
        add_norm("norm", plan.norm, row_width);
        add("logits", plan.logits, rows * wb::model::kVocabulary);
        add("losses", plan.losses, rows);
        add("d_normed", plan.d_normed, row_width);
        add("d", plan.d, row_width);
    }

 private:
    void add(const std::string& name,
             int64_t& offset,
             int64_t count,
             int64_t each = 4) {
        offset = plan.bytes;
        const int64_t end = offset + count * each;
        plan.bytes = (end + 255) / 256 * 256 + 256;
        gaps.push_back({name, end, plan.bytes});
    }
    void add_norm(const std::string& name, NormArrays& norm, int64_t row_width) {
        add(name + ".y", norm.y, row_width);
        add(name + ".mean", norm.mean, plan.tokens());
        add(name + ".rstd", norm.rstd, plan.tokens());
    }
    void add_layer(int64_t i, const GptShape& shape, int64_t row_width) {
        LayerArrays& a = plan.layer[i];
        const int64_t row_hidden = plan.tokens() * shape.hidden;
        const int64_t by_heads = plan.tokens() * shape.heads * plan.head_dim;
        if (i == 0)
            add("x", a.x, row_width);
        else
            a.x = plan.layer[i - 1].y;
        add_norm("norm1", a.norm1, row_width);
        add("qkv", a.qkv, 3 * row_width);
        add("attended", a.attended, row_width);
        a.middle = a.x;
        if (!shape.is_parallel) add("middle", a.middle, row_width);
        add_norm("norm2", a.norm2, row_width);
        add("lse", a.lse, plan.tokens() * shape.heads);
        add("d_qkv", a.d_qkv, 3 * row_width);
        for (const auto& [name, offset] : {std::pair{"q", &a.q},
                                           {"k", &a.k},
                                           {"v", &a.v},
                                           {"o", &a.o},
                                           {"d_q", &a.d_q},
                                           {"d_k", &a.d_k},
                                           {"d_v", &a.d_v},
                                           {"d_o", &a.d_o}})
            add(name, *offset, by_heads);
        for (const auto& [name, offset] :
             {std::pair{"up", &a.up}, {"hidden", &a.hidden}, {"d_hidden", &a.d_hidden}})
            add(name, *offset, row_hidden);
        for (const auto& [name, offset] : {std::pair{"y", &a.y},
                                           {"d_normed2", &a.d_normed2},
                                           {"d_middle", &a.d_middle},
                                           {"d_attended", &a.d_attended},
                                           {"d_normed1", &a.d_normed1},
                                           {"d_first", &a.d_first}})
            add(name, *offset, row_width);
    }
};

}  // namespace

TEST_CASE("nothing is written behind an array of the plan") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    const Problem p(small(GENERATE(true, false), 2), 3, 5, 16);
    const Expected e = expect(p);
    const Spread spread(p);
    Grader grade("gpt_gradients", p.text() + ", each array by itself");
    const OnDevice on(grade, p, true, spread.plan);
    grade.run([&](cudaStream_t stream) { gpt_gradients(on.call, stream); });
    grade.expect("loss", {e.loss}, [&](int64_t) { return e.loss_bound; });
    grade.expect("gradients", e.gradients, [&](int64_t i) { return e.bounds[at(i)]; });
    const Numbers memory = grade.read("memory");
    for (const auto& [before, first, end] : spread.gaps)
        for (int64_t byte = first; byte < end; ++byte)
            if (memory[at(byte)] != 255.0)  // what outputs hold before a launch
                wb::testing::fail(
                    wb::testing::Kind::wrong_result,
                    "memory behind the array " + before + " of the plan was written",
                    p.text() + ": byte " + std::to_string(byte - first) +
                        " behind its end");
}

namespace {

/// GELU's derivative at x, and what a rounding of each of its parts may change.
struct Slope {
    double value, terms;

    explicit Slope(double x) {
        const double scale = std::sqrt(2.0 / std::acos(-1.0)), cube = 0.044715;
        const double w = 2.0 * scale * (x + cube * x * x * x);
        const double yes = 1.0 / (1.0 + std::exp(-w));
        const double no = 1.0 / (1.0 + std::exp(w));
        const double rest = 2.0 * x * yes * no * scale * (1.0 + 3.0 * cube * x * x);
        value = yes + rest;
        // Of w, that is |w| roundings of exp(w).
        terms = yes * (1.0 + no * std::abs(w)) + std::abs(rest) * (1.0 + std::abs(w));
    }
};

}  // namespace

// Through a whole step, the roundings of products hide those of GELU. So each number of
// an even column of up is one at which the slope is 1, and the column behind it is
// given the same gradient: their quotient is the slope.
TEST_CASE("the slope of GELU has its digits where it is nearly 0, and nearly 1") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    GptShape shape = small(true, 1, 1);
    shape.hidden = 128;
    Problem p(shape, 1, 3, 26);
    std::vector<float> x;
    for (int64_t i = 0; i < shape.hidden; ++i)
        x.push_back(i % 2 == 0 ? 16.0f : -7.0f + 14.0f * static_cast<float>(i) / 127);
    for (const auto& it : wb::model::gpt_parameters(shape)) {
        float* const w = &p.weights[at(it.offset)];
        if (it.name.ends_with("up.bias")) std::copy(x.begin(), x.end(), w);
        if (it.name.ends_with("up.weight") || it.name.ends_with("down.weight"))
            std::fill_n(w, it.elements(), 0.0f);
        // Of what comes back, only the first number of a token counts.
        if (it.name.ends_with("down.weight")) std::fill_n(w, shape.hidden, 1.0f);
    }
    const Spread spread(p);
    Grader grade("gpt_gradients", p.text() + ", up from -7 to 7");
    OnDevice on(grade, p, true, spread.plan);
    on.call.deterministic = true;
    const int64_t count = p.length * shape.hidden;
    float* const d_up = grade.output<float>("gradient of up", {p.length, shape.hidden});
    grade.run([&](cudaStream_t stream) {
        gpt_gradients(on.call, stream);
        CUDA_CHECK(cudaMemcpyAsync(
            d_up,
            static_cast<const char*>(on.call.memory) + on.plan.layer[0].d_hidden,
            at(count) * sizeof(float),
            cudaMemcpyDeviceToDevice,
            stream));
    });
    const Numbers got = grade.read("gradient of up");
    Numbers expected, bounds;
    for (int64_t i = 0; i < count; ++i) {
        const double d = got[at(i - i % 2)];
        const Slope slope(double{x[at(i % shape.hidden)]});
        expected.push_back(d * slope.value);
        bounds.push_back(wb::testing::float_bound(8, std::abs(d) * slope.terms));
    }
    grade.expect("gradient of up", expected, [&](int64_t i) { return bounds[at(i)]; });
}
