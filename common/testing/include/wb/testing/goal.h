/// wb/testing/goal.h: performance goals in counters, for chapters about memory.
///
///     TEST_CASE("every byte that is moved is wanted", "[.][goal]") {
///         Goal goal("add_bias_nchw");
///         ... launch it with a Grader, and check its result ...
///         goal.moves_at_most(1.1);
///     }
///
/// Such cases are hidden: they run in the checked programs only (day01_x_checked),
/// where the simulator counts. ./learn runs them after a pass and reports what was
/// missed; a missed goal does not take the pass away.
#pragma once

#include <wb/testing/verdict.h>

#include <cstdint>
#include <string>

namespace wb::testing {

/// Counts what all kernels cost that are launched during its life.
class Goal {
 public:
    /// Fails the test case in a program that does not count.
    explicit Goal(std::string implementation);
    ~Goal();
    Goal(const Goal&) = delete;
    Goal& operator=(const Goal&) = delete;

    /// Loads and stores of global memory move at most `times` the sectors that could
    /// hold what their lanes want: 1 is best, 8 is a float of each sector.
    void moves_at_most(double times) const;

    /// Loads from global memory touch at most so many sectors, in at most so many loads
    /// of a warp.
    void loads_at_most(double sectors, double requests) const;

    /// Shared memory takes at most `times` the passes that it takes without bank
    /// conflicts.
    void conflicts_at_most(double times) const;

    /// At most so many atomic operations on global memory, lane by lane.
    void atomics_at_most(std::uint64_t count) const;

    /// Whatever else can be counted. @param what  said if it is not met
    void require(bool met, const std::string& what) const;

 private:
    [[noreturn]] void miss(Finding finding, double measured, double allowed) const;

    std::string implementation_;
};

}  // namespace wb::testing
