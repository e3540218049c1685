#include "source.h"

#include <cctype>
#include <fstream>
#include <sstream>

namespace xray {
namespace {

/// The text with comments, literals and preprocessor lines blanked, so that a brace in
/// it is a brace of the program. Line ends stay.
std::string code_only(const std::string& text) {
    std::string code = text;
    const auto blank = [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to && i < code.size(); ++i)
            if (code[i] != '\n') code[i] = ' ';
    };
    bool line_start = true;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i + 1;
        const char c = text[i];
        if (text.compare(i, 2, "//") == 0) {
            end = std::min(text.find('\n', i), text.size());
            blank(i, end);
        } else if (text.compare(i, 2, "/*") == 0) {
            const std::size_t close = text.find("*/", i + 2);
            end = close == std::string::npos ? text.size() : close + 2;
            blank(i, end);
        } else if (c == '#' && line_start) {
            end = std::min(text.find('\n', i), text.size());
            while (end < text.size() && text[end - 1] == '\\')
                end = std::min(text.find('\n', end + 1), text.size());
            blank(i, end);
        } else if (c == '"' || (c == '\'' && (i == 0 || !std::isalnum(text[i - 1])))) {
            while (end < text.size() && text[end] != c && text[end] != '\n')
                end += text[end] == '\\' ? 2 : 1;
            end = std::min(end + 1, text.size());
            blank(i, end);
        }
        if (c == '\n') {
            line_start = true;
        } else if (!std::isspace(static_cast<unsigned char>(c))) {
            line_start = false;
        }
        i = end;
    }
    return code;
}

bool has_word(const std::string& text, const std::string& word) {
    const auto is_name = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    for (std::size_t at = text.find(word); at != std::string::npos;
         at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool starts = at == 0 || !is_name(text[at - 1]);
        if (starts && (end >= text.size() || !is_name(text[end]))) return true;
    }
    return false;
}

/// Whether the braces behind this text hold declarations rather than statements.
bool is_transparent(const std::string& head) {
    if (head.find('(') != std::string::npos) return false;
    for (const char* word : {"namespace", "class", "struct", "union", "extern"})
        if (has_word(head, word)) return true;
    return false;
}

std::size_t matching_brace(const std::string& code, std::size_t open) {
    int depth = 0;
    for (std::size_t i = open; i < code.size(); ++i) {
        if (code[i] == '{') ++depth;
        if (code[i] == '}' && --depth == 0) return i;
    }
    return code.size();
}

std::vector<Function> find_functions(const std::string& code) {
    std::vector<Function> found;
    std::size_t start = 0;  // of the present declaration
    int line = 1;
    int start_line = 1;
    bool fresh = true;  // nothing of the declaration has been seen yet
    for (std::size_t i = 0; i < code.size(); ++i) {
        const char c = code[i];
        if (c == '\n') ++line;
        if (std::isspace(static_cast<unsigned char>(c))) continue;
        if (c == ';' || c == '}') {
            fresh = true;
            continue;
        }
        if (fresh) {
            start = i;
            start_line = line;
            fresh = false;
        }
        if (c != '{') continue;
        const std::string head = code.substr(start, i - start);
        fresh = true;
        if (is_transparent(head)) continue;
        const std::size_t end = matching_brace(code, i);
        for (; i < end; ++i)
            if (code[i] == '\n') ++line;
        if (head.find(')') != std::string::npos)
            found.push_back({start_line, line, head});
    }
    return found;
}

}  // namespace

SourceFile::SourceFile(std::string text) {
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines_.push_back(line);
    functions_ = find_functions(code_only(text));
}

std::string SourceFile::line(int number) const {
    if (number < 1 || number > num_lines()) return "";
    return lines_[static_cast<std::size_t>(number - 1)];
}

const Function* SourceFile::function_at(int line) const {
    for (const Function& function : functions_)
        if (function.first <= line && line <= function.last) return &function;
    return nullptr;
}

const Function* SourceFile::function_named(const std::string& name) const {
    const Function* found = nullptr;
    for (const Function& function : functions_) {
        if (!has_word(function.head.substr(0, function.head.find_last_of(')')), name))
            continue;
        // A kernel of that name wins over a host function that shares it.
        if (has_word(function.head, "__global__")) return &function;
        if (found == nullptr) found = &function;
    }
    return found;
}

const SourceFile& Sources::file(const std::string& path) {
    const auto found = files_.find(path);
    if (found != files_.end()) return found->second;
    std::ostringstream text;
    if (!path.empty()) {
        std::ifstream stream(path);
        if (stream) text << stream.rdbuf();
    }
    return files_.emplace(path, SourceFile(text.str())).first->second;
}

std::string Sources::quote(const std::string& path, int line) {
    const std::string text = file(path).line(line);
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string base_name(const std::string& kernel) {
    std::string name = kernel.substr(0, kernel.find_first_of("<("));
    const std::size_t scope = name.rfind("::");
    if (scope != std::string::npos) name = name.substr(scope + 2);
    const std::size_t blank = name.find_last_of(' ');
    return blank == std::string::npos ? name : name.substr(blank + 1);
}

}  // namespace xray
