// Finds inline PTX and refuses it.
#include "ptx.h"

#include <cctype>

namespace rewriter {
namespace {

/// The text of the string literals from token i on, joined.
std::string assembly_text(const Source& source, size_t i) {
    std::string text;
    for (; source.is_text(i); ++i) {
        std::string_view literal = source.text(i);
        const size_t open = literal.find('"');
        text += literal.substr(open + 1, literal.size() - open - 2);
    }
    return text;
}

/// Opcodes with a dotted type such as `mov.u32`, which no CPU assembly has.
bool looks_like_ptx(const std::string& text) {
    for (size_t i = 1; i + 1 < text.size(); ++i) {
        if (text[i] == '.' && std::islower(static_cast<unsigned char>(text[i - 1])) &&
            std::islower(static_cast<unsigned char>(text[i + 1]))) {
            return true;
        }
    }
    return false;
}

}  // namespace

void rewrite_ptx(Source& source, const Structure& structure) {
    for (size_t i = 0; i < source.size(); ++i) {
        if (!source.is_any(i, {"asm", "__asm__", "__asm"})) continue;
        const Function* function = structure.function_of(i);
        if (!function || source.in_system_header(i)) continue;
        size_t open = i + 1;
        while (source.is_any(open, {"volatile", "__volatile__", "__volatile"}))
            ++open;
        if (!source.is(open, "(")) continue;
        const std::string text = assembly_text(source, open + 1);
        const bool device_only = function->for_device() && !function->is_host;
        if (!looks_like_ptx(text) && (!device_only || text.empty())) continue;
        source.error(
            i,
            "inline PTX does not run on the CPU: \"" + text +
                "\"; guard it with #ifndef SIMT_CPU and write the same in C++");
    }
}

}  // namespace rewriter
