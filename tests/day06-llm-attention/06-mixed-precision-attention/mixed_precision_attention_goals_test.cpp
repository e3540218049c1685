// Grades day06-llm-attention/06-mixed-precision-attention: what loads and stores cost,
// in counters.
#include "grade_types.h"

#include <wb/testing/catch.h>
#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

#include <string>

using namespace wb::testing;

namespace {

/// A block of 128 queries for which all tiles are whole.
constexpr int64_t kQueries = 128;
constexpr int64_t kKeys = 128;
constexpr int64_t kDim = 64;

/// The contract's function alone, in fp16 and without lse.
template <class Check>
void count(Check check) {
    const auto shape = plain_attention(1, 1, kQueries, kKeys, kDim);
    const auto inputs = as_stored<__half>(random_attention(shape, 1));
    const auto expected = expect_attention(shape, inputs);
    const Goal goal("mixed_precision_attention");
    Grader grade("mixed_precision_attention", describe(shape));
    const __half* q = grade.input("q", rounded<__half>(inputs.q));
    const __half* k = grade.input("k", rounded<__half>(inputs.k));
    const __half* v = grade.input("v", rounded<__half>(inputs.v));
    __half* o = grade.output<__half>("o", {kQueries, kDim});
    grade.run([&](cudaStream_t stream) {
        mixed_precision_attention(shape, q, k, v, o, nullptr, stream);
    });
    grade.expect("o", expected.o, [&](int64_t i) {
        const auto at = static_cast<size_t>(i);
        return stored_bound<__half>(expected.o[at], expected.o_bound[at]);
    });
    check(goal);
}

/// Stores of a warp since the goal began; 0 on a GPU, where no goal is counted.
struct Stores {
    uint64_t global = 0;
    uint64_t shared = 0;
};

Stores stores() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return {c.global_store.requests, c.shared_store.requests};
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

TEST_CASE("each number is loaded once for a block, 16 bytes a lane",
          "[.][goal][fast]") {
    count([](const Goal& goal) {
        constexpr double kBytes = 2.0 * (kQueries + 2 * kKeys) * kDim;
        goal.loads_at_most(1.02 * kBytes / 32, 1.02 * kBytes / 512);
    });
}

TEST_CASE("floats go to shared memory by fours", "[.][goal][fast]") {
    count([](const Goal& goal) {
        // All that is loaded, and the weights.
        constexpr int64_t kFloats = (kQueries + 2 * kKeys) * kDim + kQueries * kKeys;
        at_most(goal,
                "stores of a warp to shared memory",
                stores().shared,
                kFloats / (4 * 32));
    });
}

TEST_CASE("o is stored 8 bytes a lane", "[.][goal][fast]") {
    count([](const Goal& goal) {
        at_most(goal,
                "stores of a warp to global memory",
                stores().global,
                kQueries * kDim / (4 * 32));
    });
}
