#include <cuda_runtime.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#include <simt/counters.h>
#endif

#include <cmath>
#include <string>

namespace wb::testing {

#ifdef SIMT_CPU
namespace {

/// A section of its own for each goal of a program: counters of sections with one name
/// would add up.
std::string next_section() {
    static int goals = 0;
    return "goal " + std::to_string(++goals);
}

/// What a goal is about: nothing is missed yet.
Finding about(const std::string& detail, const char* accesses = "") {
    Finding finding{Kind::goal_missed, detail};
    finding.numbers.array = accesses;
    return finding;
}

}  // namespace

Goal::Goal(std::string implementation) : implementation_(std::move(implementation)) {
    if (!simt::check::counting_accesses()) {
        FAIL("goals are counted in the checked programs only");
    }
    simt::check::begin_section(next_section().c_str());
}

Goal::~Goal() {
    simt::check::end_section();
}

void Goal::miss(Finding finding, double measured, double allowed) const {
    finding.implementation = implementation_;
    finding.numbers.measured = measured;
    finding.numbers.allowed = allowed;
    fail(std::move(finding));
}

void Goal::moves_at_most(double times) const {
    const simt::check::Counters c = simt::check::counters("");
    const auto judge = [&](const char* name,
                           const simt::check::GlobalCounters& global) {
        const double ideal = static_cast<double>(global.ideal_sectors);
        if (static_cast<double>(global.sectors) <= times * ideal) return;
        miss(about("sectors", name),
             global.per_request(),
             ideal / static_cast<double>(global.requests));
    };
    judge("loads", c.global_load);
    judge("stores", c.global_store);
}

void Goal::loads_at_most(double sectors, double requests) const {
    const auto loads = simt::check::counters("").global_load;
    const auto judge = [&](std::uint64_t count, double most, const char* what) {
        require(static_cast<double>(count) <= most,
                std::to_string(count) + what + std::to_string(std::lround(most)) +
                    " would do");
    };
    judge(loads.sectors, sectors, " sectors are loaded, ");
    judge(loads.requests, requests, " loads of a warp, ");
}

void Goal::conflicts_at_most(double times) const {
    const simt::check::Counters c = simt::check::counters("");
    const auto judge = [&](const char* name,
                           const simt::check::SharedCounters& shared) {
        if (shared.ways() <= times) return;
        miss(about("bank_conflicts", name), shared.ways(), 1.0);
    };
    judge("loads", c.shared_load);
    judge("stores", c.shared_store);
}

void Goal::atomics_at_most(std::uint64_t count) const {
    const std::uint64_t used = simt::check::counters("").global_atomic.lanes;
    if (used <= count) return;
    miss(about("atomics"), static_cast<double>(used), static_cast<double>(count));
}

void Goal::require(bool met, const std::string& what) const {
    if (met) return;
    Finding missed{Kind::goal_missed};
    missed.implementation = implementation_;
    missed.what = what;
    fail(std::move(missed));
}

#else  // on a GPU: never run, for the cases are hidden

Goal::Goal(std::string implementation) : implementation_(std::move(implementation)) {
    FAIL("goals are counted in the simulator only");
}

Goal::~Goal() = default;

void Goal::miss(Finding finding, double, double) const {
    fail(std::move(finding));
}

void Goal::moves_at_most(double) const {}

void Goal::loads_at_most(double, double) const {}

void Goal::conflicts_at_most(double) const {}

void Goal::atomics_at_most(std::uint64_t) const {}

void Goal::require(bool, const std::string&) const {}

#endif

}  // namespace wb::testing
