// Grades day06-llm-attention/09-blackwell-attention: what is multiplied, in counters.
#include "grade_attention.h"

#include <wb/testing/catch.h>
#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

#include <cstdint>
#include <string>

using namespace blackwell_grading;

namespace {

/// Products and sums of tensor cores since the goal began; 0 on a GPU, where no goal is
/// counted.
uint64_t tensor_flop() {
#ifdef SIMT_CPU
    return simt::check::counters("").tensor_flop;
#else
    return 0;
#endif
}

}  // namespace

TEST_CASE("attention: every key once, and with a mask half of the work", "[.][goal]") {
    // Whole tiles, four by four of 128, or fewer that are larger.
    for (const int64_t D : {64, 128})
        for (const bool causal : {false, true}) {
            const auto shape = plain_attention(1, 1, 512, 512, D, causal);
            const Goal goal("blackwell_attention");
            grade(shape, 1);
            const auto all = static_cast<uint64_t>(4 * 512 * 512 * D);
            const uint64_t allowed = causal ? all / 4 * 3 : all;
            goal.require(tensor_flop() <= allowed,
                         wb::describe(shape) + ": " + std::to_string(tensor_flop()) +
                             " FLOP of tensor cores, " + std::to_string(allowed) +
                             " would do");
        }
}
