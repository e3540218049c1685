/// wb/testing/attention_again.h: calls in the arrays of an earlier one, from which they
/// differ in one thing. What was prepared for that one, and kept, is wrong.
#pragma once

#include <wb/attention.h>
#include <wb/describe.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_cases.h>
#include <wb/testing/grader.h>
#include <wb/testing/stored_types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace wb::testing {

/// A call: its shape, and which of two arrays of each kind it takes.
struct AgainCall {
    AttentionShape shape;
    std::size_t q = 0, k = 0, v = 0, o = 0, lse = 0;
    bool with_lse = true;
};

/// A call, and what is another one in the call after it.
struct Again {
    const char* what;
    std::function<void(AgainCall& before, AgainCall& now)> change;
    bool is_of_lse = false;
};

/// Of a shape of two batches and two heads of 64 numbers.
/// @param groups  whether query heads may share keys
inline std::vector<Again> all_again(bool groups) {
    using Call = AgainCall;
    std::vector<Again> all = {
        {"the scale", [](Call&, Call& now) { now.shape.scale *= 4.0f; }},
        {"the mask", [](Call&, Call& now) { now.shape.causal = true; }},
        {"one query more", [](Call& before, Call&) { before.shape.queries -= 1; }},
        {"two keys more", [](Call& before, Call&) { before.shape.keys -= 2; }},
        {"what is a batch, and what a head",
         [](Call&, Call& now) {
             now.shape.batch = 1;
             now.shape.query_heads = now.shape.kv_heads = 4;
         }},
        {"the head dimension, and the heads",
         [](Call& before, Call& now) {
             now.shape.query_heads = now.shape.kv_heads = 1;
             now.shape.head_dim = 128;
             before.with_lse = now.with_lse = false;  // of other sizes
         }},
        {"that lse is wanted",
         [](Call& before, Call&) { before.with_lse = false; },
         true},
        {"where q is", [](Call&, Call& now) { now.q = 1; }},
        {"where k is", [](Call&, Call& now) { now.k = 1; }},
        {"where v is", [](Call&, Call& now) { now.v = 1; }},
        {"where o is", [](Call&, Call& now) { now.o = 1; }},
        {"where lse is", [](Call&, Call& now) { now.lse = 1; }, true},
    };
    if (groups)
        all.push_back({"the groups", [](Call&, Call& now) { now.shape.kv_heads = 1; }});
    return all;
}

/// What stands in one of the two arrays of each kind, as far as a call reads it.
inline AttentionInputs again_inputs(const AgainCall& c,
                                    const AttentionInputs (&numbers)[2]) {
    const auto first = [](const std::vector<float>& values, int64_t n) {
        return std::vector<float>(values.begin(), values.begin() + n);
    };
    return {first(numbers[c.q].q, c.shape.query_elements()),
            first(numbers[c.k].k, c.shape.kv_elements()),
            first(numbers[c.v].v, c.shape.kv_elements())};
}

/// Grades the last version, or the learner's function, once more in the same arrays,
/// but for one thing, whichever that is.
/// @tparam T      of q, k, v and o
/// @param expect  is given a shape and inputs of T, and gives what o and lse are to be
template <class T, class Versions, class Expect>
void grade_again(const Versions& versions, bool groups, Expect expect) {
    const AttentionShape shape = plain_attention(2, 2, 20, 33, 64);
    const AttentionInputs numbers[2] = {as_stored<T>(random_attention(shape, 1)),
                                        as_stored<T>(random_attention(shape, 2))};
    const auto graded = [&](const Again& again, bool with_lse) {
        AgainCall before{shape};
        before.with_lse = with_lse;
        AgainCall now = before;
        again.change(before, now);
        const auto expected = expect(now.shape, again_inputs(now, numbers));
        for (const auto& [name, idea, attention] : last_of(versions)) {
            Grader grade(name,
                         describe(now.shape) + (now.with_lse ? "" : ", no lse") +
                             ", as before but for " + again.what);
            const T *q[2], *k[2], *v[2];
            T* o[2];
            float* lse[2];
            for (const std::size_t i : {0, 1}) {
                const std::string at = i == 0 ? "" : " elsewhere";
                const auto& of = numbers[i];
                q[i] = grade.input("q" + at, rounded<T>(of.q), Begin::vectors);
                k[i] = grade.input("k" + at, rounded<T>(of.k), Begin::vectors);
                v[i] = grade.input("v" + at, rounded<T>(of.v), Begin::vectors);
                o[i] = grade.output<T>("o" + at, {shape.query_elements()});
                lse[i] = grade.output<float>("lse" + at, {shape.rows()});
            }
            grade.run([&, attention = attention](cudaStream_t stream) {
                for (const AgainCall& c : {before, now}) {
                    float* const to = c.with_lse ? lse[c.lse] : nullptr;
                    attention(c.shape, q[c.q], k[c.k], v[c.v], o[c.o], to, stream);
                }
            });
            const auto compare = [&](const char* array,
                                     std::size_t at,
                                     const std::vector<double>& values,
                                     const std::vector<double>& bounds) {
                const std::string where = at == 0 ? "" : " elsewhere";
                grade.expect(array + where, values, [&](int64_t i) {
                    return bounds[static_cast<std::size_t>(i)];
                });
            };
            compare("o", now.o, expected.o, expected.o_bound);
            if (!now.with_lse) continue;
            compare("lse", now.lse, expected.lse, expected.lse_bound);
        }
    };
    for (const Again& again : all_again(groups)) {
        graded(again, true);
        if (!again.is_of_lse) graded(again, false);
    }
}

/// Grades one array as q, k and v: only o must not overlap them.
template <class T, class Versions, class Expect>
void grade_as_one_array(const Versions& versions, Expect expect) {
    const AttentionShape shape = plain_attention(1, 2, 33, 33, 64);
    AttentionInputs inputs = as_stored<T>(random_attention(shape, 1));
    inputs.q = inputs.k = inputs.v;
    const auto expected = expect(shape, inputs);
    for (const auto& [name, idea, attention] : last_of(versions)) {
        Grader grade(name, describe(shape) + ", q, k and v are one array");
        const T* all = grade.input("q, k and v", rounded<T>(inputs.v));
        T* o = grade.output<T>("o", {1, 2, shape.queries, shape.head_dim});
        grade.run([&, attention = attention](cudaStream_t stream) {
            attention(shape, all, all, all, o, nullptr, stream);
        });
        grade.expect("o", expected.o, [&](int64_t i) {
            return expected.o_bound[static_cast<std::size_t>(i)];
        });
    }
}

}  // namespace wb::testing
