// Grades day05-quantization/04-fp4-linear: what loads cost, in counters.
#include "grading.h"

#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

using namespace fp4_grading;
using wb::testing::Goal;

namespace {

/// A product of one block: 64 rows of x, 32 rows of W, 512 columns, 128 for each warp.
constexpr Call kWhole = {64, 32, 512, Fp4Scales::channel};
constexpr uint64_t kWarps = 4;

/// Loads of a warp since the goal began; zeros on a GPU, where no goal is counted.
struct Counted {
    uint64_t global = 0;
    uint64_t shared = 0;
};

Counted counted() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return {c.global_load.requests, c.shared_load.requests};
#else
    return {};
#endif
}

/// The contract's product alone.
template <class Check>
void count_product(const Call& c, Check check) {
    const Fp4Matrix w = exact_weights(c, 1);
    const auto x = whole_x(c);
    const Expected expected = expected_of(c, w, x, {}, true);
    const Goal goal("fp4_linear");
    grade_one("fp4_linear", fp4_linear, c, w, x, expected, "");
    check(goal);
}

}  // namespace

TEST_CASE("product: neighbouring lanes have neighbouring bytes", "[.][goal]") {
    // A load of v5 has 16 bytes of each of eight rows, half of a sector; the next one
    // has the other half, from L1. Lanes that are a row apart would move 32 times as
    // much as they want.
    count_product({1, 32, 1024, Fp4Scales::channel},
                  [](const Goal& goal) { goal.moves_at_most(2.2); });
}

TEST_CASE("a word is loaded once for all rows of x, and x once for all words",
          "[.][goal][fast]") {
    count_product(kWhole, [](const Goal& goal) {
        // A warp loads 16 times words, and 8 tiles of x for each 32 columns. Then each
        // sum of the block is multiplied with its scale.
        const uint64_t allowed = kWarps * (16 + 4 * 8) + 64 * 32 / 32;
        goal.require(counted().global <= allowed,
                     std::to_string(counted().global) + " loads of a warp, " +
                         std::to_string(allowed) + " would do");
    });
}

TEST_CASE("no weight is looked up in memory", "[.][goal][fast]") {
    count_product(kWhole, [](const Goal& goal) {
        const uint64_t allowed = kWarps * 64 * 32 / 32;  // where sums come together
        goal.require(counted().shared <= allowed,
                     std::to_string(counted().shared) +
                         " loads of a warp from shared memory, " +
                         std::to_string(allowed) + " would do");
    });
}
