/// checker/count/table.h: the counters as a table for a terminal.
#pragma once

#include <string>

#include "summary.h"

namespace simt::check {

/// One row for each kind of access on each line, with the line's text.
std::string table_of(const KernelSummary& summary);

}  // namespace simt::check
