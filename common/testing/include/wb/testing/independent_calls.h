/// wb/testing/independent_calls.h: that calls of a launcher have nothing in common.
#pragma once

#include <functional>

namespace wb::testing {

/// Passes if a launcher keeps nothing from call to call: it is called with one set of
/// sizes, with another, and with the first again; with either after a call with other
/// numbers in the same arrays; on the default streams; then with both at once, on two
/// streams, from two host threads and from one, in some orders that these leave open;
/// with its input late. In a program that has called nothing before, the first call is
/// made twice at once. Where a tool watches (is_watched()), only some of this is done:
/// accesses are no others.
///
///     TEST_CASE("calls have nothing in common") {
///         expect_independent([] { grade_random(300, 1); },
///                            [] { grade_random(2000, 2); });
///     }
///
/// @param first, second  each grades a call with a Grader (or several); small ones, for
///                       each is made about ten times. Without GENERATE(), sections
/// @param like_first     may be left out: grades a call of the sizes of `first` with
///                       other numbers. Both are made at once, too, so that scratch
///                       memory of which there is one for each size shows
void expect_independent(const std::function<void()>& first,
                        const std::function<void()>& second,
                        const std::function<void()>& like_first = {});

}  // namespace wb::testing
