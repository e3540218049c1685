#include <wb/testing/covering.h>
#include <wb/testing/fail.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

#include <optional>
#include <string>
#include <utility>

#include "meeting.h"

namespace wb::testing {
namespace {

// See <simt/streams.h>. Even seeds: no work is done before both calls have returned.
// Where two launchers of two kernels each share scratch memory, one in five of the
// orders that change at any time shows it, and each that goes in step.
constexpr unsigned kOrders[] = {(1u << 31) + 2, (1u << 30) + 4, (1u << 30) + 6};

// Of the calls that take turns: that goes in step.
constexpr unsigned kOrderOfTurns = (1u << 31) + 8;

/// Puts a value back.
template <class T>
class Restored {
 public:
    explicit Restored(T& value) : value_(value), before_(value) {}
    ~Restored() { value_ = before_; }
    Restored(const Restored&) = delete;
    Restored& operator=(const Restored&) = delete;

 private:
    T& value_;
    T before_;
};

/// Makes a call twice at once before any other of the process, if that is still to be
/// had. What the first one prepares on its stream, for all that follow, is not there
/// for the second one. A launcher that is wrong by itself is told so in simpler words:
/// what is found here is kept for the end.
std::optional<Finding> finding_of_first_calls(const std::function<void()>& call) {
    static bool have_been_made = false;
    if (std::exchange(have_been_made, true)) return std::nullopt;
    const Restored withheld(failures_are_withheld());
    failures_are_withheld() = true;
    try {
        const StreamOrder order(kOrders[0]);
        Meeting().from_one_thread().second_ahead().hold(call, call);
    } catch (Withheld& failure) {
        failure.finding.inputs += ", the first calls of the program";
        return std::move(failure.finding);
    }
    return std::nullopt;
}

/// Calls after others: on the default streams, with other numbers in the same arrays,
/// with other sizes.
void make_after_others(const std::function<void()>& first,
                       const std::function<void()>& second) {
    {
        const Restored streams(default_streams_come_first());
        default_streams_come_first() = true;
        second();
    }
    const auto after_other_numbers = [](const std::function<void()>& call) {
        const Restored words(circumstance());
        const Restored others(other_numbers_come_first());
        circumstance() = ", after a call with other numbers in the same arrays";
        other_numbers_come_first() = true;
        call();
    };
    after_other_numbers(second);
    {
        const Restored words(circumstance());
        circumstance() = ", after a call with other sizes";
        first();
    }
    after_other_numbers(first);
}

/// Two calls at once: what both use, a tool that watches sees in any order of them, so
/// there they are made in one.
void make_at_once(const std::function<void()>& first,
                  const std::function<void()>& second,
                  const std::function<void()>& like_first) {
    for (const unsigned seed : kOrders) {
        const StreamOrder order(seed);
        Meeting().hold(first, second);
        if (like_first) Meeting().hold(first, like_first);
        if (is_watched()) return;
    }
    {
        const StreamOrder order(kOrders[0]);
        Meeting().from_one_thread().hold(first, second);
    }
    const StreamOrder order(kOrderOfTurns);
    Meeting(true).hold(first, second);
    if (like_first) Meeting(true).hold(first, like_first);
}

}  // namespace

void expect_independent(const std::function<void()>& first,
                        const std::function<void()>& second,
                        const std::function<void()>& like_first) {
    auto of_first_calls = finding_of_first_calls(first);
    {
        const Restored again(calls_are_made_again());
        calls_are_made_again() = true;
        first();
    }
    if (!is_watched()) make_after_others(first, second);  // accesses are no others
    make_at_once(first, second, like_first);
    if (of_first_calls) fail(std::move(*of_first_calls));
}

}  // namespace wb::testing
