// Grades day03-parallel-patterns/07-losses: goals in counters of memory accesses.
#include "sampled_cases.h"

#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

using namespace losses_cases;
using wb::testing::Goal;

namespace {

/// At most `times` the loads of 16 bytes a lane that `floats` elements need.
void loads_at_most(const Goal& goal, int64_t floats, double times) {
#ifdef SIMT_CPU
    const auto loads = simt::check::counters("").global_load;
    const double requests = static_cast<double>(floats) / 128.0 * times;
    goal.require(static_cast<double>(loads.requests) <= requests,
                 std::to_string(loads.requests) + " loads of a warp, " +
                     std::to_string(std::lround(requests)) + " would do");
#else
    (void)goal, (void)floats, (void)times;
#endif
}

Bce some_answers(int64_t n) {
    Bce p;
    p.logits = wb::testing::random_normal(n, 1);
    p.targets = Floats(at(n), 1.0f);
    return p;
}

Sampled some_queries() {
    return random_sampled({8, 8, 8192, false}, 1);
}

}  // namespace

TEST_CASE("l2: neighbouring lanes have neighbouring columns", "[.][goal]") {
    const Rows s = {16, 1024};
    const ContractAlone alone;
    const Goal goal("l2_normalize");
    grade_l2(s, wb::testing::random_normal(16 * 1024, 1), ", goal");
    goal.moves_at_most(1.02);
}

TEST_CASE("bce: neighbouring lanes have neighbouring elements", "[.][goal]") {
    const ContractAlone alone;
    const Goal goal("bce_with_logits");
    grade_bce(some_answers(1 << 14), ", goal");
    goal.moves_at_most(1.02);
}

TEST_CASE("sampled: neighbouring lanes have neighbouring items", "[.][goal]") {
    const ContractAlone alone;
    const Goal goal("sampled_softmax");
    grade_sampled(some_queries(), ", goal");
    goal.moves_at_most(1.02);
}

TEST_CASE("bce: each element is loaded once, 16 bytes a lane", "[.][goal][fast]") {
    const ContractAlone alone;
    const Goal goal("bce_with_logits");
    grade_bce(some_answers(1 << 14), ", goal");
    loads_at_most(goal, 2 << 14, 1.1);
}

TEST_CASE("sampled: each logit is loaded once, ids once for four", "[.][goal][fast]") {
    const ContractAlone alone;
    const Goal goal("sampled_softmax");
    grade_sampled(some_queries(), ", goal");
    loads_at_most(goal, 8 * 8192, 1.6);
}
