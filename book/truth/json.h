/// json.h: writes the output of a truth program, JSON that diffs well.
///
///     Json json;
///     json.open('{').member("n", 10).key("blocks").open('[');
///     for (int b : blocks) json.value(b);
///     json.close(']').close('}').print();
#pragma once

#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>

namespace truth {

/// Builds a JSON text: members and elements are appended in order. What stands directly
/// in the outermost object, or in an array there, begins a line of its own.
class Json {
 public:
    /// '{' or '['
    Json& open(char bracket) {
        separate();
        text_ += bracket;
        first_ = true;
        ++depth_;
        return *this;
    }
    /// '}' or ']'
    Json& close(char bracket) {
        --depth_;
        if (depth_ == 0) text_ += '\n';
        text_ += bracket;
        first_ = false;
        return *this;
    }
    Json& key(std::string_view name) {
        value(name);
        text_ += ": ";
        after_key_ = true;
        return *this;
    }
    /// `text` holds no quote, backslash or control character.
    Json& value(std::string_view text) {
        separate();
        text_.append("\"").append(text).append("\"");
        return *this;
    }
    Json& value(const char* text) { return value(std::string_view(text)); }
    Json& value(bool truth) { return raw(truth ? "true" : "false"); }
    Json& value(std::integral auto number) { return raw(std::to_string(number)); }
    /// Enough digits to read the same number back: 9 for a float, 17 for a double.
    /// Neither may be infinite or NaN, which JSON does not know.
    Json& value(float number) { return rounded("%.9g", number); }
    Json& value(double number) { return rounded("%.17g", number); }
    Json& null() { return raw("null"); }
    template <class T>
    Json& member(std::string_view name, const T& v) {
        return key(name).value(v);
    }
    /// An array of all elements of `range`.
    Json& list(const auto& range) {
        open('[');
        for (const auto& v : range)
            value(v);
        return close(']');
    }

    const std::string& text() const { return text_; }
    /// To standard output, with a new line at the end.
    void print() const { std::printf("%s\n", text_.c_str()); }

 private:
    Json& raw(std::string_view text) {
        separate();
        text_ += text;
        return *this;
    }
    Json& rounded(const char* format, double number) {
        char text[32];
        std::snprintf(text, sizeof text, format, number);
        return raw(text);
    }
    void separate() {
        if (after_key_) {
            after_key_ = false;
            return;
        }
        if (!first_) text_ += ',';
        first_ = false;
        if (depth_ == 1 || depth_ == 2)
            text_ += '\n';
        else if (depth_ > 2 && text_.back() == ',')
            text_ += ' ';
    }

    std::string text_;
    int depth_ = 0;
    bool first_ = true;
    bool after_key_ = false;
};

}  // namespace truth
