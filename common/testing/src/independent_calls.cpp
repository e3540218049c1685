#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

#include <string>

#include "meeting.h"

namespace wb::testing {
namespace {

constexpr unsigned kRestless = 1u << 30;  // see <simt/streams.h>

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

}  // namespace

void expect_independent(const std::function<void()>& first,
                        const std::function<void()>& second) {
    {
        const Restored again(calls_are_made_again());
        calls_are_made_again() = true;
        first();
    }
    {
        const Restored words(circumstance());
        circumstance() = ", after a call with other sizes";
        second();
        first();
    }
    // Even seeds: no work is done before both calls have returned.
    for (const unsigned seed : {2u, 4u, 6u}) {
        const StreamOrder order(kRestless + seed);
        Meeting().hold(first, second);
    }
}

}  // namespace wb::testing
