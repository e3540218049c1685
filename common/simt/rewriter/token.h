// Tokens of preprocessed CUDA C++.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rewriter {

/// What a token is. Text covers string and character literals of every form.
enum class TokenKind : std::uint8_t { identifier, number, text, punctuation };

/// A token as a range of bytes of the source.
struct Token {
    TokenKind kind;
    std::uint32_t begin;
    std::uint32_t length;
};

/// A line marker `# 12 "file.cu" 3` of the preprocessor: what the next line is.
struct LineMarker {
    std::uint32_t offset;  // first byte of the line after the marker
    std::uint32_t line;
    std::string file;
    bool system_header;
};

/// A range of bytes [begin, end) that means something to nvcc only.
struct ByteRange {
    std::uint32_t begin, end;
};

/// All that the lexer finds.
struct LexResult {
    std::vector<Token> tokens;
    std::vector<LineMarker> markers;
    std::vector<ByteRange> ignored_pragmas;  // `#pragma unroll`, `#pragma nv_…`
};

/// Splits `source` into tokens. Angle brackets are always tokens of their own, so that
/// `a<b<c>>` and `<<<` are equally easy to match; comments are skipped.
LexResult lex(std::string_view source);

}  // namespace rewriter
