// The text of an asm statement as PTX instructions.
#include <algorithm>
#include <cctype>
#include <set>

#include "ptx_operands.h"

namespace rewriter {
namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

std::string without_comments(std::string_view text) {
    std::string clean;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i, 2) == "//") i = std::min(text.find('\n', i), text.size());
        if (text.substr(i, 2) == "/*")
            i = std::min(text.find("*/", i), text.size()) + 1;
        if (i < text.size()) clean += text[i];
    }
    return clean;
}

/// The registers of a declaration such as `.reg .b32 a, %%b<3>;`: a, b0, b1, b2.
std::vector<std::string> declared(std::string_view names) {
    std::vector<std::string> result;
    for (std::string name : split(names, ',')) {
        while (name.starts_with('%'))
            name.erase(0, 1);
        const size_t open = name.find('<');
        if (open == std::string::npos) {
            result.push_back(name);
            continue;
        }
        const int count = std::atoi(name.c_str() + open + 1);
        for (int i = 0; i < count; ++i)
            result.push_back(name.substr(0, open) + std::to_string(i));
    }
    return result;
}

/// Operands with `$` before the names of registers that the statement declares.
std::string marked(std::string_view text, const std::set<std::string>& registers) {
    std::string result;
    for (size_t i = 0; i < text.size();) {
        size_t begin = i;
        while (begin < text.size() && text[begin] == '%')
            ++begin;
        size_t end = begin;
        while (end < text.size() && is_word(text[end]))
            ++end;
        if (end == begin) {
            result += text[i++];
            continue;
        }
        const std::string word(text.substr(begin, end - begin));
        result += registers.contains(word) ? "$" + word
                                           : std::string(text.substr(i, end - i));
        i = end;
    }
    return result;
}

PtxInstruction read_declaration(std::string_view part,
                                std::set<std::string>& registers) {
    const auto words = trim(part.substr(4));  // behind `.reg`
    const size_t blank = std::min(words.find_first_of(" \t\n"), words.size());
    PtxInstruction result{
        {".reg", std::string(words.substr(1, blank - 1))}, {}, {}, {}};
    result.operands = declared(trim(words.substr(blank)));
    registers.insert(result.operands.begin(), result.operands.end());
    return result;
}

}  // namespace

std::vector<PtxInstruction> parse_ptx(std::string_view text) {
    const std::string clean = without_comments(text);
    std::string_view body = trim(clean);
    // `{ ... }` around the whole is a scope, which the C++ statement has anyway.
    while (body.starts_with('{') && body.ends_with('}'))
        body = trim(body.substr(1, body.size() - 2));
    std::vector<PtxInstruction> result;
    std::set<std::string> registers;
    for (const std::string& part : split(body, ';')) {
        if (part.empty()) continue;
        std::string_view rest = part;
        if (rest.starts_with(".reg")) {
            result.push_back(read_declaration(rest, registers));
            continue;
        }
        PtxInstruction instruction;
        for (const char c : part)
            instruction.text += c == '\n' || c == '\t' ? ' ' : c;
        if (rest.starts_with('@')) {
            const size_t blank = std::min(rest.find_first_of(" \t\n"), rest.size());
            instruction.guard = marked(rest.substr(1, blank - 1), registers);
            rest = trim(rest.substr(blank));
        }
        const size_t blank = std::min(rest.find_first_of(" \t\n"), rest.size());
        instruction.opcode = split(rest.substr(0, blank), '.');
        const std::string operands = marked(trim(rest.substr(blank)), registers);
        if (!operands.empty()) instruction.operands = split(operands, ',');
        result.push_back(std::move(instruction));
    }
    return result;
}

}  // namespace rewriter
