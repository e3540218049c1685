#include "totals.h"

#include "explain.h"
#include "model.h"
#include "source.h"
#include "words.h"

#include <algorithm>
#include <cctype>

namespace xray {
namespace {

const std::string kRequests = "l1tex__t_requests_pipe_lsu_mem_global_op_";
const std::string kSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_";
const std::string kWavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_";
const std::string kConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_";

/// Sums over the lines of one kind.
struct Sum {
    double requests = 0;
    double sectors = 0;
    double ideal_sectors = 0;
    double wavefronts = 0;
    double ideal_wavefronts = 0;
};

Sum sum_of(const Kernel& kernel, const std::string& op, const std::string& space) {
    Sum sum;
    for (const Access& access : kernel.accesses) {
        if (access.op != op || access.space != space) continue;
        sum.requests += access.requests;
        sum.sectors += access.sectors;
        sum.ideal_sectors += access.ideal_sectors;
        sum.wavefronts += access.wavefronts;
        sum.ideal_wavefronts += access.ideal_wavefronts;
    }
    return sum;
}

void add_global(const Kernel& kernel,
                const std::string& op,
                const std::string& metric,
                std::vector<TotalRow>& rows) {
    const Sum sum = sum_of(kernel, op, "global");
    if (sum.requests <= 0) return;
    const std::string metrics =
        op == "atomic" ? kSectors + "red.sum " + kSectors + "atom.sum"
                       : kRequests + metric + ".sum " + kSectors + metric + ".sum";
    const std::string plural = op == "async" ? "asynchronous copies" : op + "s";
    rows.push_back({"global " + plural,
                    count_text(sum.sectors) + " sectors in " +
                        count_text(sum.requests) + " requests",
                    ratio_text(sum.sectors / sum.requests) + " sectors a request, " +
                        ratio_text(sum.ideal_sectors / sum.requests) + " would do",
                    metrics});
}

void add_shared(const Kernel& kernel,
                const std::string& op,
                const std::string& metric,
                std::vector<TotalRow>& rows) {
    const Sum sum = sum_of(kernel, op, "shared");
    if (sum.requests <= 0) return;
    const double conflicts = std::max(0.0, sum.wavefronts - sum.ideal_wavefronts);
    rows.push_back({"shared " + op + "s",
                    count_text(sum.wavefronts) + " passes for " +
                        count_text(sum.requests) + " requests",
                    conflicts > 0 ? count_text(conflicts) + " of them bank conflicts"
                                  : "no bank conflict",
                    kWavefronts + metric + ".sum " + kConflicts + metric + ".sum"});
}

}  // namespace

std::vector<TotalRow> totals(const Kernel& kernel) {
    std::vector<TotalRow> rows;
    add_global(kernel, "load", "ld", rows);
    add_global(kernel, "store", "st", rows);
    add_global(kernel, "async", "ldgsts", rows);
    add_global(kernel, "atomic", "", rows);
    add_shared(kernel, "load", "ld", rows);
    add_shared(kernel, "store", "st", rows);
    add_shared(kernel, "atomic", "atom", rows);
    const double blocks = kernel.blocks() * std::max(1.0, kernel.launches);
    if (kernel.total("barriers") > 0) {
        rows.push_back({"barriers",
                        count_text(kernel.total("barriers")),
                        ratio_text(kernel.total("barriers") / blocks) + " a block",
                        "smsp__inst_executed_op_barrier.sum"});
    }
    const double moved = bytes_moved(kernel);
    const double requested = kernel.total("bytes_requested");
    if (moved > 0) {
        rows.push_back(
            {"bytes moved",
             bytes_text(moved),
             requested > 0 ? "the threads asked for " + bytes_text(requested) : "",
             ""});
    }
    const double touched =
        kernel.total("bytes_touched") + kernel.total("bytes_touched_written");
    if (touched > 0) {
        rows.push_back({"distinct sectors",
                        bytes_text(touched),
                        bytes_text(kernel.total("bytes_touched")) + " read, " +
                            bytes_text(kernel.total("bytes_touched_written")) +
                            " written: what perfect caches would leave for DRAM",
                        "dram__bytes.sum"});
    }
    return rows;
}

Bill bill(const Run& run, const std::string& section) {
    Bill result;
    for (const Kernel& kernel : run.kernels) {
        if (kernel.section != section) continue;
        result.moved += bytes_moved(kernel);
        result.touched +=
            kernel.total("bytes_touched") + kernel.total("bytes_touched_written");
    }
    if (const Contract* contract = run.contract(section))
        result.contract = contract->bytes;
    return result;
}

std::string bill_text(const Bill& bill) {
    std::string text = bytes_text(bill.moved) + " are moved";
    const double least = bill.contract > 0 ? bill.contract : bill.touched;
    if (least <= 0) return text + ".";
    text += bill.contract > 0 ? ", the contract needs " + bytes_text(least)
                              : ", they lie in " + bytes_text(least) + " of sectors";
    const double ratio = bill.moved / least;
    if (ratio < 1.05) return text + ": as few as can be.";
    return text + ": " + ratio_text(ratio) + " times as many" +
           (bill.touched < 0.7 * bill.moved
                ? " (caches can catch those that are moved more than once)."
                : ".");
}

namespace {

/// What one line wastes.
struct Waste {
    int line = 0;
    double amount = 0;
};

/// "line 13", "lines 13 and 20", at most three, the worst first.
std::string lines_text(std::vector<Waste> wastes) {
    std::stable_sort(wastes.begin(), wastes.end(), [](const Waste& a, const Waste& b) {
        return a.amount > b.amount;
    });
    std::vector<int> lines;
    for (const Waste& waste : wastes) {
        if (lines.size() < 3 && waste.amount >= 0.05 * wastes.front().amount &&
            std::find(lines.begin(), lines.end(), waste.line) == lines.end())
            lines.push_back(waste.line);
    }
    std::string text = lines.size() == 1 ? "line " : "lines ";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i > 0) text += i + 1 == lines.size() ? " and " : ", ";
        text += std::to_string(lines[i]);
    }
    return text;
}

/// "77 % of the sectors that it moves are wasted, by line 13", or "".
std::string waste_text(const Kernel& kernel, bool shared) {
    std::vector<Waste> wastes;
    double total = 0;
    double wasted = 0;
    for (const Access& access : kernel.accesses) {
        if ((access.space == "shared") != shared) continue;
        const double cost = shared ? access.wavefronts : access.sectors;
        const double ideal = shared ? access.ideal_wavefronts : access.ideal_sectors;
        total += cost;
        wasted += std::max(0.0, cost - ideal);
        if (cost > ideal) wastes.push_back({access.place.line, cost - ideal});
    }
    if (total <= 0 || wasted < 0.02 * total) return "";
    return percent_text(wasted / total) +
           (shared ? " of its passes through shared memory are bank conflicts, in "
                   : " of the sectors that it moves are wasted, by ") +
           lines_text(wastes);
}

/// "up to 32 lanes of a warp queue up at one address in line 9", or "".
std::string queue_text(const Kernel& kernel) {
    const Access* worst = nullptr;
    for (const Access& access : kernel.accesses) {
        if (access.op == "atomic" && access.max_same_address > 1.5 &&
            (worst == nullptr || access.max_same_address > worst->max_same_address))
            worst = &access;
    }
    if (worst == nullptr) return "";
    return "up to " + ratio_text(worst->max_same_address) +
           " lanes of a warp queue up at one address in line " +
           std::to_string(worst->place.line);
}

/// "48 % of its lanes wait for others, at lines 18 and 21", or "".
std::string idle_text(const Kernel& kernel) {
    std::vector<Waste> wastes;
    double idle = 0;
    for (const Branch& branch : kernel.branches) {
        const double share = idle_share(branch, kernel);
        idle += share;
        if (share > 0) wastes.push_back({branch.place.line, share});
    }
    if (idle < 0.1) return "";
    return percent_text(idle) + " of its lanes wait for others, at " +
           lines_text(wastes);
}

}  // namespace

Verdict verdict(const Kernel& kernel) {
    Verdict result;
    for (const std::string& text : {waste_text(kernel, false),
                                    waste_text(kernel, true),
                                    queue_text(kernel),
                                    idle_text(kernel)}) {
        if (!text.empty()) result.text += (result.text.empty() ? "" : "; ") + text;
    }
    result.good = result.text.empty();
    if (result.good) {
        result.text = kernel.accesses.empty()
                          ? "no access to memory was counted."
                          : "its accesses waste nothing: each takes the fewest sectors "
                            "and passes that it can.";
    } else {
        result.text += ".";
    }
    result.text[0] = static_cast<char>(std::toupper(result.text[0]));
    return result;
}

std::string ncu_command(const Kernel& kernel, const std::string& program) {
    std::string metrics;
    for (const TotalRow& row : totals(kernel)) {
        if (row.metrics.empty()) continue;
        std::string list = row.metrics;
        std::replace(list.begin(), list.end(), ' ', ',');
        metrics += (metrics.empty() ? "" : ",") + list;
    }
    if (metrics.empty()) metrics = kSectors + "ld.sum," + kSectors + "st.sum";
    return "ncu -k regex:" + base_name(kernel.name) + " --metrics " + metrics + " " +
           program;
}

}  // namespace xray
