/// checker/count/output.h: what the checker leaves behind when the program ends.
#pragma once

#include <string>

namespace simt::check {

/// Everything as JSON (schema version 1): kernels with their counters, and findings.
std::string json_output();

/// Writes it to the file that SIMT_CHECK_JSON names. Without that variable prints the
/// counters as tables on stderr, unless SIMT_CHECK_TABLE=0.
void write_output();

}  // namespace simt::check
