// Grades day06-llm-attention/12-attention-backward: where NaN and infinities go.
#include "grading.h"

#include <wb/testing/catch.h>
#include <wb/testing/simulator.h>

using namespace backward_grading;
using wb::testing::plain_attention;
using Bf16 = __nv_bfloat16;

namespace {

/// Every version of a type, on numbers of which some gradients may be NaN.
///
/// @param may  of 'q', 'k' or 'v', an element, and what is wanted there: whether NaN
///             will do in its place
template <class T, class May>
void grade_with_nan(const AttentionShape& shape,
                    const Inputs& in,
                    const std::string& text,
                    May may) {
    const Expected exact = expect<T>(shape, in);
    for (const auto& [name, idea, launch] : implementations_of<T>()) {
        Grader grade(name,
                     std::string(type_name<T>()) + ", " + wb::describe(shape) + text);
        const auto call = call_of<T>(grade, shape, in, false);
        grade.run([&, launch = launch](cudaStream_t stream) { launch(call, stream); });
        Expected e = exact;
        const auto allow = [&](char of, Wanted& w) {
            const auto got = grade.read(std::string("d") + of);
            for (std::size_t i = 0; i < got.size(); ++i) {
                if (!std::isnan(got[i]) ||
                    !may(of, static_cast<int64_t>(i), w.values[i]))
                    continue;
                w.values[i] = got[i];
                w.bounds[i] = 0.0;
            }
        };
        allow('q', e.dq);
        allow('k', e.dk);
        allow('v', e.dv);
        expect_all(grade, e);
    }
}

}  // namespace

TEST_CASE("NaN goes where the formulas take it, by a weight of 0, too") {
    // In head 0 the value of key 2: to dk of that key, and to dq of all that see it,
    // whatever their weight is. In head 1 one number of d_o: to dv of all that this
    // query sees, in its column alone, to their dk, and to dq of the query. In head 2
    // lse of a query: to what depends on its weights. To nothing else.
    const auto graded = [](auto zero, int64_t dim, bool causal = false) {
        using T = decltype(zero);
        constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
        // All queries see key 2. With a mask, the last query alone sees all keys.
        const auto shape = plain_attention(1, 3, 20, causal ? 31 : 19, dim, causal);
        Inputs in = whole_numbers(shape, 6);
        in.v[at(2 * dim + 5)] = kNaN;
        in.lse[3] = 1000.0f;
        in.d_o[at((20 + (causal ? 19 : 4)) * dim + 7)] = kNaN;
        in.lse[2 * 20 + (causal ? 19 : 9)] = kNaN;
        grade_type<T>(shape, in, ", NaN in v, d_o and lse");
    };
    graded(float(), 64);
    graded(Bf16(), 64);
    graded(Bf16(), 128);
    if (wb::testing::is_watched()) return;
    graded(float(), 128);
    for (const int64_t dim : {64, 128}) {
        graded(float(), dim, true);
        graded(Bf16(), dim, true);
    }
}

TEST_CASE("NaN and infinity of o, lse, q and k reach what the formulas say") {
    // In head 0 a number of o: to dk of all keys, and to dq of its query. In head 1 the
    // weights of a query are infinite: its dq, all dk and dv. In head 2 they are 0, and
    // a value is NaN: dq of this query, too. In head 3 they are NaN, and so is a value;
    // all of d_o is 0. Head 4 has nothing of that. In head 5 a number of the first key:
    // all of its dq, but nothing of the head before.
    const auto graded = [](auto zero, int64_t dim, bool causal, float scale = 1.0f) {
        using T = decltype(zero);
        constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        // All queries see the first keys. With a mask, the last query sees all keys.
        const int64_t keys = causal ? 31 : 19;
        auto shape = plain_attention(1, 6, 20, keys, dim, causal);
        if (scale == 0.0f) shape.scale = scale;
        Inputs in = whole_numbers(shape, 7);
        in.o[at((causal ? 19 : 3) * dim + 5)] = kNaN;
        in.lse[20 + (causal ? 19 : 9)] = -kInfinity;
        in.lse[2 * 20 + 5] = kInfinity;
        in.v[at((2 * keys + 3) * dim + 1)] = kNaN;
        const int64_t row = 3 * 20 + (causal ? 19 : 7);
        in.q[at(row * dim + 2)] = kNaN;
        in.v[at((3 * keys + 1) * dim + 4)] = kNaN;
        std::fill_n(in.d_o.begin() + 3 * 20 * dim, 20 * dim, 0.0f);
        in.k[at(5 * keys * dim + 3)] = kNaN;
        grade_type<T>(shape, in, ", NaN and infinity in o, lse, v, q and k");
    };
    for (const bool causal : {false, true}) {
        for (const int64_t dim : {64, 128}) {
            graded(float(), dim, causal);
            graded(Bf16(), dim, causal);
            if (wb::testing::is_watched()) return;
        }
        graded(float(), 64, causal, 0.0f);  // 0 * NaN is NaN
        graded(Bf16(), 64, causal, 0.0f);
    }
}

TEST_CASE("infinities of q, k, v, d_o and o reach what the formulas say") {
    // One number of each, in a head of its own. Scores are infinite, and weights 0 or
    // infinite, in the first two: 0 times infinity is NaN in dk of the one, and in dq
    // of the other.
    const auto is_infinite = [](char, int64_t, double wanted) {
        return std::isinf(wanted);
    };
    const auto graded = [&](auto zero, int64_t dim) {
        using T = decltype(zero);
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        const auto shape = plain_attention(1, 6, 20, 19, dim);
        const auto numbers = wb::testing::random_attention(shape, 10);
        Inputs in = inputs_of<T>(shape, numbers, 10);
        in.q[at(3 * dim + 2)] = kInfinity;
        in.k[at((19 + 7) * dim + 5)] = -kInfinity;
        in.v[at((2 * 19 + 18) * dim + 1)] = kInfinity;
        in.d_o[at((3 * 20 + 11) * dim + 6)] = -kInfinity;
        in.o[at((4 * 20 + 19) * dim + 3)] = kInfinity;
        grade_with_nan<T>(shape, in, ", infinities in q, k, v, d_o and o", is_infinite);
    };
    graded(float(), 64);
    graded(Bf16(), 128);
    if (wb::testing::is_watched()) return;
    graded(float(), 128);
    graded(Bf16(), 64);
}

TEST_CASE("a query that sees no key: its NaN stays with it, and with its head's keys") {
    // Its pairs are hidden ones, which may be multiplied with a weight of 0: so its dq
    // is 0 or NaN. All others are as without it.
    const auto graded = [](auto zero, int64_t dim) {
        using T = decltype(zero);
        constexpr int64_t kQueries = 30;
        constexpr int64_t kKeys = 19;
        constexpr int64_t kHidden = 8;  // of head 1; queries from 11 on see keys
        const auto shape = plain_attention(1, 3, kQueries, kKeys, dim, true);
        Inputs in = whole_numbers(shape, 11);
        in.d_o[at((kQueries + kHidden) * dim + 5)] =
            std::numeric_limits<float>::quiet_NaN();
        const auto is_of_pair = [=](char of, int64_t i, double /*wanted*/) {
            if (of == 'q') return i / dim == kQueries + kHidden;
            return i / dim / kKeys == 1;
        };
        grade_with_nan<T>(
            shape, in, ", NaN in d_o of a query that sees no key", is_of_pair);
    };
    graded(float(), 64);
    graded(Bf16(), 128);
    if (wb::testing::is_watched()) return;
    graded(float(), 128);
    graded(Bf16(), 64);
}
