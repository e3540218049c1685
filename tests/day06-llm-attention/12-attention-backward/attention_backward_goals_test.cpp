// Grades day06-llm-attention/12-attention-backward: what the fast kernel costs, in
// counters.
#include "grading.h"

#include <wb/testing/goal.h>

using namespace backward_grading;
using wb::testing::Goal;
using wb::testing::plain_attention;

namespace {

/// The contract's function alone.
template <class Check>
void count(const AttentionShape& shape, Check check) {
    using Bf16 = __nv_bfloat16;
    const Inputs in = whole_numbers(shape, 1);
    const Expected e = expect<Bf16>(shape, in);
    const Goal goal("attention_backward_bf16");
    grade_one<Bf16>("attention_backward_bf16",
                    attention_backward_bf16,
                    shape,
                    in,
                    e,
                    ", whole numbers",
                    false);
    check(goal);
}

}  // namespace

TEST_CASE("dq is added up once for 128 keys", "[.][goal][fast]") {
    count(plain_attention(1, 1, 70, 250, 64), [](const Goal& goal) {
        constexpr uint64_t kElements = 70 * 64;
        goal.atomics_at_most(2 * kElements);
    });
}

TEST_CASE("shared memory without bank conflicts", "[.][goal][fast]") {
    count(plain_attention(1, 1, 64, 128, 128),
          [](const Goal& goal) { goal.conflicts_at_most(1.02); });
}
