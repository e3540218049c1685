// The counters of a kernel, for the program itself: see simt/counters.h.

#include "simt/counters.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "checker/access.h"
#include "checker/findings.h"
#include "summary.h"

namespace simt::check {
namespace {

/// Is `kernel`, perhaps an instance of a template, meant by `name`?
bool is_meant(const std::string& kernel, std::string_view name) {
    if (name.empty() || kernel == name) return true;
    return kernel.size() > name.size() && kernel.compare(0, name.size(), name) == 0 &&
           kernel[name.size()] == '<';
}

void add(GlobalCounters& to, const Cost& cost) {
    to.requests += cost.requests;
    to.lanes += cost.lanes;
    to.sectors += cost.sectors;
    to.ideal_sectors += cost.ideal_sectors;
}

void add(SharedCounters& to, const Cost& cost) {
    to.requests += cost.requests;
    to.lanes += cost.lanes;
    to.wavefronts += cost.wavefronts;
    to.ideal_wavefronts += cost.ideal_wavefronts;
    to.worst_ways = std::max<uint64_t>(to.worst_ways, cost.max_ways);
}

void add(Counters& c, const KernelSummary& summary) {
    const Kernel& kernel = *summary.kernel;
    const Totals& totals = summary.totals;
    c.launches += kernel.launches;
    c.warps += kernel.warps;
    c.barriers += totals.barriers;
    c.shuffles += kernel.shuffles;
    c.shuffles_beside_products += kernel.shuffles_beside_products;
    for (const uint64_t flop : kernel.tensor_flop)
        c.tensor_flop += flop;
    add(c.global_load, totals.global_load);
    add(c.global_store, totals.global_store);
    add(c.global_atomic, totals.global_atomic);
    add(c.async_load, totals.async);
    add(c.shared_load, totals.shared_load);
    add(c.shared_store, totals.shared_store);
    add(c.shared_atomic, totals.shared_atomic);
    c.worst_contention = std::max<uint64_t>({c.worst_contention,
                                             totals.global_atomic.max_same_address,
                                             totals.shared_atomic.max_same_address});
    c.bytes_requested += totals.bytes_requested;
    c.bytes_moved += totals.bytes_moved;
    c.bytes_read += kernel.bytes_touched;
    c.bytes_written += kernel.bytes_touched_written;
}

Counters counters_of(std::string_view name) {
    Counters c;
    uint64_t executions = 0, lanes = 0;
    const std::string& section = current_section();
    for (const Kernel& kernel : kernels()) {
        if (!is_meant(kernel.name, name)) continue;
        if (!section.empty() && kernel.section != section) continue;
        const KernelSummary summary = summary_of(kernel);
        add(c, summary);
        for (const BranchSummary& branch : summary.branches) {
            executions += branch.executions;
            lanes += branch.lanes;
        }
    }
    if (executions != 0)
        c.average_lanes = static_cast<double>(lanes) / static_cast<double>(executions);
    return c;
}

}  // namespace
}  // namespace simt::check

extern "C" {

bool simt_check_start_counting() {
    const char* wanted = std::getenv("SIMT_CHECK_COUNT");
    return simt::check::counting = !wanted || *wanted != '0';
}

bool simt_check_counting() {
    return simt::check::counting;
}

void simt_check_counters(const char* kernel,
                         size_t length,
                         simt::check::Counters* counters) {
    *counters = simt::check::counters_of({kernel, length});
}
}
