// Grades day06-llm-attention/11-rope-and-kv-append: what loads and stores cost, in
// counters.
#include "grading.h"

#include <wb/testing/goal.h>

using namespace rope_grading;
using wb::testing::Goal;

namespace {

/// 32 tokens of 12 heads, all of 64 dimensions rotary.
Call whole(RopePairs pairs) {
    Call c{{{0, 32}}};
    c.query_heads = 8;
    c.kv_heads = 2;
    c.head_dim = 64;
    c.rotary_dim = 64;
    c.pairs = pairs;
    c.layout = packed;
    c.shuffled = false;
    return c;
}

/// The contract's function alone.
template <class Check>
void count(const Call& c, Check check) {
    const Inputs in = random_inputs<__nv_bfloat16>(c, 1);
    const auto e = expected_of<__nv_bfloat16, __nv_bfloat16>(in, 1);
    const Goal goal("rope_append_bf16");
    grade_one<__nv_bfloat16, __nv_bfloat16>(
        "rope_append_bf16", rope_append_bf16, in, e, c.text());
    check(goal);
}

}  // namespace

TEST_CASE("neighbouring threads have neighbouring pairs", "[.][goal]") {
    count(whole(RopePairs::halves), [](const Goal& goal) { goal.moves_at_most(3.0); });
}

TEST_CASE("angles are loaded once for four heads, 16 bytes a load", "[.][goal][fast]") {
    count(whole(RopePairs::halves), [](const Goal& goal) {
        // 32 tokens have 12 heads of 64 numbers, and so three groups of four heads; a
        // group has 32 angles of 8 bytes, of which a load takes two of each eight: half
        // of each sector. Each of 12 warps looks up three words of one or two tokens.
        constexpr double kNumbers = 32.0 * 12 * 64 * 2;
        constexpr double kAngles = 32.0 * 3 * 32 * 8;
        constexpr double kLookups = 3 * 12;
        goal.loads_at_most((kNumbers + 2 * kAngles) / 32 + 2 * kLookups,
                           (kNumbers + kAngles) / 16 / 32 + kLookups);
    });
}
