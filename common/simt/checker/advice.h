/// checker/advice.h: how a mistake is usually fixed.
#pragma once

#include "findings.h"

namespace simt::check {

/// In a few words; "" if there is nothing to say. Which lesson explains the mistake is
/// not for the simulator to know: explain_findings() of simt/finding.h.
const char* advice(Kind kind, Detail detail);

}  // namespace simt::check
