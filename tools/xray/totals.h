/// totals.h: what a kernel cost altogether, under Nsight Compute's names.
#pragma once

#include "report.h"

#include <string>
#include <vector>

namespace xray {

/// One row of a kernel's totals.
struct TotalRow {
    std::string label;
    std::string value;
    std::string remark;   ///< what the number means; may be ""
    std::string metrics;  ///< of Nsight Compute, separated by blanks; may be ""
};

/// The rows of one kernel; what it does not do is left out.
std::vector<TotalRow> totals(const Kernel& kernel);

/// The bytes of all kernels of one section, against what its contract needs.
struct Bill {
    double moved = 0;     ///< between the cores and the caches, in whole sectors
    double touched = 0;   ///< distinct sectors read plus distinct sectors written
    double contract = 0;  ///< 0: nobody stated it
};
Bill bill(const Run& run, const std::string& section);

/// One sentence about a bill.
std::string bill_text(const Bill& bill);

/// The kernel in one sentence: which of its traffic is wasted, and where.
struct Verdict {
    bool good = true;
    std::string text;
};
Verdict verdict(const Kernel& kernel);

/// The command that measures the same on a GPU.
///
/// @param program  how to start it, "./program"
std::string ncu_command(const Kernel& kernel, const std::string& program);

}  // namespace xray
