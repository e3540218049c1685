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
    for (const std::string_view quote : {"\u2018", "\u2019"})
        for (size_t at = 0; (at = text.find(quote, at)) != std::string::npos;) {
            text.erase(at, quote.size() - 1);
            text[at] = '\'';
        }
    return text;
}

// std::regex recurses, and types of templates can be long: their beginnings will do.
constexpr size_t kBeginning = 1000;

std::optional<Diagnostic> parse_diagnostic(const std::string& line) {
    static const std::regex form(
        "(\\S[^:]*)((?::[0-9]+){1,2}): (fatal error|error|warning|note): ");
    std::smatch m;
    const std::string beginning = line.substr(0, kBeginning);
    if (!std::regex_search(beginning, m, form, std::regex_constants::match_continuous))
        return {};
    const auto length = static_cast<size_t>(m.length(0));
    return Diagnostic{m[1], m[2], m[3], line.substr(length), {}};
}

bool is_context(const std::string& line) {
    static const std::regex form(
        "In file included from |  +from |[^ ][^|]*: (In|At) |"
        "[^ ][^|]*:[0-9]+:[0-9]+:   +(recursively )?(required|in )");
    return std::regex_search(
        line.substr(0, kBeginning), form, std::regex_constants::match_continuous);
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
