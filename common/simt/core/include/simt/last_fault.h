/// simt/last_fault.h: what was said about the last fault.
#pragma once

#include <string>

namespace simt {

/// The text of the last fault report of this process, as printed; "" if there was none.
std::string last_fault();

/// Forgets the last fault report.
void clear_last_fault();

}  // namespace simt
