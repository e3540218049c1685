#include "explain.h"

#include "words.h"

#include <algorithm>
#include <cmath>

namespace xray {
namespace {

constexpr double kWarpSize = 32.0;

double per_request(double count, const Access& access) {
    return access.requests > 0 ? count / access.requests : 0.0;
}

/// The share of a kernel's traffic that is wasted, as heat.
Heat heat_of(double waste, double total) {
    const double share = total > 0 ? waste / total : 0.0;
    if (share >= 0.3) return Heat::hot;
    if (share >= 0.1) return Heat::warm;
    return waste > 0.02 * total && waste > 0 ? Heat::mild : Heat::none;
}

std::string verb(const Access& access) {
    if (access.op == "store") return "stores";
    if (access.op == "atomic") return "atomic operations";
    if (access.op == "async") return "asynchronous copies";
    return "loads";
}

/// "A warp's 32 loads of 4 bytes".
std::string subject(const Access& access) {
    const double lanes = per_request(access.lanes, access);
    if (ratio_text(lanes) == "1") {
        std::string one = verb(access);
        one = one == "asynchronous copies" ? "asynchronous copy"
                                           : one.substr(0, one.size() - 1);
        return "One lane's " + one + " of " + counted(access.bytes, "byte");
    }
    return "A warp's " + ratio_text(lanes) + " " + verb(access) + " of " +
           counted(access.bytes, "byte");
}

double kernel_sectors(const Kernel& kernel) {
    double sum = 0;
    for (const Access& access : kernel.accesses)
        if (access.space != "shared") sum += access.sectors;
    return sum;
}

double kernel_wavefronts(const Kernel& kernel) {
    double sum = 0;
    for (const Access& access : kernel.accesses)
        if (access.space == "shared") sum += access.wavefronts;
    return sum;
}

/// Why a request touches more sectors than its bytes fill, and what helps.
void explain_sectors(const Access& access, Cost& cost) {
    const double lanes = per_request(access.lanes, access);
    const double sectors = per_request(access.sectors, access);
    const double ideal = per_request(access.ideal_sectors, access);
    const std::string moved = bytes_text(sectors * kSectorBytes);
    const std::string wanted =
        bytes_text(std::min(lanes * access.bytes, sectors * kSectorBytes));
    const std::string bill =
        ": " + moved + " are moved for " + wanted + " that are wanted";
    if (sectors >= 0.9 * lanes && lanes > 1.5) {
        cost.sentence = subject(access) + " go to " + ratio_text(sectors) +
                        " different sectors of 32 bytes" + bill + ".";
        cost.advice =
            "Let threadIdx.x run along the fastest dimension, so that neighbouring "
            "threads touch neighbouring addresses; if the other array needs the other "
            "order, exchange through a tile in shared memory.";
    } else if (sectors - ideal <= 1.05 && ideal > 1.5) {
        cost.sentence = subject(access) +
                        " lie side by side, but begin in the middle "
                        "of a sector of 32 bytes and so touch one more" +
                        bill + ".";
        cost.advice =
            "Start each row at a multiple of 32 bytes (a padded pitch, or an index "
            "that "
            "is shifted by the offset).";
    } else {
        cost.sentence = subject(access) + " touch " + ratio_text(sectors) +
                        " sectors of 32 bytes where " + ratio_text(ideal) +
                        " would hold them" + bill + ".";
        cost.advice =
            "Something lies between what neighbouring threads want: a stride, the "
            "other "
            "fields of a struct, or the edge of short rows. Bring together what is "
            "used "
            "together.";
    }
}

void explain_global(const Access& access, const Kernel& kernel, Cost& cost) {
    const double sectors = per_request(access.sectors, access);
    const double ideal = per_request(access.ideal_sectors, access);
    const double waste = access.sectors - access.ideal_sectors;
    cost.figure = ratio_text(sectors) + " of " + ratio_text(ideal) +
                  (ratio_text(ideal) == "1" ? " sector" : " sectors");
    cost.efficiency = percent_text(efficiency(access));
    if (sectors > 1.02 * ideal) {
        cost.heat = heat_of(waste, kernel_sectors(kernel));
        explain_sectors(access, cost);
    } else if (sectors < 0.98 * ideal) {
        cost.figure = counted(sectors, "sector");
        cost.sentence = subject(access) +
                        " read the same few addresses: " + counted(sectors, "sector") +
                        " serves them all.";
    } else {
        cost.sentence = subject(access) + " take " + counted(sectors, "sector") +
                        " of 32 bytes, the fewest that can hold them.";
        if (ratio_text(per_request(access.lanes, access)) == "1")
            cost.sentence = subject(access) + " moves a whole sector of 32 bytes.";
    }
}

void explain_shared(const Access& access, const Kernel& kernel, Cost& cost) {
    const double ways = bank_ways(access);
    const double passes = per_request(access.wavefronts, access);
    cost.figure = ratio_text(ways) + "-way banks";
    if (ways <= 1.02) {
        cost.figure = "no conflict";
        cost.sentence =
            subject(access) + " meet no bank conflict: " + ratio_text(passes) +
            (ratio_text(passes) == "1" ? " pass" : " passes") + " a request.";
        return;
    }
    cost.heat =
        heat_of(access.wavefronts - access.ideal_wavefronts, kernel_wavefronts(kernel));
    cost.efficiency = percent_text(1.0 / ways);
    cost.sentence = subject(access) +
                    " want different words of the same banks, and a bank serves "
                    "one word at a time: " +
                    ratio_text(passes) + " passes a request instead of " +
                    ratio_text(per_request(access.ideal_wavefronts, access)) + ".";
    if (access.max_ways > ways * 1.05)
        cost.sentence += " The worst request takes " + ratio_text(access.max_ways) +
                         " times as many as it should.";
    cost.advice =
        "Pad each row by one word (tile[32][33]), so that a column visits all banks, "
        "or "
        "swizzle the column index with the row.";
}

void explain_contention(const Access& access, Cost& cost) {
    const double queue = access.max_same_address;
    if (queue < 1.5) return;
    cost.figure = ratio_text(queue) + " on one address";
    cost.efficiency = "";
    cost.heat = queue >= 16 ? Heat::hot : Heat::warm;
    cost.sentence = "Up to " + ratio_text(queue) +
                    " lanes of a warp update one address: they queue up and are served "
                    "one by one.";
    cost.advice =
        access.space == "shared"
            ? "Give each warp a copy of its own, or add up within the warp "
              "first, with shuffles."
            : "Add up within the warp or the block first (shuffles, a tree in "
              "shared memory), then let one thread update the address.";
}

}  // namespace

double efficiency(const Access& access) {
    if (access.sectors <= 0) return 1.0;
    return std::min(1.0, access.ideal_sectors / access.sectors);
}

double bank_ways(const Access& access) {
    if (access.ideal_wavefronts <= 0) return 1.0;
    return std::max(1.0, access.wavefronts / access.ideal_wavefronts);
}

Cost explain(const Access& access, const Kernel& kernel) {
    Cost cost;
    cost.what = access.space == "global" ? access.op : access.space + " " + access.op;
    if (access.space == "shared") {
        explain_shared(access, kernel, cost);
    } else {
        explain_global(access, kernel, cost);
    }
    if (access.op == "atomic") explain_contention(access, cost);
    if (access.merged > 0)
        cost.sentence += " (The compiler made one access of several here.)";
    return cost;
}

double idle_share(const Branch& branch, const Kernel& kernel) {
    double all = 0;
    for (const Branch& other : kernel.branches)
        all += kWarpSize * other.executions;
    return all > 0 ? (kWarpSize * branch.executions - branch.lanes) / all : 0.0;
}

Cost explain(const Branch& branch, const Kernel& kernel) {
    Cost cost;
    const double lanes = branch.executions > 0 ? branch.lanes / branch.executions : 0.0;
    cost.what = "lanes";
    cost.figure = ratio_text(lanes) + " of 32 busy";
    cost.efficiency = percent_text(lanes / kWarpSize);
    if (lanes > 31.0) {
        cost.sentence = "All lanes of a warp go the same way.";
        return cost;
    }
    const double idle = idle_share(branch, kernel);
    cost.heat = idle >= 0.3 ? Heat::hot : idle >= 0.1 ? Heat::warm : Heat::mild;
    cost.sentence = "On average " + ratio_text(lanes) +
                    " of a warp's 32 lanes are busy here, the others wait: the warp "
                    "takes the time of 32 all the same.";
    // A rare line is not worth a change of the algorithm.
    if (idle >= 0.1)
        cost.advice =
            "Give neighbouring lanes the same way to go: let the condition depend on "
            "the "
            "warp's number, not the lane's, or sort the work so that equal cases meet.";
    return cost;
}

Cost explain(const Barrier& barrier, const Kernel& kernel) {
    Cost cost;
    cost.what = "barrier";
    const double blocks = kernel.blocks() * std::max(kernel.launches, 1.0);
    const bool whole = barrier.op.find("syncwarp") == std::string::npos;
    const double each = blocks > 0 ? barrier.count / blocks : barrier.count;
    cost.figure = ratio_text(each) + (whole ? " a block" : " in each block");
    cost.sentence = whole ? "Every thread of the block waits here for the slowest, " +
                                counted(each, "time") + " a block."
                          : "The lanes of a warp wait here for one another.";
    return cost;
}

}  // namespace xray
