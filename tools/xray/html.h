/// html.h: the pieces of the HTML report.
#pragma once

#include "annotate.h"
#include "options.h"

#include <string>

namespace xray {

/// Text with &, <, > and quotes as HTML wants them.
std::string escaped(const std::string& text);

/// A line of CUDA with its keywords, numbers, strings and comments in spans.
///
/// @param in_comment  whether a /* comment is open; updated
std::string highlighted(const std::string& line, bool& in_comment);

/// "hot", "warm", ...: the class of a heat.
const char* heat_class(Heat heat);

/// The part of the page about one kernel.
std::string kernel_html(Report& report, const Kernel& kernel, int number);

/// The placement of a section under a GPU's roof; "" if there is none.
std::string roofline_html(const Roofline& place, const Gpu& gpu);

}  // namespace xray
