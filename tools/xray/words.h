/// words.h: numbers as people read them.
#pragma once

#include "report.h"

#include <string>

namespace xray {

/// "1,048,576".
std::string count_text(double value);

/// One decimal unless it is a whole number: "4", "4.5", "32".
std::string ratio_text(double value);

/// "1,024 bytes", "8.4 MB": 10^3 and so on, as everywhere in the workbook.
std::string bytes_text(double bytes);

/// "12 %".
std::string percent_text(double fraction);

/// "9.4 us", "1.85 ms".
std::string time_text(double seconds);

/// "32 x 32", without extents of 1 at the end.
std::string dim_text(const Dim3& dim);

/// "(32,0,0)".
std::string position_text(const Dim3& position);

/// "1 sector", "4 sectors".
std::string counted(double value, const std::string& noun);

/// A path relative to a folder, if it lies in it.
std::string relative_to(const std::string& root, const std::string& path);

/// "transpose.cu:12".
std::string place_text(const Place& place, const std::string& root);

}  // namespace xray
