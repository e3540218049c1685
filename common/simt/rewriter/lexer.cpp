// The lexer: identifiers, numbers, literals and punctuation of C++, line markers and
// pragmas of the preprocessor.
#include <algorithm>
#include <array>
#include <cstring>

#include "token.h"

namespace rewriter {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
           c == '_' || c == '$' || (static_cast<unsigned char>(c) & 0x80u) != 0;
}

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/// The prefixes that may stand before a quote, e.g. u8R"(…)".
bool is_literal_prefix(std::string_view word) {
    constexpr std::array<std::string_view, 9> kPrefixes = {
        "R", "L", "u", "U", "u8", "LR", "uR", "UR", "u8R"};
    return std::find(kPrefixes.begin(), kPrefixes.end(), word) != kPrefixes.end();
}

class Lexer {
 public:
    explicit Lexer(std::string_view source) : source_(source) {
        // A preprocessed file has about one token for every six bytes.
        result_.tokens.reserve(source.size() / 6);
    }

    LexResult run() {
        while (at_ < source_.size())
            step();
        return std::move(result_);
    }

 private:
    void step() {
        const char c = source_[at_];
        if (c == '\n') {
            line_start_ = true;
            ++at_;
        } else if (is_space(c)) {
            ++at_;
        } else if (c == '#' && line_start_) {
            directive();
        } else {
            line_start_ = false;
            if (c == '/' && peek(1) == '/') {
                skip_line();
            } else if (c == '/' && peek(1) == '*') {
                const size_t end = source_.find("*/", at_ + 2);
                at_ = end == std::string_view::npos ? source_.size() : end + 2;
            } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
                number();
            } else if (is_name_char(c)) {
                word();
            } else if (c == '"' || c == '\'') {
                const size_t begin = at_;
                quoted();
                add(TokenKind::text, begin);
            } else {
                punctuation();
            }
        }
    }

    char peek(size_t ahead) const {
        return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
    }

    void add(TokenKind kind, size_t begin) {
        result_.tokens.push_back({kind,
                                  static_cast<std::uint32_t>(begin),
                                  static_cast<std::uint32_t>(at_ - begin)});
    }

    void skip_line() {  // with its continuation lines
        while (at_ < source_.size() && source_[at_] != '\n') {
            at_ += source_[at_] == '\\' && at_ + 1 < source_.size() ? 2 : 1;
        }
    }

    void directive() {
        const size_t begin = at_;
        skip_line();
        std::string_view text = source_.substr(begin + 1, at_ - begin - 1);
        const auto skip_blanks = [&] {
            while (!text.empty() && is_space(text.front()))
                text.remove_prefix(1);
        };
        skip_blanks();
        if (text.starts_with("line")) text.remove_prefix(4), skip_blanks();
        if (!text.empty() && is_digit(text.front())) return line_marker(text);
        if (!text.starts_with("pragma")) return;
        text.remove_prefix(6);
        skip_blanks();
        for (std::string_view word : {"unroll",
                                      "nounroll",
                                      "nv_",
                                      "hd_warning_disable",
                                      "diag_suppress",
                                      "diag_default"}) {
            if (text.starts_with(word)) {
                result_.ignored_pragmas.push_back({static_cast<std::uint32_t>(begin),
                                                   static_cast<std::uint32_t>(at_)});
                return;
            }
        }
    }

    void line_marker(std::string_view text) {
        std::uint32_t line = 0;
        while (!text.empty() && is_digit(text.front())) {
            line = line * 10 + static_cast<std::uint32_t>(text.front() - '0');
            text.remove_prefix(1);
        }
        const size_t open = text.find('"');
        const size_t close = text.rfind('"');
        if (open == std::string_view::npos || close == open) return;
        std::string file;
        for (size_t i = open + 1; i < close; ++i) {
            if (text[i] == '\\' && i + 1 < close) ++i;
            file += text[i];
        }
        const bool system = text.substr(close).find('3') != std::string_view::npos;
        result_.markers.push_back(
            {static_cast<std::uint32_t>(at_ + 1), line, std::move(file), system});
    }

    void word() {
        const size_t begin = at_;
        while (at_ < source_.size() && is_name_char(source_[at_]))
            ++at_;
        const std::string_view text = source_.substr(begin, at_ - begin);
        const char next = peek(0);
        if ((next == '"' || (next == '\'' && text.back() != 'R')) &&
            is_literal_prefix(text)) {
            if (text.back() == 'R') {
                raw_string();
            } else {
                quoted();
            }
            return add(TokenKind::text, begin);
        }
        add(TokenKind::identifier, begin);
    }

    void raw_string() {  // at the opening quote
        const size_t paren = source_.find('(', at_);
        if (paren == std::string_view::npos) {
            at_ = source_.size();
            return;
        }
        std::string close(1, ')');
        close.append(source_.substr(at_ + 1, paren - at_ - 1)).append(1, '"');
        const size_t end = source_.find(close, paren);
        at_ = end == std::string_view::npos ? source_.size() : end + close.size();
    }

    void quoted() {  // at the opening quote
        const char quote = source_[at_++];
        while (at_ < source_.size() && source_[at_] != quote && source_[at_] != '\n') {
            at_ += source_[at_] == '\\' ? 2 : 1;
        }
        at_ = std::min(at_ + 1, source_.size());
    }

    void number() {
        const size_t begin = at_;
        const bool hex = source_[at_] == '0' && (peek(1) | 0x20) == 'x';
        while (at_ < source_.size()) {
            const char c = source_[at_];
            if (is_name_char(c) || c == '.') {
                ++at_;
            } else if (c == '\'' && is_name_char(peek(1))) {
                at_ += 2;
            } else if ((c == '+' || c == '-') && at_ > begin) {
                const char before = static_cast<char>(source_[at_ - 1] | 0x20);
                if (before != 'p' && (hex || before != 'e')) break;
                ++at_;
            } else {
                break;
            }
        }
        add(TokenKind::number, begin);
    }

    void punctuation() {
        static constexpr std::array<std::string_view, 12> kPairs = {
            "::", "->", "&&", "||", "==", "!=", "+=", "-=", "*=", "/=", "++", "--"};
        const size_t begin = at_;
        const std::string_view two = source_.substr(at_, 2);
        const bool pair = std::find(kPairs.begin(), kPairs.end(), two) != kPairs.end();
        at_ += pair ? 2 : 1;
        add(TokenKind::punctuation, begin);
    }

    std::string_view source_;
    size_t at_ = 0;
    bool line_start_ = true;
    LexResult result_;
};

}  // namespace

LexResult lex(std::string_view source) {
    return Lexer(source).run();
}

}  // namespace rewriter
