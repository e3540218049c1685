// PTX instructions with fragments of matrices: ldmatrix, stmatrix, mma.sync.
#include <map>

#include "ptx_operands.h"

namespace rewriter {
namespace {

/// The registers of a fragment, `{%0, %1}`; none if there are not `count`.
std::vector<std::string> registers(std::string_view operand, size_t count) {
    if (!operand.starts_with('{') || !operand.ends_with('}')) return {};
    auto parts = split(operand.substr(1, operand.size() - 2), ',');
    return parts.size() == count ? parts : std::vector<std::string>();
}

/// `type name[n] = {values...};` of a fragment's registers.
Code fragment(const std::string& type,
              const std::string& name,
              std::string_view operand,
              size_t count) {
    std::string values;
    for (const std::string& part : registers(operand, count)) {
        const Code one = as(type, part);
        if (!one) return std::nullopt;
        values += (values.empty() ? "" : ", ") + *one;
    }
    if (values.empty()) return std::nullopt;
    return type + " " + name + "[" + std::to_string(count) + "] = {" + values + "}; ";
}

/// Statements that write an array to the registers of a fragment.
Code store(std::string_view operand, const std::string& name, size_t count) {
    std::string code;
    const auto parts = registers(operand, count);
    for (size_t i = 0; i < parts.size(); ++i) {
        const Code one = assign(parts[i], name + "[" + std::to_string(i) + "]");
        if (!one) return std::nullopt;
        code += " " + *one;
    }
    return code.empty() ? Code() : Code(code);
}

/// ldmatrix.sync.aligned.m8n8.num{.trans}.shared.b16 {r...}, [p], and stmatrix.
Code move_matrices(const PtxInstruction& in) {
    const std::vector<std::string>& words = in.opcode;
    const bool trans = words.size() == 8 && words[5] == "trans";
    if (words.size() != (trans ? 8u : 7u) || in.operands.size() != 2)
        return std::nullopt;
    const std::string& space = words[words.size() - 2];
    if (words[1] != "sync" || words[2] != "aligned" || words[3] != "m8n8" ||
        (space != "shared" && space != "shared::cta") || words.back() != "b16")
        return std::nullopt;
    static const std::map<std::string_view, size_t> kNumbers = {
        {"x1", 1}, {"x2", 2}, {"x4", 4}};
    const auto number = kNumbers.find(words[4]);
    if (number == kNumbers.end()) return std::nullopt;
    const size_t count = number->second;
    const bool load = words[0] == "ldmatrix";
    const std::string& memory = in.operands[load ? 1 : 0];
    const std::string& fragments = in.operands[load ? 0 : 1];
    const Code row = pointer(memory, "char", true);
    if (!row) return std::nullopt;
    const std::string call =
        "::simt::ptx::" + words[0] + "<" + (trans ? "true" : "false") + ">(";
    if (!load) {
        const Code values = fragment("unsigned", "simt_m", fragments, count);
        return values ? "{ " + *values + call + *row + ", simt_m); }" : Code();
    }
    const Code stores = store(fragments, "simt_m", count);
    return stores ? "{ unsigned simt_m[" + std::to_string(count) + "]; " + call +
                        "simt_m, " + *row + ");" + *stores + " }"
                  : Code();
}

/// mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 d, a, b, c.
Code multiply_bytes(const PtxInstruction& in) {
    const Code a = fragment("unsigned", "simt_a", in.operands[1], 4);
    const Code b = fragment("unsigned", "simt_b", in.operands[2], 2);
    const Code c = fragment("int", "simt_c", in.operands[3], 4);
    const Code d = store(in.operands[0], "simt_c", 4);
    if (!a || !b || !c || !d) return std::nullopt;
    return "{ " + *a + *b + *c +
           "::simt::ptx::mma_m16n8k32_s8(simt_c, simt_a, simt_b);" + *d + " }";
}

/// mma.sync.aligned.m16n8kK.row.col.f32.T.T.f32 d, a, b, c: K is 16 for T of 16 bits,
/// 8 for these, whose second half of a and b is then zero, and for TF32.
Code multiply(const PtxInstruction& in) {
    const std::vector<std::string>& words = in.opcode;
    if (words.size() != 10 || in.operands.size() != 4) return std::nullopt;
    const std::string& shape = words[3];
    const std::string& type = words[7];
    static const std::map<std::string_view, std::string> kFormats = {
        {"f16", "k16<::simt::Binary16>"},
        {"bf16", "k16<::simt::Bfloat16>"},
        {"tf32", "k8"}};
    const auto format = kFormats.find(type);
    const bool half = shape == "m16n8k8" && type != "tf32";
    std::string opcode;
    for (const std::string& word : words)
        opcode += word + ".";
    if (opcode == "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32.")
        return multiply_bytes(in);
    if (opcode != "mma.sync.aligned." + shape + ".row.col.f32." + type + "." + type +
                      ".f32." ||
        format == kFormats.end() ||
        (!half && shape != (type == "tf32" ? "m16n8k8" : "m16n8k16")))
        return std::nullopt;
    const Code a = fragment("unsigned", "simt_a", in.operands[1], half ? 2 : 4);
    const Code b = fragment("unsigned", "simt_b", in.operands[2], half ? 1 : 2);
    const Code c = fragment("float", "simt_c", in.operands[3], 4);
    const Code d = store(in.operands[0], "simt_c", 4);
    if (!a || !b || !c || !d) return std::nullopt;
    const std::string longer =
        half
            ? "unsigned simt_a4[4] = {simt_a[0], simt_a[1]}, simt_b2[2] = {simt_b[0]}; "
            : "";
    return "{ " + *a + *b + *c + longer + "::simt::ptx::mma_m16n8" + format->second +
           (half ? "(simt_c, simt_a4, simt_b2);" : "(simt_c, simt_a, simt_b);") + *d +
           " }";
}

}  // namespace

Code translate_matrices(const PtxInstruction& in) {
    if (in.opcode[0] == "ldmatrix" || in.opcode[0] == "stmatrix")
        return move_matrices(in);
    if (in.opcode[0] == "mma") return multiply(in);
    return std::nullopt;
}

}  // namespace rewriter
