#include "diagnostics.h"

#include <optional>
#include <regex>
#include <sstream>

namespace rewriter {
namespace {

/// Without colours; g++ quotes as the user's language does.
std::string plain_text(std::string text) {
    for (size_t at = 0; (at = text.find("\033[", at)) != std::string::npos;)
        text.erase(at, text.find_first_of("mK", at) - at + 1);
    for (const char* quote : {"\u2018", "\u2019"})
        for (size_t at = 0; (at = text.find(quote, at)) != std::string::npos;)
            text.replace(at, std::char_traits<char>::length(quote), "'");
    return text;
}

std::optional<Diagnostic> parse_diagnostic(const std::string& line) {
    static const std::regex form(
        "(\\S[^:]*)((?::[0-9]+){1,2}): (fatal error|error|warning|note): (.*)");
    std::smatch m;
    if (!std::regex_match(line, m, form)) return {};
    return Diagnostic{m[1], m[2], m[3], m[4], {}};
}

bool is_context(const std::string& line) {
    static const std::regex form(
        "In file included from .*|  +from .*|[^ ].*: (In|At) .*:|"
        ".*:[0-9]+:[0-9]+:   +(recursively )?(required|in ).*|.*: In .*");
    return std::regex_match(line, form) && line.find(" | ") == std::string::npos;
}

}  // namespace

std::vector<Message> parse_messages(const std::string& text) {
    std::vector<Message> messages(1);
    std::vector<std::string> context;
    std::istringstream stream(text);
    Diagnostic* last = nullptr;
    for (std::string line; std::getline(stream, line);) {
        const std::string plain = plain_text(line);
        if (auto d = parse_diagnostic(plain)) {
            if (d->severity != "note" || messages.back().main.file.empty()) {
                messages.emplace_back();
                messages.back().context = context;
                messages.back().main = *d;
                last = &messages.back().main;
            } else {
                messages.back().notes.push_back(*d);
                last = &messages.back().notes.back();
            }
            Message& message = messages.back();
            message.lines.insert(message.lines.end(), context.begin(), context.end());
            message.lines.push_back(line);
            context.clear();
        } else if (is_context(plain)) {
            context.push_back(line);
        } else {
            messages.back().lines.push_back(line);
            if (last) last->excerpt.push_back(line);
        }
    }
    messages.back().lines.insert(
        messages.back().lines.end(), context.begin(), context.end());
    return messages;
}

}  // namespace rewriter
