// Operands of PTX instructions as C++.
#include "ptx_operands.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace rewriter {

std::string_view trim(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
        text.remove_prefix(1);
    }
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) {
        text.remove_suffix(1);
    }
    return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    int depth = 0;
    size_t begin = 0;
    for (size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : separator;
        if (c == '{' || c == '[') ++depth;
        if (c == '}' || c == ']') --depth;
        if (c != separator || (depth > 0 && i < text.size())) continue;
        parts.emplace_back(trim(text.substr(begin, i - begin)));
        begin = i + 1;
    }
    return parts;
}

std::string cpp_type(std::string_view name) {
    static const std::map<std::string_view, std::string> kTypes = {{"u8", "uint8_t"},
                                                                   {"b8", "uint8_t"},
                                                                   {"s8", "int8_t"},
                                                                   {"u16", "uint16_t"},
                                                                   {"b16", "uint16_t"},
                                                                   {"s16", "int16_t"},
                                                                   {"u32", "uint32_t"},
                                                                   {"b32", "uint32_t"},
                                                                   {"s32", "int32_t"},
                                                                   {"u64", "uint64_t"},
                                                                   {"b64", "uint64_t"},
                                                                   {"s64", "int64_t"},
                                                                   {"f32", "float"},
                                                                   {"f64", "double"},
                                                                   {"pred", "bool"}};
    const auto found = kTypes.find(name);
    return found == kTypes.end() ? "" : found->second;
}

bool is_float(std::string_view type) {
    return type == "float" || type == "double";
}

static bool is_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0]));
}

/// A constant expression such as `(3 + 7) * 10` or `~7`: C's operators and numbers, no
/// names and no registers.
static Code constant(std::string_view operand) {
    static constexpr std::string_view kFirst = "-+~!(",
                                      kOperators = "+-*/&|^~!()<>=?: ";
    const auto is_digit = [](char c) {
        return std::isdigit(static_cast<unsigned char>(c)) != 0;
    };
    const auto is_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '.';
    };
    if (operand.empty() ||
        (!is_digit(operand[0]) && kFirst.find(operand[0]) == std::string_view::npos))
        return std::nullopt;
    std::string code;
    for (size_t i = 0; i < operand.size(); ++i) {
        const char c = operand[i];
        if (c == '%') {  // the remainder, in an asm with operands `%%`
            const bool twice = i + 1 < operand.size() && operand[i + 1] == '%';
            const std::string_view left = trim(code);
            if (left.empty() || (!is_word(left.back()) && left.back() != ')'))
                return std::nullopt;
            i += twice ? 1 : 0;
        } else if (is_word(c)) {
            if (!is_digit(c) && (code.empty() || !is_word(code.back())))
                return std::nullopt;  // a name
        } else if (kOperators.find(c) == std::string_view::npos) {
            return std::nullopt;
        }
        code += c;
    }
    return is_digit(code[0]) && std::all_of(code.begin(), code.end(), is_word)
               ? code
               : "(" + code + ")";
}

/// 0f3F800000 and 0d3FF0000000000000 are the bits of a float and of a double.
static Code float_bits(std::string_view operand) {
    const bool single = operand.starts_with("0f") || operand.starts_with("0F");
    const bool twice = operand.starts_with("0d") || operand.starts_with("0D");
    if ((!single || operand.size() != 10) && (!twice || operand.size() != 18))
        return std::nullopt;
    return "::simt::ptx::as<" + std::string(single ? "float" : "double") + ">(0x" +
           std::string(operand.substr(2)) + (single ? "u)" : "ull)");
}

Code value(std::string_view operand) {
    static const std::map<std::string_view, std::string> kRegisters = {
        {"%laneid", "::simt::ptx::laneid()"},
        {"%warpid", "::simt::ptx::warpid()"},
        {"%nwarpid", "::simt::ptx::nwarpid()"},
        {"%smid", "::simt::ptx::smid()"},
        {"%nsmid", "::simt::ptx::nsmid()"},
        {"%lanemask_eq", "::simt::ptx::lanemask_eq()"},
        {"%lanemask_lt", "::simt::ptx::lanemask_lt()"},
        {"%lanemask_le", "::simt::ptx::lanemask_le()"},
        {"%lanemask_gt", "::simt::ptx::lanemask_gt()"},
        {"%lanemask_ge", "::simt::ptx::lanemask_ge()"},
        {"%globaltimer", "::simt::ptx::globaltimer()"},
        {"%globaltimer_lo", "static_cast<uint32_t>(::simt::ptx::globaltimer())"},
        {"%globaltimer_hi", "static_cast<uint32_t>(::simt::ptx::globaltimer() >> 32)"},
        {"%clock_hi", "static_cast<uint32_t>(::clock64() >> 32)"},
        {"WARP_SZ", "32"},
        {"%clock64", "::clock64()"},
        {"%clock", "static_cast<uint32_t>(::clock64())"},
        {"%tid.x", "threadIdx.x"},
        {"%tid.y", "threadIdx.y"},
        {"%tid.z", "threadIdx.z"},
        {"%ntid.x", "blockDim.x"},
        {"%ntid.y", "blockDim.y"},
        {"%ntid.z", "blockDim.z"},
        {"%ctaid.x", "blockIdx.x"},
        {"%ctaid.y", "blockIdx.y"},
        {"%ctaid.z", "blockIdx.z"},
        {"%nctaid.x", "gridDim.x"},
        {"%nctaid.y", "gridDim.y"},
        {"%nctaid.z", "gridDim.z"},
        {"%is_explicit_cluster", "::__clusterDimIsSpecified()"},
        {"%cluster_ctarank", "::__clusterRelativeBlockRank()"},
        {"%cluster_nctarank", "::__clusterSizeInBlocks()"},
        {"%cluster_ctaid.x", "::__clusterRelativeBlockIdx().x"},
        {"%cluster_ctaid.y", "::__clusterRelativeBlockIdx().y"},
        {"%cluster_ctaid.z", "::__clusterRelativeBlockIdx().z"},
        {"%cluster_nctaid.x", "::__clusterDim().x"},
        {"%cluster_nctaid.y", "::__clusterDim().y"},
        {"%cluster_nctaid.z", "::__clusterDim().z"},
        {"%clusterid.x", "::__clusterIdx().x"},
        {"%clusterid.y", "::__clusterIdx().y"},
        {"%clusterid.z", "::__clusterIdx().z"},
        {"%nclusterid.x", "::__clusterGridDimInClusters().x"},
        {"%nclusterid.y", "::__clusterGridDimInClusters().y"},
        {"%nclusterid.z", "::__clusterGridDimInClusters().z"}};
    if (operand.starts_with("%%")) operand.remove_prefix(1);
    const auto found = kRegisters.find(operand);
    if (found != kRegisters.end()) return found->second;
    // A register that the statement declares: the parser has marked it.
    if (operand.starts_with('$')) return "simt_r" + std::string(operand.substr(1));
    if (operand.starts_with('%'))
        operand.remove_prefix(1);
    else if (const Code bits = float_bits(operand))
        return bits;
    else
        return constant(operand);
    if (operand.empty() ||
        !std::all_of(operand.begin(), operand.end(), [](unsigned char c) {
            return std::isdigit(c);
        })) {
        return std::nullopt;
    }
    return "simt_p" + std::string(operand);
}

Code pointer(std::string_view operand, const std::string& type, bool shared) {
    if (!operand.starts_with('[') || !operand.ends_with(']')) return std::nullopt;
    const auto parts = split(operand.substr(1, operand.size() - 2), '+');
    if (parts.size() > 2 || (parts.size() == 2 && !is_number(parts[1])))
        return std::nullopt;
    const Code base = value(parts[0]);
    if (!base) return std::nullopt;
    std::string address =
        shared ? "reinterpret_cast<char*>(::__cvta_shared_to_generic(" + *base + "))"
               : "::simt::ptx::as<char*>(" + *base + ")";
    if (parts.size() == 2) address += " + " + parts[1];
    return "reinterpret_cast<" + type + "*>(" + address + ")";
}

Code predicate(std::string_view operand) {
    const bool negated = operand.starts_with('!');
    const Code code = value(trim(operand.substr(negated ? 1 : 0)));
    if (!code) return std::nullopt;
    return (negated ? "!(" : "bool(") + *code + ")";
}

Code as(const std::string& type, std::string_view operand) {
    const Code code = value(operand);
    if (!code) return std::nullopt;
    return "::simt::ptx::as<" + type + ">(" + *code + ")";
}

Code assign(std::string_view out, const std::string& expression) {
    if (out == "_") return "(void)(" + expression + ");";
    const Code place = value(out);
    if (!place) return std::nullopt;
    return "::simt::ptx::set(" + *place + ", " + expression + ");";
}

Code call(const PtxInstruction& in,
          const std::string& function,
          const std::string& type,
          size_t inputs,
          size_t plain) {
    if (in.operands.size() != inputs + 1) return std::nullopt;
    const Code out = value(in.operands[0]);
    if (!out) return std::nullopt;
    std::string arguments;
    for (size_t i = 1; i <= inputs; ++i) {
        const Code input = value(in.operands[i]);
        if (!input) return std::nullopt;
        const std::string as = i + plain > inputs ? "uint32_t" : type;
        arguments +=
            (i > 1 ? ", " : "") + ("::simt::ptx::as<" + as + ">(" + *input + ")");
    }
    return "::simt::ptx::set(" + *out + ", ::simt::ptx::" + function + "(" + arguments +
           "));";
}

bool has(const PtxInstruction& in, std::string_view word) {
    return std::find(in.opcode.begin() + 1, in.opcode.end(), word) != in.opcode.end();
}

bool only(const PtxInstruction& in, std::initializer_list<std::string_view> allowed) {
    for (size_t i = 1; i + 1 < in.opcode.size(); ++i) {
        const auto& word = in.opcode[i];
        if (std::find(allowed.begin(), allowed.end(), word) == allowed.end())
            return false;
    }
    return true;
}

}  // namespace rewriter
