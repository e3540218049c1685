#include "follow_ups.h"

#include <regex>

namespace rewriter {
namespace {

std::string line_of(const Diagnostic& at) {
    return at.file + at.place.substr(0, at.place.find(':', 1));
}

/// The name that a line of source declares with a type, or an alias of it; "" if none.
std::string declared_with(const std::string& source, const std::string& type) {
    const size_t at = source.find(type);
    if (at == source.npos || source.size() > 400) return "";
    std::smatch match;
    static const std::regex alias("\\busing\\s+(\\w+)\\s*=");
    const std::string before = source.substr(0, at);
    if (std::regex_search(before, match, alias)) return match[1];
    std::string behind;  // without template arguments
    int depth = 0;
    for (const char c : source.substr(at + type.size())) {
        depth += (c == '<') - (c == '>');
        if (depth == 0 && c != '>') behind += c;
    }
    static const std::regex declarator(
        "(?:::\\w+)*[\\s*&]+([A-Za-z_]\\w*)\\s*[\\[;=(){,].*");
    return std::regex_match(behind, match, declarator) ? match[1].str() : "";
}

}  // namespace

void FollowUps::refused(const Diagnostic& at, const std::string& name) {
    lines_.insert(line_of(at));
    if (at.excerpt.empty()) return;
    const std::string declared = declared_with(at.excerpt[0], name);
    if (!declared.empty()) names_.insert(declared);
}

bool FollowUps::contain(const Diagnostic& message) {
    if (message.text.starts_with("expected ") && lines_.contains(line_of(message)))
        return true;
    static const std::regex unknown(
        "(?:'(\\w+)' (?:was not declared in this scope|has not been declared|does not "
        "name a type).*|(?:use of undeclared identifier|unknown type name) "
        "'(\\w+)'.*)");
    std::smatch match;
    if (message.text.size() > 400 || !std::regex_match(message.text, match, unknown))
        return false;
    const std::string name = match[match[1].matched ? 1 : 2];
    if (!names_.contains(name)) return false;
    refused(message, name);
    return true;
}

}  // namespace rewriter
