/// core/finding.h: telling the program of what was found.
#pragma once

#include "simt/finding.h"

namespace simt::detail {

/// Calls what the program has registered.
void tell(const Finding& finding);

/// The lesson that the program names; "" if none.
std::string lesson_of(FindingKind kind, const char* detail);

}  // namespace simt::detail
