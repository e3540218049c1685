#include "summary.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "checker/addr2line.h"
#include "checker/sites.h"
#include "core/symbolize.h"

namespace simt::check {
namespace {

std::vector<LineSummary> lines_of(const Kernel& kernel) {
    std::map<std::tuple<std::string, int, What, Space, unsigned>, Cost> sums;
    for (const Kernel::Row& row : kernel.rows()) {
        const Point& p = point(row.point);
        if (p.what == What::block) continue;
        const Place& place = site(p.site).place;
        sums[{place.file, place.line, p.what, p.space, p.bytes}].add(row.cost);
    }
    std::vector<LineSummary> lines;
    for (const auto& [key, cost] : sums) {
        const auto& [file, line, what, space, bytes] = key;
        lines.push_back({file, line, what, space, bytes, cost});
    }
    return lines;
}

/// The line of a basic block; line 0 if it begins in a library function, whose branches
/// a GPU may not have: it converts a number to half, say, by one instruction.
const Place& place_of_block(uintptr_t pc) {
    static auto& places = *new std::unordered_map<uintptr_t, Place>;
    const auto [it, fresh] = places.try_emplace(pc);
    if (!fresh) return it->second;
    const std::vector<std::string> lines = lines_at(pc - 1);
    if (lines.empty()) return it->second;
    const std::string& innermost = lines.front();
    const size_t colon = innermost.rfind(':');
    const std::string file = innermost.substr(0, std::min(colon, innermost.size()));
    if (colon != std::string::npos && detail::is_users(file) && !is_wrapper(file))
        it->second = {file, std::atoi(innermost.c_str() + colon + 1)};
    return it->second;
}

std::vector<BranchSummary> branches_of(const Kernel& kernel) {
    struct Sum {
        std::set<uintptr_t> blocks;
        Cost cost, part;
    };
    std::map<std::pair<std::string, int>, Sum> sums;
    for (const Kernel::Row& row : kernel.rows()) {
        const Point& p = point(row.point);
        if (p.what != What::block) continue;
        const Place& place = place_of_block(p.pc);
        if (place.line == 0) continue;
        Sum& sum = sums[{place.file, place.line}];
        sum.blocks.insert(p.pc);
        sum.cost.add(row.cost);
        if (row.cost.lanes < 32 * row.cost.requests) sum.part.add(row.cost);
    }
    std::vector<BranchSummary> branches;
    for (const auto& [place, sum] : sums)
        branches.push_back({place.first,
                            place.second,
                            static_cast<unsigned>(sum.blocks.size()),
                            sum.cost.requests,
                            sum.cost.lanes,
                            sum.part.requests,
                            sum.part.lanes});
    return branches;
}

Cost* total_of(Totals& totals, What what, Space space) {
    if (space == Space::constant) return nullptr;
    const bool shared = space == Space::shared;
    switch (what) {
        case What::load:
            return shared ? &totals.shared_load : &totals.global_load;
        case What::store:
            return shared ? &totals.shared_store : &totals.global_store;
        case What::atomic:
            return shared ? &totals.shared_atomic : &totals.global_atomic;
        case What::async:
            return shared ? &totals.async_shared : &totals.async;
        default:
            break;
    }
    return nullptr;
}

Totals totals_of(const Kernel& kernel, const std::vector<LineSummary>& lines) {
    Totals totals;
    for (const LineSummary& line : lines) {
        if (Cost* total = total_of(totals, line.what, line.space))
            total->add(line.cost);
        if (line.space != Space::global) continue;
        totals.bytes_requested += line.cost.lanes * line.bytes;
        totals.bytes_moved += line.cost.sectors * 32;
    }
    for (const auto& [place, count] : kernel.barriers())
        if (place.op != "__syncwarp") totals.barriers += count;
    return totals;
}

/// Debug information has full paths, __FILE__ what the compiler was given: the full
/// path of a file that the kernel is known to use, if it ends with the short one.
std::string full_path(const std::string& file, const KernelSummary& summary) {
    if (file.empty() || file[0] == '/') return file;
    const auto is_meant = [tail = "/" + file](const std::string& path) {
        return path.size() > tail.size() &&
               path.compare(path.size() - tail.size(), tail.size(), tail) == 0;
    };
    if (is_meant(summary.file)) return summary.file;
    for (const LineSummary& line : summary.lines)
        if (is_meant(line.file)) return line.file;
    return file;
}

std::string file_of(const Kernel& kernel, const std::vector<LineSummary>& lines) {
    if (kernel.address)
        for (const std::string& place :
             lines_at(reinterpret_cast<uintptr_t>(kernel.address))) {
            const std::string file = place.substr(0, place.rfind(':'));
            if (detail::is_users(file)) return file;
        }
    return lines.empty() ? "" : lines.front().file;
}

}  // namespace

KernelSummary summary_of(const Kernel& kernel) {
    KernelSummary summary;
    summary.kernel = &kernel;
    summary.lines = lines_of(kernel);
    summary.branches = branches_of(kernel);
    summary.totals = totals_of(kernel, summary.lines);
    summary.file = file_of(kernel, summary.lines);
    summary.launch_file = full_path(kernel.launch_file, summary);
    for (const auto& [place, count] : kernel.barriers())
        summary.barriers.push_back(
            {place.op, full_path(place.file, summary), place.line, count});
    return summary;
}

const char* name_of(What what) {
    switch (what) {
        case What::load:
            return "load";
        case What::store:
            return "store";
        case What::atomic:
            return "atomic";
        case What::async:
            return "async";
        default:
            break;
    }
    return "";
}

const char* name_of(Space space) {
    switch (space) {
        case Space::global:
            return "global";
        case Space::shared:
            return "shared";
        case Space::constant:
            break;
    }
    return "constant";
}

}  // namespace simt::check
