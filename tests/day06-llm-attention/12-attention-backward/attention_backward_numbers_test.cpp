// Grades day06-llm-attention/12-attention-backward: the reference, numbers at which
// shortcuts show, and rounding.
#include "grading.h"

#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/simulator.h>

using namespace backward_grading;
using wb::testing::plain_attention;
using Bf16 = __nv_bfloat16;

namespace {

using Doubles = wb::reference::BackwardInputs<double>;

/// Inputs in double, with an output and a log-sum-exp that belong to them exactly.
Doubles exact_inputs(const AttentionShape& shape, std::uint64_t seed) {
    const auto numbers = wb::testing::random_attention(shape, seed);
    Doubles in;
    in.q.assign(numbers.q.begin(), numbers.q.end());
    in.k.assign(numbers.k.begin(), numbers.k.end());
    in.v.assign(numbers.v.begin(), numbers.v.end());
    wb::testing::Random random(seed + 7);
    for (int64_t i = 0; i < shape.query_elements(); ++i)
        in.d_o.push_back(random.normal());
    return in;
}

/// o and lse of q, k and v; and their loss, the sum of d_o * o.
double forward(const AttentionShape& shape, Doubles& in) {
    double loss = 0.0;
    in.o.assign(at(shape.query_elements()), 0.0);
    in.lse.clear();
    const int64_t D = shape.head_dim;
    const int64_t group = shape.query_heads / shape.kv_heads;
    for (int64_t row = 0; row < shape.rows(); ++row) {
        const int64_t first = row / shape.queries / group * shape.keys;
        const int64_t visible = wb::visible_keys(
            shape.queries, shape.keys, shape.causal, row % shape.queries);
        std::vector<double> weights;
        double sum = 0.0;
        for (int64_t key = 0; key < visible; ++key) {
            double score = 0.0;
            for (int64_t d = 0; d < D; ++d)
                score += in.q[at(row * D + d)] * in.k[at((first + key) * D + d)];
            weights.push_back(std::exp(double{shape.scale} * score));
            sum += weights.back();
        }
        in.lse.push_back(std::log(sum));
        for (int64_t d = 0; d < D; ++d) {
            double& o = in.o[at(row * D + d)];
            for (int64_t key = 0; key < visible; ++key)
                o += weights[at(key)] / sum * in.v[at((first + key) * D + d)];
            loss += o * in.d_o[at(row * D + d)];
        }
    }
    return loss;
}

/// The reference beside central differences of the loss, for some numbers of an array.
void compare_differences(const AttentionShape& shape,
                         const Doubles& in,
                         std::vector<double> Doubles::*array,
                         const std::vector<double>& gradient) {
    constexpr double kStep = 0x1p-14;
    REQUIRE(gradient.size() == (in.*array).size());
    for (std::size_t i = 0; i < gradient.size(); i += 37) {
        Doubles moved = in;
        (moved.*array)[i] = (in.*array)[i] + kStep;
        const double above = forward(shape, moved);
        (moved.*array)[i] = (in.*array)[i] - kStep;
        const double below = forward(shape, moved);
        const double difference = (above - below) / (2.0 * kStep);
        // The third derivative times kStep^2 / 6, and what subtraction loses.
        INFO("element " << i << ": " << gradient[i] << " beside " << difference);
        CHECK(std::abs(gradient[i] - difference) <=
              1e-5 * (1.0 + std::abs(difference)));
    }
}

/// The root of the mean square of errors.
double error_of(const std::vector<double>& got, const std::vector<double>& exact) {
    double sum = 0.0;
    for (std::size_t i = 0; i < exact.size(); ++i)
        sum += (got[i] - exact[i]) * (got[i] - exact[i]);
    return std::sqrt(sum / static_cast<double>(exact.size()));
}

/// Plain steps in double but for what must be bf16: the weights and the gradients of
/// scores, as they are multiplied, and the results.
wb::reference::AttentionGradients plain_steps(const AttentionShape& shape,
                                              const Inputs& in) {
    const int64_t D = shape.head_dim;
    wb::reference::AttentionGradients g;
    g.dq.assign(at(shape.query_elements()), 0.0);
    g.dk.assign(at(shape.kv_elements()), 0.0);
    g.dv.assign(at(shape.kv_elements()), 0.0);
    (void)wb::reference::attention_backward(
        shape, in, [&](const wb::reference::BackwardPair& pair) {
            const double weight = stored<Bf16>(pair.weight);
            const double scaled = double{shape.scale} * stored<Bf16>(pair.d_score);
            for (int64_t d = 0; d < D; ++d) {
                const auto of_row = at(pair.row * D + d);
                const auto of_key = at(pair.kv_row * D + d);
                g.dq[of_row] += scaled * double{in.k[of_key]};
                g.dk[of_key] += scaled * double{in.q[of_row]};
                g.dv[of_key] += weight * double{in.d_o[of_row]};
            }
        });
    for (auto* array : {&g.dq, &g.dk, &g.dv})
        for (double& x : *array)
            x = stored<Bf16>(x);
    return g;
}

}  // namespace

TEST_CASE("the reference agrees with finite differences") {
    // What is not written yet is not right.
    grade_type<float>(plain_attention(1, 1, 2, 2, 64),
                      whole_numbers(plain_attention(1, 1, 2, 2, 64), 1),
                      ", whole numbers");
    auto shape = grouped(plain_attention(2, 2, 4, 5, 64, true), 2);
    for (const bool causal : {false, true}) {
        shape.causal = causal;
        Doubles in = exact_inputs(shape, 3);
        (void)forward(shape, in);
        const auto g = wb::reference::attention_backward(
            shape, in, [](const wb::reference::BackwardPair&) {});
        compare_differences(shape, in, &Doubles::q, g.dq);
        compare_differences(shape, in, &Doubles::k, g.dk);
        compare_differences(shape, in, &Doubles::v, g.dv);
    }
}

TEST_CASE("the error is that of rounding P, S and the results, no more", "[values]") {
    // The bound of an element must allow for roundings that all go one way. They do
    // not: over all elements, the error is that of plain steps with the same roundings.
    // Half as much again is allowed. A kernel that rounds anything else to bf16 is
    // outside: sums between tiles, dq as it is added up, delta.
    const auto shape = GENERATE(plain_attention(1, 1, 192, 260, 64),
                                plain_attention(1, 1, 50, 520, 128));
    if (wb::testing::is_watched() && shape.head_dim == 128) return;
    const auto numbers = wb::testing::random_attention(shape, 3);
    const Inputs in = inputs_of<Bf16>(shape, numbers, 3);
    const Expected e = expect<Bf16>(shape, in);
    const auto plain = plain_steps(shape, in);
    for (const auto& [name, idea, launch] : implementations_of<Bf16>()) {
        Grader grade(name, "bf16, beside plain steps, " + wb::describe(shape));
        const auto call = call_of<Bf16>(grade, shape, in, false);
        grade.run([&, launch = launch](cudaStream_t stream) { launch(call, stream); });
        const auto compare = [&](const char* array,
                                 const Wanted& w,
                                 const std::vector<double>& steps) {
            grade.expect(array, w.values, [&](int64_t i) { return w.bounds[at(i)]; });
            const double error = error_of(grade.read(array), w.values);
            const double allowed = 1.5 * error_of(steps, w.values);
            if (error <= allowed) return;
            wb::testing::fail(wb::testing::Kind::wrong_result,
                              name + ": " + array + " is off by " +
                                  std::to_string(error) + " in the root mean square",
                              "plain steps with the same roundings are off by " +
                                  std::to_string(allowed / 1.5));
        };
        compare("dv", e.dv, plain.dv);
        compare("dk", e.dk, plain.dk);
        compare("dq", e.dq, plain.dq);
    }
}

TEST_CASE("whole numbers add up exactly") {
    for (const bool deterministic : {false, true}) {
        if (deterministic && shows_all_without_flag()) continue;
        for (const auto& shape : {plain_attention(1, 1, 300, 3, 64),
                                  plain_attention(1, 1, 3, 300, 128),
                                  grouped(plain_attention(1, 1, 70, 3, 128, true), 3)})
            grade_type<Bf16>(
                shape, whole_numbers(shape, 2), ", whole numbers", deterministic);
    }
}

TEST_CASE("fp32: more than 2048 keys or queries", "[long]") {
    for (const int64_t dim : {64, 128}) {
        for (const auto& shape : {plain_attention(1, 1, 1, 2101, dim),
                                  plain_attention(1, 1, 2, 2101, dim, true),
                                  plain_attention(1, 1, 2101, 1, dim)}) {
            // Under the checker, what it has seen before takes a minute.
            if (wb::testing::is_watched() && (dim == 128 || shape.causal)) continue;
            grade_type<float>(shape, whole_numbers(shape, 3), ", whole numbers");
        }
    }
}

TEST_CASE("fp32: more keys, or queries, than 16 bits count", "[long]") {
    if (wb::testing::is_watched()) return;
    const int64_t keys = GENERATE(as<int64_t>(), 1, 65'539);
    const auto shape = plain_attention(1, 1, 65'540 - keys, keys, 64);
    const Inputs in = whole_numbers(shape, 3);
    const Expected e = expect<float>(shape, in);
    for (const auto& [name, idea, launch] :
         wb::testing::last_of(implementations_of<float>()))
        grade_one<float>(name, launch, shape, in, e, ", whole numbers", false);
}

TEST_CASE("fp32: a group of more than 1024 heads", "[long]") {
    const auto graded = [](const AttentionShape& shape) {
        grade_type<float>(shape, whole_numbers(shape, 3), ", whole numbers");
    };
    graded(grouped(plain_attention(1, 1, 1, 2, 64), 1031));
    if (wb::testing::is_watched()) return;
    graded(grouped(plain_attention(1, 1, 1, 2, 128), 263));
}

TEST_CASE("bf16: a group of more than 128 heads", "[long]") {
    if (wb::testing::is_watched()) return;
    for (const int64_t dim : {64, 128})
        grade_last(grouped(plain_attention(1, 1, 1, 2, dim), 131), dim == 64);
}

TEST_CASE("more than 1024 sequences, each with its gradients", "[long]") {
    if (wb::testing::is_watched()) return;
    const auto shape = plain_attention(1031, 1, 1, 2, 64);
    const Inputs in = whole_numbers(shape, 3);
    const Expected e = expect<float>(shape, in);
    for (const auto& [name, idea, launch] :
         wb::testing::last_of(implementations_of<float>()))
        grade_one<float>(name, launch, shape, in, e, ", whole numbers", false);
#ifndef SIMT_CPU
    grade_last(shape, false);  // tensor cores take the simulator too long
#endif
}

TEST_CASE("bf16: more than 8192 keys: 64 blocks own some", "[long]") {
    grade_last(plain_attention(1, 1, 1, 8203, 64), false);
}

TEST_CASE("bf16: more than 8192 queries: 64 blocks own some", "[long]") {
    grade_last(plain_attention(1, 1, 8203, 1, 64), true);
}

TEST_CASE("bf16: more than 4096 queries or keys, of both head dimensions", "[long]") {
    // Where the order may change from run to run, another version may be at work.
    for (const int64_t dim : {64, 128}) {
        for (const bool deterministic : {false, true}) {
            grade_last(plain_attention(1, 1, 4243, 3, dim), deterministic);
            grade_last(plain_attention(1, 1, 3, 4243, dim, true), deterministic);
        }
    }
}

TEST_CASE("two groups of heads, many keys and many queries") {
    // Under the checker, what it has seen before takes long.
    if (wb::testing::is_watched()) return;
    const auto shape = grouped(plain_attention(1, 2, 270, 530, 64), 2);
    const Inputs in = whole_numbers(shape, 3);
    const Expected e = expect<float>(shape, in);
    for (const auto& [name, idea, launch] :
         wb::testing::last_of(implementations_of<float>()))
        grade_one<float>(name, launch, shape, in, e, ", whole numbers", false);
    grade_last(shape, false);
}

TEST_CASE("bf16: so many queries that two of three heads of keys fill a cache") {
    // Of most queries nothing is read or multiplied: they see no key.
    for (const bool deterministic : {false, true})
        grade_last(grouped(plain_attention(1, 3, 3072, 130, 64, true), 4),
                   deterministic);
}

TEST_CASE("keys and queries of one head in more than 1024 tiles", "[large]") {
    const auto small = plain_attention(1, 1, 1, 1, 64);
    grade_type<Bf16>(small, whole_numbers(small, 1), ", whole numbers");
#ifdef SIMT_CPU
    WB_SKIP("65,600 keys on tensor cores take the simulator too long");
#else
    for (const auto& shape : {plain_attention(1, 1, 2, 66'001, 64),
                              plain_attention(1, 1, 66'001, 2, 64),
                              grouped(plain_attention(1, 1, 3, 2, 64), 1031)})
        grade_type<Bf16>(shape, whole_numbers(shape, 3), ", whole numbers");
#endif
}

TEST_CASE("gradients past 65504, and far below 1") {
    for (const float size : {0x1p20f, 0x1p-40f, 0x1p90f}) {
        const auto shape = plain_attention(1, 1, 35, 40, 64);
        const auto graded = [&](auto zero) {
            using T = decltype(zero);
            Inputs in = inputs_of<T>(shape, wb::testing::random_attention(shape, 4), 4);
            for (float& x : in.d_o)
                x *= size;
            grade_type<T>(shape, in, ", d_o times " + std::to_string(size));
            if (size > 1.0f && !wb::testing::is_watched()) {
                for (auto* array : {&in.v, &in.o})
                    for (float& x : *array)
                        x = static_cast<float>(stored<T>(std::ldexp(x, -130)));
                grade_type<T>(
                    shape,
                    in,
                    ", d_o times " + std::to_string(size) + ", subnormal v and o");
            }
            if (size <= 0x1p20f) return;
            for (float& x : in.lse)
                x += 75.0f;  // weights below 2^-108
            grade_type<T>(shape, in, ", d_o of 2^90, and small weights");
        };
        graded(float());
        graded(Bf16());
    }
}

TEST_CASE("rows of zeros are rows like any other") {
    // Their weights are exp(-lse), for any o and lse.
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    const auto graded = [](auto zero, bool causal) {
        using T = decltype(zero);
        const auto shape = plain_attention(1, 5, 40, 35, 64, causal);
        Inputs in = whole_numbers(shape, 12);
        const auto clear = [&](std::vector<float>& rows, int64_t row, int64_t count) {
            std::fill_n(rows.begin() + row * 64, count * 64, 0.0f);
        };
        clear(in.q, 20, 20);
        clear(in.k, 35 + 16, 19);
        clear(in.v, 2 * 35 + 16, 19);
        clear(in.k, 3 * 35 + 16, 19);
        clear(in.v, 3 * 35 + 16, 19);
        clear(in.o, 4 * 40 + 20, 20);
        grade_type<T>(shape, in, ", rows of zeros");
    };
    for (const bool causal : {false, true}) {
        graded(float(), causal);
        graded(Bf16(), causal);
    }
}

TEST_CASE("subnormal q, k and d_o, whose gradients are normal numbers", "[values]") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    const auto shape = plain_attention(1, 1, 35, 40, 64);
    const auto numbers = wb::testing::random_attention(shape, 13);
    const auto scaled = []<class T>(T, std::vector<float>& array, int power) {
        for (float& x : array)
            x = static_cast<float>(stored<T>(std::ldexp(x, power)));
    };
    const auto graded = [&](auto zero) {
        using T = decltype(zero);
        Inputs in = inputs_of<T>(shape, numbers, 13);
        scaled(zero, in.q, -130);
        scaled(zero, in.d_o, 60);
        grade_type<T>(shape, in, ", subnormal q");
        in = inputs_of<T>(shape, numbers, 13);
        scaled(zero, in.k, -130);
        scaled(zero, in.d_o, 60);
        grade_type<T>(shape, in, ", subnormal k");
        in = inputs_of<T>(shape, numbers, 13);
        scaled(zero, in.d_o, -130);
        for (float& x : in.lse)
            x -= 60.0f;  // weights near 2^80
        grade_type<T>(shape, in, ", subnormal d_o");
    };
    graded(float());
    graded(Bf16());
}

TEST_CASE("scores of -2^17: what the mask hides has no weight, however low it is put") {
    const auto graded = [](auto zero, int64_t queries, int64_t keys) {
        using T = decltype(zero);
        auto shape = plain_attention(1, 1, queries, keys, 64, true);
        shape.scale = 1.0f;
        Inputs in = whole_numbers(shape, 8);
        for (std::size_t i = 0; i < in.q.size(); i += 64)
            in.q[i] = 512.0f;
        for (std::size_t i = 0; i < in.k.size(); i += 64)
            in.k[i] = -256.0f;
        for (float& x : in.lse)
            x -= 0x1p17f;
        grade_type<T>(shape, in, ", each score -2^17");
    };
    graded(float(), 9, 20);
    graded(Bf16(), 9, 20);
    graded(float(), 40, 35);
    graded(Bf16(), 40, 35);
}

TEST_CASE("scales near the ends of float, for numbers near the other end", "[values]") {
    // Sums of products stay below 2^127, and so scores of the subnormal scale near 0.
    const auto graded = [](auto zero, int64_t dim, float scale, int power) {
        using T = decltype(zero);
        auto shape = plain_attention(1, 1, 20, 33, dim);
        shape.scale = scale;
        auto numbers = wb::testing::random_attention(shape, 9);
        for (auto* array : {&numbers.q, &numbers.k})
            for (float& x : *array)
                x = std::ldexp(x, power);
        const Inputs in = inputs_of<T>(shape, numbers, 9);
        grade_type<T>(shape, in, ", q and k times 2^" + std::to_string(power));
    };
    if (wb::testing::is_watched()) return;
    for (const int64_t dim : {64, 128}) {
        graded(float(), dim, 0x1p-129f, 56);
        graded(Bf16(), dim, 0x1p-129f, 56);
        graded(float(), dim, 0x1p+117f, -60);
        graded(Bf16(), dim, 0x1p+117f, -60);
    }
}

TEST_CASE("a scale of zero: dq and dk are zeros") {
    auto shape = plain_attention(1, 2, 20, 33, 64);
    shape.scale = 0.0f;
    grade(shape);
}
