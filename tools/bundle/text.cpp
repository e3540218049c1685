#include "text.h"

#include <fstream>
#include <regex>
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

bool is_include(const std::string& line, Include& include) {
    static const std::regex pattern(R"(\s*#\s*include\s*(["<])([^">]+)[">].*)");
    std::smatch match;
    if (!std::regex_match(line, match, pattern)) return false;
    include.quoted = match[1] == "\"";
    include.name = match[2];
    include.spelling =
        include.quoted ? '"' + include.name + '"' : '<' + include.name + '>';
    return true;
}

std::string defined_name(const std::string& line) {
    static const std::regex pattern(R"(\s*#\s*define\s+(\w+).*)");
    std::smatch match;
    return std::regex_match(line, match, pattern) ? match[1].str() : "";
}

bool is_pragma_once(const std::string& line) {
    static const std::regex pattern(R"(\s*#\s*pragma\s+once\s*)");
    return std::regex_match(line, pattern);
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
