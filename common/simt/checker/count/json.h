/// checker/count/json.h: writing JSON. By hand: a program of simt-c++ --check links
/// this library, which is built on first use and needs nothing but a compiler. A JSON
/// library would be its only dependency, and cost seconds to compile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "summary.h"

namespace simt::check {

/// Builds a JSON text: members and elements are appended in order.
class Json {
 public:
    Json& open(char bracket);   // '{' or '['
    Json& close(char bracket);  // '}' or ']'
    Json& key(std::string_view name);
    Json& value(std::string_view text);
    Json& value(const char* text) { return value(std::string_view(text)); }
    Json& value(uint64_t number);
    Json& value(int number);
    Json& value(unsigned number) { return value(uint64_t{number}); }
    Json& null();
    template <class T>
    Json& member(std::string_view name, const T& v) {
        return key(name).value(v);
    }
    /// [x, y, z]
    Json& triple(std::string_view name, unsigned x, unsigned y, unsigned z);

    const std::string& text() const { return text_; }

 private:
    void separate();

    std::string text_;
    bool first_ = true;
};

/// Appends the object that describes a kernel.
void append(Json& json, const KernelSummary& summary);

}  // namespace simt::check
