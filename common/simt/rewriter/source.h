// A translation unit while it is being rewritten: its tokens, which bracket closes
// which, where each token came from, and the edits made so far.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "token.h"

namespace rewriter {

/// "No such token".
inline constexpr size_t kNone = static_cast<size_t>(-1);

/// Tokens [first, last).
struct TokenRange {
    size_t first, last;
};

/// A place in the user's own file.
struct Location {
    std::string file;
    size_t line;
};

class Source {
 public:
    /// @param text  output of the preprocessor, or plain source
    explicit Source(std::string text);

    /// Number of tokens.
    size_t size() const { return lexed_.tokens.size(); }
    /// Spelling of token i; empty past either end.
    std::string_view text(size_t i) const {
        if (i >= size()) return {};
        return std::string_view(text_).substr(lexed_.tokens[i].begin,
                                              lexed_.tokens[i].length);
    }
    /// Is token i spelled so, and no literal?
    bool is(size_t i, std::string_view spelling) const { return text(i) == spelling; }
    bool is_any(size_t i, std::initializer_list<std::string_view> spellings) const;
    bool is_identifier(size_t i) const {
        return i < size() && lexed_.tokens[i].kind == TokenKind::identifier;
    }
    bool is_literal(size_t i) const {
        return i < size() && (lexed_.tokens[i].kind == TokenKind::text ||
                              lexed_.tokens[i].kind == TokenKind::number);
    }
    bool is_text(size_t i) const {
        return i < size() && lexed_.tokens[i].kind == TokenKind::text;
    }
    /// Do tokens i and i + 1 touch?
    bool touches_next(size_t i) const;
    /// Three `<` or three `>` from token i on (apart or not: macros may space them).
    bool is_triple(size_t i, char angle) const;

    /// The partner of the bracket ( ) [ ] { } at token i; kNone if it has none.
    size_t match(size_t i) const { return i < size() ? match_[i] : kNone; }
    /// The `>` that closes the template argument list opened at token i, or kNone.
    size_t match_angle(size_t i) const;
    /// The `<` that opens the template argument list closed at token i, or kNone.
    size_t match_angle_back(size_t i) const;

    /// Source of tokens [first, last) on one line.
    std::string squeeze(size_t first, size_t last) const;

    Location locate(size_t i) const;
    /// Is token i in a header that the compiler calls a system header?
    bool in_system_header(size_t i) const;
    /// The tokens of the user's own files, in order.
    const std::vector<TokenRange>& user_tokens() const { return user_tokens_; }

    /// Edits. Nothing may contain a line break: no line of the user ever moves.
    void insert_before(size_t i, std::string_view text);
    void insert_after(size_t i, std::string_view text);
    void blank(size_t i);
    void blank(size_t first, size_t last);  // [first, last)
    void replace(size_t i, std::string_view text) {
        blank(i);
        insert_before(i, text);
    }

    /// Reports an error at token i in the form of compilers; result() is then not to be
    /// used.
    void error(size_t i, const std::string& message);
    /// Reports something that the user should know.
    void warning(size_t i, const std::string& message);
    bool failed() const { return failed_; }

    /// The rewritten text.
    std::string result() const;

 private:
    struct Insertion {
        std::uint32_t offset;
        std::string text;
    };
    void report(size_t i, const char* severity, const std::string& message) const;
    const LineMarker* marker_of(size_t i) const;
    void match_brackets();
    void find_user_tokens();

    std::string text_;
    LexResult lexed_;
    std::vector<size_t> match_;
    std::vector<TokenRange> user_tokens_;
    std::vector<Insertion> insertions_;
    std::vector<ByteRange> blanked_;
    bool failed_ = false;
};

/// `text` as a C++ string literal.
std::string quoted(std::string_view text);

}  // namespace rewriter
