#include "table.h"

#include <fstream>
#include <stdexcept>

namespace examples {

std::vector<std::string> read_lines(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    return lines;
}

std::vector<Row> read_tabs(const std::string& path) {
    std::vector<Row> rows;
    for (const std::string& line : read_lines(path)) {
        if (line.empty() || line[0] == '#') continue;
        Row row(1);
        for (const char c : line) {
            if (c == '\t') {
                row.emplace_back();
            } else {
                row.back() += c;
            }
        }
        rows.push_back(row);
    }
    return rows;
}

std::vector<Row> read_commas(const std::string& path) {
    std::vector<Row> rows;
    for (const std::string& line : read_lines(path)) {
        if (line.empty()) continue;
        Row row(1);
        bool quoted = false;
        for (const char c : line) {
            if (c == '"') {
                quoted = !quoted;
            } else if (c == ',' && !quoted) {
                row.emplace_back();
            } else {
                row.back() += c;
            }
        }
        rows.push_back(row);
    }
    return rows;
}

}  // namespace examples
