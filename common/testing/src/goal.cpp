#include <cuda_runtime.h>
#include <wb/testing/catch.h>
#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#include <simt/counters.h>
#endif

#include <cstdio>

namespace wb::testing {

#ifdef SIMT_CPU
namespace {

constexpr const char* kSection = "goal";

/// One decimal, but none if it is a whole number.
std::string ratio(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", value);
    std::string result = text;
    if (result.ends_with(".0")) result.resize(result.size() - 2);
    return result;
}

}  // namespace

Goal::Goal(std::string implementation) : implementation_(std::move(implementation)) {
    if (!simt::check::counting_accesses()) {
        FAIL("goals are counted in the checked programs only");
    }
    simt::check::begin_section(kSection);
}

Goal::~Goal() {
    simt::check::end_section();
}

void Goal::miss(const std::string& what) const {
    std::printf(
        "wb| performance goal: %s: %s\n", implementation_.c_str(), what.c_str());
    FAIL("performance goal missed");
    throw 0;  // not reached: FAIL throws
}

void Goal::moves_at_most(double times) const {
    const simt::check::Counters c = simt::check::counters("");
    const auto judge = [&](const char* name,
                           const simt::check::GlobalCounters& global) {
        const double ideal = static_cast<double>(global.ideal_sectors);
        if (static_cast<double>(global.sectors) <= times * ideal) return;
        miss(std::string("its ") + name + " move " + ratio(global.per_request()) +
             " sectors of 32 bytes a request, " +
             ratio(ideal / static_cast<double>(global.requests)) + " would do");
    };
    judge("loads", c.global_load);
    judge("stores", c.global_store);
}

void Goal::conflicts_at_most(double times) const {
    const simt::check::Counters c = simt::check::counters("");
    const auto judge = [&](const char* name,
                           const simt::check::SharedCounters& shared) {
        if (shared.ways() <= times) return;
        miss(std::string("its ") + name + " of shared memory take " +
             ratio(shared.ways()) + " passes where one would do (bank conflicts)");
    };
    judge("loads", c.shared_load);
    judge("stores", c.shared_store);
}

void Goal::atomics_at_most(std::uint64_t count) const {
    const std::uint64_t used = simt::check::counters("").global_atomic.lanes;
    if (used <= count) return;
    miss("it takes " + std::to_string(used) + " atomic operations, at most " +
         std::to_string(count) + " are wanted");
}

void Goal::require(bool met, const std::string& what) const {
    if (!met) miss(what);
}

#else  // on a GPU: never run, for the cases are hidden

Goal::Goal(std::string implementation) : implementation_(std::move(implementation)) {
    FAIL("goals are counted in the simulator only");
}

Goal::~Goal() = default;

void Goal::miss(const std::string& what) const {
    FAIL(what);
    throw 0;  // not reached: FAIL throws
}

void Goal::moves_at_most(double) const {
    miss("not counted");
}

void Goal::conflicts_at_most(double) const {
    miss("not counted");
}

void Goal::atomics_at_most(std::uint64_t) const {
    miss("not counted");
}

void Goal::require(bool, const std::string& what) const {
    miss(what);
}

#endif

}  // namespace wb::testing
