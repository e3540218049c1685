// What a C++ compiler prints, taken apart.
#pragma once

#include <string>
#include <vector>

namespace rewriter {

/// "file:12:3: error: text"
struct Diagnostic {
    std::string file;
    std::string place;     // ":12:3"
    std::string severity;  // "error", "fatal error", "warning", "note"
    std::string text;
    std::vector<std::string> excerpt;  // what is printed below it
};

/// An error or a warning, what leads to it, and its notes.
struct Message {
    std::vector<std::string> context;
    Diagnostic main;
    std::vector<Diagnostic> notes;
    std::vector<std::string> lines;  // as the compiler printed it
};

/// Splits what g++ or clang++ printed. What stands before the first diagnostic is a
/// message without a file.
std::vector<Message> parse_messages(const std::string& text);

}  // namespace rewriter
