#include "signatures.h"

#include <algorithm>
#include <regex>
#include <string_view>

namespace rewriter {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
        text.replace(at, from.size(), to);
        at += to.size();
    }
}

/// The bracket that closes the one at `open`; npos if none does.
size_t closing(std::string_view text, size_t open) {
    int depth = 0;
    for (size_t i = open; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '(' || c == '<' || c == '[') ++depth;
        if (c == ')' || c == ']' || (c == '>' && text[i - 1] != '-')) --depth;
        if (depth == 0) return i;
    }
    return std::string_view::npos;
}

/// `name<X>` becomes X.
void unwrap(std::string& text, std::string_view name) {
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;) {
        const size_t open = at + name.size() - 1;
        const size_t close = closing(text, open);
        if (close == std::string::npos) return;
        text.erase(close, 1);
        text.erase(at, name.size());
    }
}

/// Removes from `begin` to the bracket that closes the first one behind it.
void erase_bracketed(std::string& text, std::string_view begin, char bracket) {
    const size_t at = text.find(begin);
    if (at == std::string::npos) return;
    const size_t open = text.find(bracket, at);
    const size_t close = open == std::string::npos ? open : closing(text, open);
    if (close != std::string::npos) text.erase(at, close - at + 1);
}

struct Constraint {
    std::string_view name;
    std::string_view words;
};
/// Constraints of the simulator's templates, as CUDA's overloads put them.
constexpr Constraint kConstraints[] = {
    {"is_int<T>", "T = int, unsigned or unsigned long long"},
    {"is_addable<T>",
     "T = int, unsigned, unsigned long long, float, double, __half, __half2, "
     "__nv_bfloat16 or __nv_bfloat162"},
};

void trim(std::string& text) {
    while (!text.empty() && text.back() == ' ')
        text.pop_back();
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
}

/// Takes off what the simulator adds to CUDA's types.
void strip_own(std::string& text) {
    for (const char* scope : {"nvcuda::wmma::", "cooperative_groups::"})
        replace_all(text, scope, "");
    unwrap(text, "std::type_identity_t<");
    unwrap(text, "simt_detail::Storage<");
    replace_all(text,
                "typename std::conditional<is_same_v<T, precision::tf32>, float, "
                "T>::type",
                "T");
    for (const auto& [space, vector] : {std::pair{"Device", "device_vector"},
                                        {"Host", "host_vector"},
                                        {"Managed", "universal_vector"}}) {
        const std::regex made(std::string("thrust::detail::Vector<(.*?), "
                                          "thrust::detail::") +
                              space + "Space>");
        text =
            std::regex_replace(text, made, std::string("thrust::") + vector + "<$1>");
    }
    static const std::regex alias("(')? \\{aka [^}]*\\}");
    text = std::regex_replace(text, alias, "$1");
    replace_all(text, "simt::detail::IfKernel<T>", "cudaError_t");
    replace_all(text, ", void>", ">");
    replace_all(text, "> >", ">>");
}

}  // namespace

std::string public_types(std::string text) {
    strip_own(text);
    for (size_t i = 1; i + 1 < text.size(); ++i) {
        const bool ends = text[i + 1] == ',' || text[i + 1] == ')';
        if (text[i] == '&' && ends && text[i - 1] != '(') text.erase(i, 1);
    }
    return text;
}

std::string public_signature(std::string text) {
    std::string constraint;
    for (const auto& [name, words] : kConstraints) {
        if (text.find(name) == std::string::npos) continue;
        constraint = ", " + std::string(words);
        replace_all(text, name, "");
    }
    erase_bracketed(text, "template<", '<');
    replace_all(text, "requires", "");
    text.erase(std::min(text.find(" [with "), text.size()));
    // Where the call is.
    replace_all(text, ", const simt::SourceFile&, int)", ")");
    replace_all(text, "(const simt::SourceFile&, int)", "()");
    strip_own(text);
    trim(text);
    return text + constraint;
}

}  // namespace rewriter
