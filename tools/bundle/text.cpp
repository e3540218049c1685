#include "text.h"

#include <cctype>
#include <fstream>
#include <stdexcept>

namespace bundle {

std::string File::text() const {
    std::string all;
    for (const std::string& line : lines)
        all += line + '\n';
    return all;
}

std::string File::code() const {
    std::string all;
    bool directive = false;
    for (const std::string& line : lines) {
        const size_t first = line.find_first_not_of(" \t");
        directive = directive || (first != std::string::npos && line[first] == '#');
        if (!directive) all += line;
        directive = directive && line.back() == '\\';
        all += '\n';
    }
    return all;
}

File read_file(const fs::path& path) {
    std::ifstream stream(path);
    if (!stream) throw std::runtime_error("cannot read " + path.string());
    File file{path.lexically_normal(), {}};
    for (std::string line; std::getline(stream, line);)
        file.lines.push_back(line);
    return file;
}

namespace {

/// What follows `#word` in a line; false if the line is another.
bool is_directive(const std::string& line, const char* word, std::string& rest) {
    size_t i = line.find_first_not_of(" \t");
    if (i == std::string::npos || line[i] != '#') return false;
    i = line.find_first_not_of(" \t", i + 1);
    const std::string wanted = word;
    if (i == std::string::npos || line.compare(i, wanted.size(), wanted) != 0)
        return false;
    i = line.find_first_not_of(" \t", i + wanted.size());
    rest = i == std::string::npos ? "" : line.substr(i);
    return true;
}

}  // namespace

bool is_include(const std::string& line, Include& include) {
    std::string rest;
    if (!is_directive(line, "include", rest) || rest.empty()) return false;
    include.quoted = rest[0] == '"';
    const size_t end = rest.find(include.quoted ? '"' : '>', 1);
    if (end == std::string::npos) return false;
    include.spelling = rest.substr(0, end + 1);
    include.name = rest.substr(1, end - 1);
    return true;
}

std::string defined_name(const std::string& line) {
    std::string rest;
    if (!is_directive(line, "define", rest)) return "";
    size_t end = 0;
    while (end < rest.size() &&
           (std::isalnum(static_cast<unsigned char>(rest[end])) || rest[end] == '_'))
        ++end;
    return rest.substr(0, end);
}

bool is_pragma_once(const std::string& line) {
    std::string rest;
    return is_directive(line, "pragma", rest) && rest.rfind("once", 0) == 0;
}

bool is_code(const std::string& line) {
    const size_t first = line.find_first_not_of(" \t\r");
    return first != std::string::npos && line[first] != '#' &&
           line.compare(first, 2, "//") != 0;
}

fs::path find_quoted(const std::string& name,
                     const fs::path& from,
                     const std::vector<fs::path>& include_dirs) {
    if (fs::exists(from.parent_path() / name))
        return (from.parent_path() / name).lexically_normal();
    for (const fs::path& dir : include_dirs) {
        if (fs::exists(dir / name)) return (dir / name).lexically_normal();
    }
    return {};
}

}  // namespace bundle
