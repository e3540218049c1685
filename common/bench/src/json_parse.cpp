// The reader of JSON: one function for each production of the grammar (RFC 8259).
#include <wb/bench/json.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace wb::bench {
namespace {

/// Deeper text is refused, before the recursion exhausts the stack.
constexpr int kMaxDepth = 64;

class Parser {
 public:
    explicit Parser(const std::string& text) : text_(text) {}

    Json document() {
        Json result = value(0);
        skip_space();
        if (at_ < text_.size()) fail("something follows the value");
        return result;
    }

 private:
    [[noreturn]] void fail(const std::string& what) const {
        const auto here = text_.begin() + static_cast<std::ptrdiff_t>(at_);
        const auto line = 1 + std::count(text_.begin(), here, '\n');
        throw std::runtime_error("JSON, line " + std::to_string(line) + ": " + what);
    }

    void skip_space() {
        while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) != nullptr)
            ++at_;
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    bool accept(char wanted) {
        skip_space();
        if (peek() != wanted) return false;
        ++at_;
        return true;
    }

    void expect(char wanted) {
        if (!accept(wanted)) fail(std::string("expected ") + wanted);
    }

    bool accept_word(const char* word) {
        const std::size_t length = std::strlen(word);
        if (text_.compare(at_, length, word) != 0) return false;
        at_ += length;
        return true;
    }

    Json value(int depth) {
        if (depth > kMaxDepth) fail("nested too deeply");
        skip_space();
        if (peek() == '{') return object(depth);
        if (peek() == '[') return array(depth);
        if (peek() == '"') return string();
        if (accept_word("true")) return true;
        if (accept_word("false")) return false;
        if (accept_word("null")) return {};
        return number();
    }

    Json object(int depth) {
        Json::Object members;
        expect('{');
        if (accept('}')) return members;
        do {
            skip_space();
            std::string key = string();
            expect(':');
            members.push_back({std::move(key), value(depth + 1)});
        } while (accept(','));
        expect('}');
        return members;
    }

    Json array(int depth) {
        Json::Array items;
        expect('[');
        if (accept(']')) return items;
        do {
            items.push_back(value(depth + 1));
        } while (accept(','));
        expect(']');
        return items;
    }

    Json number() {
        const char* begin = text_.data() + at_;
        double result = 0.0;
        const auto [end, error] =
            std::from_chars(begin, text_.data() + text_.size(), result);
        // from_chars also reads "inf" and "nan", which JSON does not have.
        const bool starts_well = peek() == '-' || (peek() >= '0' && peek() <= '9');
        if (error != std::errc() || !starts_well) fail("expected a value");
        at_ += static_cast<std::size_t>(end - begin);
        return result;
    }

    std::string string() {
        if (peek() != '"') fail("expected a string");
        ++at_;
        std::string result;
        while (true) {
            if (at_ >= text_.size()) fail("a string is not closed");
            const char c = text_[at_++];
            if (c == '"') return result;
            if (static_cast<unsigned char>(c) < 0x20)
                fail("control character in a string");
            if (c == '\\') {
                result += escape();
            } else {
                result += c;
            }
        }
    }

    std::string escape() {
        constexpr const char* kLetters = "\"\\/bfnrt";
        constexpr const char* kMeanings = "\"\\/\b\f\n\r\t";
        const char c = peek();
        ++at_;
        if (c == 'u') return code_point();
        const char* letter = c == '\0' ? nullptr : std::strchr(kLetters, c);
        if (letter == nullptr) fail("unknown escape in a string");
        return std::string(1, kMeanings[letter - kLetters]);
    }

    /// The four hexadecimal digits of \uXXXX, as UTF-8.
    std::string code_point() {
        unsigned code = 0;
        const char* begin = text_.data() + at_;
        if (at_ + 4 > text_.size() ||
            std::from_chars(begin, begin + 4, code, 16).ptr != begin + 4) {
            fail("\\u needs four hexadecimal digits");
        }
        at_ += 4;
        if (code >= 0xD800 && code < 0xE000) {
            fail("surrogate pairs are not supported; write the character itself");
        }
        const auto byte = [](unsigned bits) { return static_cast<char>(bits); };
        if (code < 0x80) return {byte(code)};
        if (code < 0x800) return {byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F))};
        return {byte(0xE0 | code >> 12),
                byte(0x80 | (code >> 6 & 0x3F)),
                byte(0x80 | (code & 0x3F))};
    }

    const std::string& text_;
    std::size_t at_ = 0;
};

}  // namespace

Json Json::parse(const std::string& text) {
    return Parser(text).document();
}

}  // namespace wb::bench
