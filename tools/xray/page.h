/// page.h: the fixed parts of the HTML report, embedded by embed.cmake.
#pragma once

namespace xray {

extern const char* const kStyle;   ///< page.css
extern const char* const kScript;  ///< page.js

}  // namespace xray
