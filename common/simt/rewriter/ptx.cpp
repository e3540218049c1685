// Finds asm statements, takes them apart and replaces those that hold PTX.
//
//     asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
//     do { auto&& simt_p0 = lane; ::simt::ptx::set(simt_p0, ::simt::ptx::laneid()); }
//     while (0);
#include "ptx.h"

#include <cctype>

namespace rewriter {
namespace {

/// An asm statement; its operands are C++ expressions of tokens [first, last).
struct Assembly {
    struct Operand {
        size_t first, last;
        bool is_output;
    };
    size_t first, last;  // from `asm` to one past `)`
    std::string text;
    std::vector<Operand> operands;
    bool is_simple = true;  // understood in all parts
};

/// Content of a string literal. Line breaks and tabs are kept as such.
std::string unescape(std::string_view literal) {
    const size_t open = literal.find('"');
    literal = literal.substr(open + 1, literal.size() - open - 2);
    std::string text;
    for (size_t i = 0; i < literal.size(); ++i) {
        if (literal[i] == '\\' && i + 1 < literal.size()) {
            ++i;
            text += literal[i] == 'n' ? '\n' : literal[i] == 't' ? '\t' : literal[i];
        } else {
            text += literal[i];
        }
    }
    return text;
}

Assembly read_assembly(const Source& source, size_t word, size_t open) {
    Assembly result{word, source.match(open) + 1, {}, {}};
    const size_t close = source.match(open);
    size_t i = open + 1;
    for (; source.is_text(i); ++i)
        result.text += unescape(source.text(i));
    int section = 0;  // 1: outputs, 2: inputs, 3: clobbers
    for (; i < close; ++i) {
        if (source.is(i, ":")) {
            ++section;
        } else if (source.is(i, "::")) {
            section += 2;
        } else if (source.is_text(i) && section < 3) {
            const bool operand = source.is(i + 1, "(") && source.match(i + 1) != kNone;
            result.is_simple &= operand;
            if (!operand) continue;
            const size_t end = source.match(i + 1);
            result.operands.push_back({i + 2, end, section == 1});
            i = end;
        } else if (!source.is(i, ",") && section < 3) {
            result.is_simple = false;  // e.g. a named operand
        }
    }
    return result;
}

/// Opcodes with a dotted type such as `mov.u32`, which no CPU assembly has.
bool looks_like_ptx(const std::string& text) {
    for (size_t i = 1; i + 1 < text.size(); ++i) {
        if (text[i] == '.' && std::isalnum(static_cast<unsigned char>(text[i - 1])) &&
            std::isalpha(static_cast<unsigned char>(text[i + 1]))) {
            return true;
        }
    }
    return false;
}

/// The statement as C++; else `refused` says what has no translation.
std::optional<std::string> translate(const Source& source,
                                     const Assembly& assembly,
                                     std::string& refused) {
    refused = assembly.text;
    if (!assembly.is_simple) return std::nullopt;
    const auto wait = translate_mbarrier_wait(assembly.text);
    std::string code = "do {";
    for (size_t i = 0; i < assembly.operands.size(); ++i) {
        const auto& operand = assembly.operands[i];
        code += operand.is_output ? " auto&& simt_p"
                                  : " [[maybe_unused]] const auto simt_p";
        code += std::to_string(i) + " = (";
        code += source.squeeze(operand.first, operand.last) + ");";
    }
    if (wait) return code + ' ' + *wait + " } while (0)";
    for (const PtxInstruction& instruction : parse_ptx(assembly.text)) {
        const auto statement = translate_ptx(instruction);
        if (!statement) {
            refused = instruction.text + ";";
            return std::nullopt;
        }
        code += ' ' + *statement;
    }
    return code + " } while (0)";
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
        if (!source.is(open, "(") || source.match(open) == kNone) continue;
        const Assembly assembly = read_assembly(source, i, open);
        const bool device_only = function->for_device() && !function->is_host;
        const bool barrier =
            assembly.text.empty();  // of the compiler: asm("" ::: "memory")
        if (barrier || (!looks_like_ptx(assembly.text) && !device_only)) continue;
        std::string refused;
        if (const auto code = translate(source, assembly, refused)) {
            source.blank(assembly.first, assembly.last);
            source.insert_before(assembly.first, *code);
            continue;
        }
        std::string shown;
        for (char c : refused)
            shown += c == '\n' || c == '\t' ? ' ' : c;
        source.error(
            i,
            "inline PTX does not run on the CPU: \"" + shown +
                "\"; guard it with #ifndef SIMT_CPU and write the same in C++");
    }
}

}  // namespace rewriter
