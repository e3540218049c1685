/// table.h: files of rows and columns.
#pragma once

#include <string>
#include <vector>

namespace examples {

using Row = std::vector<std::string>;

/// The rows of a tab-separated file, without comments (#) and empty lines.
/// @throws std::runtime_error  if it cannot be read
std::vector<Row> read_tabs(const std::string& path);

/// The rows of a file of comma-separated values, with or without quotes.
std::vector<Row> read_commas(const std::string& path);

/// The lines of a text file.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace examples
