// Grades day06-llm-attention/07-tensor-core-attention: what tiles cost, in counters.
#include "grade_types.h"

#include <wb/testing/catch.h>
#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

#include <string>

using namespace wb::testing;

namespace {

/// Four tiles of 64 keys and their 64 queries: a block, for which everything is whole.
constexpr int64_t kQueries = 64;
constexpr int64_t kKeys = 256;

/// The contract's function alone, in fp16.
template <class Check>
void count(int64_t head_dim, Check check) {
    const auto shape = plain_attention(1, 1, kQueries, kKeys, head_dim);
    const auto stored = as_stored<__half>(random_attention(shape, 1));
    const auto expected = expect_stored<__half>(shape, stored);
    const Goal goal("tensor_core_attention");
    grade_rung<__half>(
        "tensor_core_attention",
        [](auto... arguments) { tensor_core_attention(arguments...); },
        shape,
        stored,
        expected,
        "");
    check(goal);
}

/// What was counted since the goal began; zeros on a GPU, where no goal is counted.
struct Counted {
    uint64_t loads = 0;  // of a warp, from global memory to registers
    uint64_t barriers = 0;
};

Counted counted() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return {c.global_load.requests, c.barriers};
#else
    return {};
#endif
}

void at_most(const Goal& goal, const char* what, uint64_t count, uint64_t allowed) {
    goal.require(count <= allowed,
                 std::to_string(count) + " " + what + ", " + std::to_string(allowed) +
                     " would do");
}

}  // namespace

TEST_CASE("ldmatrix without bank conflicts", "[.][goal][fast]") {
    for (const int64_t head_dim : {64, 128})
        count(head_dim, [](const Goal& goal) { goal.conflicts_at_most(1.02); });
}

TEST_CASE("tiles go through no register", "[.][goal][fast]") {
    count(128, [](const Goal& goal) {
        at_most(goal, "loads of a warp to registers", counted().loads, 0);
    });
}

TEST_CASE("one barrier a tile", "[.][goal][fast]") {
    count(128, [](const Goal& goal) {
        // And one for what is done before the first.
        at_most(goal, "barriers of a block", counted().barriers, kKeys / 64 + 1);
    });
}
