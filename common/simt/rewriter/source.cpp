// Token access, bracket matching, locations and edits of a translation unit.
#include "source.h"

#include <algorithm>
#include <cstdio>

namespace rewriter {

Source::Source(std::string text) : text_(std::move(text)), lexed_(lex(text_)) {
    blanked_ = lexed_.ignored_pragmas;
    match_brackets();
    find_user_tokens();
}

void Source::match_brackets() {
    match_.assign(size(), kNone);
    std::vector<size_t> open;
    for (size_t i = 0; i < size(); ++i) {
        const Token& token = lexed_.tokens[i];
        if (token.kind != TokenKind::punctuation || token.length != 1) continue;
        const char c = text_[token.begin];
        if (c == '(' || c == '[' || c == '{') {
            open.push_back(i);
        } else if (c == ')' || c == ']' || c == '}') {
            const char partner = c == ')' ? '(' : c == ']' ? '[' : '{';
            // A bracket without a partner is the compiler's to report; skip over it. It
            // must not close the braces around it: the rest of the file means the same.
            size_t at = open.size();
            while (at > 0 && text(open[at - 1])[0] != partner &&
                   (c == '}' || text(open[at - 1])[0] != '{'))
                --at;
            if (at == 0 || text(open[at - 1])[0] != partner) continue;
            match_[i] = open[at - 1];
            match_[open[at - 1]] = i;
            open.resize(at - 1);
        }
    }
}

void Source::find_user_tokens() {
    const auto first_after = [&](std::uint32_t offset) {
        const auto at = std::lower_bound(
            lexed_.tokens.begin(),
            lexed_.tokens.end(),
            offset,
            [](const Token& token, std::uint32_t o) { return token.begin < o; });
        return static_cast<size_t>(at - lexed_.tokens.begin());
    };
    if (lexed_.markers.empty()) {
        user_tokens_.push_back({0, size()});
        return;
    }
    for (size_t m = 0; m < lexed_.markers.size(); ++m) {
        if (lexed_.markers[m].system_header) continue;
        const size_t first = first_after(lexed_.markers[m].offset);
        const size_t last = m + 1 < lexed_.markers.size()
                                ? first_after(lexed_.markers[m + 1].offset)
                                : size();
        if (first == last) continue;
        if (!user_tokens_.empty() && user_tokens_.back().last == first) {
            user_tokens_.back().last = last;
        } else {
            user_tokens_.push_back({first, last});
        }
    }
}

bool Source::is_any(size_t i, std::initializer_list<std::string_view> spellings) const {
    const std::string_view spelling = text(i);
    return std::find(spellings.begin(), spellings.end(), spelling) != spellings.end();
}

bool Source::touches_next(size_t i) const {
    if (i + 1 >= size()) return false;
    const Token& token = lexed_.tokens[i];
    return token.begin + token.length == lexed_.tokens[i + 1].begin;
}

bool Source::is_triple(size_t i, char angle) const {
    for (size_t k = i; k < i + 3; ++k) {
        const std::string_view spelling = text(k);
        if (spelling.size() != 1 || spelling[0] != angle) return false;
    }
    return true;
}

size_t Source::match_angle(size_t i) const {
    int depth = 0;
    for (; i < size(); ++i) {
        const std::string_view t = text(i);
        if (t == "(" || t == "[" || t == "{") {
            i = match(i);
            if (i == kNone) return kNone;
        } else if (t == ")" || t == "]" || t == "}" || t == ";") {
            return kNone;
        } else if (t == "<") {
            if (touches_next(i) && is_any(i + 1, {"<", "="})) {
                ++i;  // a shift or a comparison
            } else {
                ++depth;
            }
        } else if (t == ">" && !(touches_next(i) && is(i + 1, "="))) {
            if (--depth == 0) return i;
        }
    }
    return kNone;
}

size_t Source::match_angle_back(size_t i) const {
    int depth = 0;
    for (;; --i) {
        const std::string_view t = text(i);
        if (t == ")" || t == "]" || t == "}") {
            i = match(i);
            if (i == kNone) return kNone;
        } else if (t == "(" || t == "[" || t == "{" || t == ";") {
            return kNone;
        } else if (t == ">" && !(touches_next(i) && is(i + 1, "="))) {
            ++depth;
        } else if (t == "<") {
            if (i > 0 && is(i - 1, "<") && touches_next(i - 1)) {
                --i;  // a shift
            } else if (!(touches_next(i) && is(i + 1, "=")) && --depth == 0) {
                return i;
            }
        }
        if (i == 0) return kNone;
    }
}

std::string Source::squeeze(size_t first, size_t last) const {
    std::string result;
    for (size_t i = first; i < last; ++i) {
        if (i > first && !touches_next(i - 1)) result += ' ';
        result += text(i);
    }
    return result;
}

const LineMarker* Source::marker_of(size_t i) const {
    const std::uint32_t offset = lexed_.tokens[i].begin;
    const auto after = std::upper_bound(
        lexed_.markers.begin(),
        lexed_.markers.end(),
        offset,
        [](std::uint32_t o, const LineMarker& marker) { return o < marker.offset; });
    return after == lexed_.markers.begin() ? nullptr : &*(after - 1);
}

Location Source::locate(size_t i) const {
    if (size() == 0) return {"<input>", 1};
    i = std::min(i, size() - 1);
    const LineMarker* marker = marker_of(i);
    const auto begin = text_.begin() + (marker ? marker->offset : 0);
    const auto lines = std::count(begin, text_.begin() + lexed_.tokens[i].begin, '\n');
    return {marker ? marker->file : "<input>",
            static_cast<size_t>(lines) + (marker ? marker->line : 1)};
}

bool Source::in_system_header(size_t i) const {
    if (i >= size()) return false;
    const LineMarker* marker = marker_of(i);
    return marker && marker->system_header;
}

void Source::insert_before(size_t i, std::string_view text) {
    insertions_.push_back({lexed_.tokens[i].begin, std::string(text)});
}

void Source::insert_after(size_t i, std::string_view text) {
    const Token& token = lexed_.tokens[i];
    insertions_.push_back({token.begin + token.length, std::string(text)});
}

void Source::blank(size_t i) {
    const Token& token = lexed_.tokens[i];
    blanked_.push_back({token.begin, token.begin + token.length});
}

void Source::blank(size_t first, size_t last) {
    for (size_t i = first; i < last; ++i)
        blank(i);
}

void Source::report(size_t i, const char* severity, const std::string& message) const {
    const Location where = locate(i);
    std::fprintf(stderr,
                 "%s:%zu: %s: %s\n",
                 where.file.c_str(),
                 where.line,
                 severity,
                 message.c_str());
}

void Source::error(size_t i, const std::string& message) {
    report(i, "error", message);
    failed_ = true;
}

void Source::warning(size_t i, const std::string& message) {
    report(i, "warning", message);
}

std::string Source::result() const {
    std::string base = text_;
    for (const ByteRange& range : blanked_) {
        for (size_t i = range.begin; i < range.end; ++i) {
            if (base[i] != '\n') base[i] = ' ';
        }
    }
    std::vector<const Insertion*> order;
    for (const Insertion& insertion : insertions_)
        order.push_back(&insertion);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
        return a->offset < b->offset;
    });
    std::string result;
    result.reserve(base.size() + 64 * order.size());
    size_t done = 0;
    for (const Insertion* insertion : order) {
        result.append(base, done, insertion->offset - done);
        result += insertion->text;
        done = insertion->offset;
    }
    result.append(base, done);
    return result;
}

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + "\"";
}

}  // namespace rewriter
