// text.h: the files that a bundle is made of, and what their directives say.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bundle {

namespace fs = std::filesystem;

/// `#include "x"` or `#include <x>`.
struct Include {
    std::string spelling;  // with its quotes or angles
    std::string name;      // without
    bool quoted = false;
};

/// A source file, line by line.
struct File {
    fs::path path;
    std::vector<std::string> lines;

    std::string text() const;
    /// The text with empty lines in place of preprocessor directives.
    std::string code() const;
};

/// Reads a file. Throws std::runtime_error if that is impossible.
File read_file(const fs::path& path);

/// Is the line an #include? Then @p include says of what.
bool is_include(const std::string& line, Include& include);

/// The name that a #define in this line gives a meaning to; else "".
std::string defined_name(const std::string& line);

/// Is the line `#pragma once`?
bool is_pragma_once(const std::string& line);

/// Is the line neither empty nor a comment of its own nor a directive?
bool is_code(const std::string& line);

/// Where the compiler would find `#include "name"` in @p from; empty if nowhere.
fs::path find_quoted(const std::string& name,
                     const fs::path& from,
                     const std::vector<fs::path>& include_dirs);

}  // namespace bundle
