/// source.h: the source files that a report quotes, and where their functions are.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace xray {

/// A function's lines, [first, last], from its first word to its closing brace.
struct Function {
    int first = 0;
    int last = 0;
    std::string head;  ///< what stands before the body
};

/// One file. Lines count from 1.
class SourceFile {
 public:
    explicit SourceFile(std::string text);

    /// A line, without its end; "" past the last one.
    std::string line(int number) const;
    int num_lines() const { return static_cast<int>(lines_.size()); }
    const std::vector<Function>& functions() const { return functions_; }

    /// The function that a line lies in, or null.
    const Function* function_at(int line) const;

    /// The function of that name, template arguments left out, or null.
    const Function* function_named(const std::string& name) const;

 private:
    std::vector<std::string> lines_;
    std::vector<Function> functions_;
};

/// Reads each file once. A file that is not there has no lines.
class Sources {
 public:
    const SourceFile& file(const std::string& path);

    /// The text of a line without the blanks around it; "" if it is unknown.
    std::string quote(const std::string& path, int line);

 private:
    std::map<std::string, SourceFile> files_;
};

/// "transpose_tiled" of "ns::transpose_tiled<32, float>".
std::string base_name(const std::string& kernel);

}  // namespace xray
