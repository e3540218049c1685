// PTX arithmetic, carries and conversions as calls of the functions in
// simt/inline_ptx/.
#include <map>
#include <set>

#include "ptx_operands.h"

namespace rewriter {
namespace {

/// The rounding mode that an opcode names, as a template argument; rn if it names none.
std::string rounding(const PtxInstruction& in) {
    static const std::map<std::string_view, std::string> kModes = {
        {"rz", "FE_TOWARDZERO"}, {"rm", "FE_DOWNWARD"}, {"rp", "FE_UPWARD"}};
    for (const auto& [word, mode] : kModes)
        if (has(in, word)) return mode;
    return "FE_TONEAREST";
}

/// Sums, products and quotients of floats, with rounding, .ftz and .sat.
Code float_arithmetic(const PtxInstruction& in, const std::string& type) {
    static const std::map<std::string_view, size_t> kInputs = {{"add", 2},
                                                               {"sub", 2},
                                                               {"mul", 2},
                                                               {"div", 2},
                                                               {"fma", 3},
                                                               {"mad", 3},
                                                               {"rcp", 1},
                                                               {"sqrt", 1}};
    const auto found = kInputs.find(in.opcode[0]);
    const bool known =
        only(in, {"rn", "rz", "rm", "rp", "ftz", "sat", "approx", "full"});
    if (found == kInputs.end() || !known) return std::nullopt;
    const std::string name = in.opcode[0] == "mad" ? "fma" : in.opcode[0];
    std::string function = "rounded_" + name + "<" + rounding(in);
    function += has(in, "ftz") ? ", true" : ", false";
    function += has(in, "sat") ? ", true>" : ", false>";
    return call(in, function, type, found->second);
}

/// Minima, signs and tests of floats.
Code float_signs(const PtxInstruction& in, const std::string& type) {
    const std::string& name = in.opcode[0];
    const std::string flush = has(in, "ftz") ? "<true>" : "<false>";
    if ((name == "min" || name == "max") && only(in, {"ftz", "NaN"})) {
        const std::string nan = has(in, "NaN") ? "_nan" : "";
        return call(in, "float_" + name + nan + flush, type, 2);
    }
    if ((name == "abs" || name == "neg") && only(in, {"ftz"}))
        return call(in, "float_" + name + flush, type, 1);
    if (name == "copysign" && only(in, {})) return call(in, "copysign", type, 2);
    static const std::set<std::string_view> kApproximate = {
        "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"};
    if (kApproximate.contains(name) && only(in, {"approx", "ftz"})) {
        const bool generic = name == "rsqrt";
        return call(in, name + (generic ? "<" + type + ">" : ""), type, 1);
    }
    return std::nullopt;
}

/// Products of integers: the low or high half, or all of it.
Code integer_products(const PtxInstruction& in, const std::string& type) {
    const std::string& name = in.opcode[0];
    const bool sum = name == "mad" || name == "mad24";
    const size_t inputs = sum ? 3 : 2;
    const std::string typed = "<" + type + ">";
    if (in.opcode.size() != 3) return std::nullopt;
    if (name == "mul24" || name == "mad24")
        return has(in, "lo") ? call(in, name + typed, type, inputs) : std::nullopt;
    if (name != "mul" && name != "mad") return std::nullopt;
    if (has(in, "lo")) return call(in, name + typed, type, inputs);
    if (has(in, "hi")) return call(in, name + "_hi" + typed, type, inputs);
    if (!has(in, "wide") || type.ends_with("64_t")) return std::nullopt;
    if (!sum) return call(in, "mul_wide" + typed, type, 2);
    if (in.operands.size() != 4) return std::nullopt;
    const Code a = as(type, in.operands[1]), b = as(type, in.operands[2]);
    const std::string wide = "decltype(::simt::ptx::mul_wide" + typed + "(1, 1))";
    const Code c = as(wide, in.operands[3]);
    if (!a || !b || !c) return std::nullopt;
    return assign(
        in.operands[0],
        "::simt::ptx::mad_wide" + typed + "(" + *a + ", " + *b + ", " + *c + ")");
}

Code integer_arithmetic(const PtxInstruction& in, const std::string& type) {
    const std::string& name = in.opcode[0];
    const std::string typed = "<" + type + ">";
    static const std::set<std::string_view> kExact = {
        "add", "sub", "min", "max", "div", "rem"};
    if (kExact.contains(name) && only(in, {})) return call(in, name + typed, type, 2);
    if ((name == "add" || name == "sub") && only(in, {"sat"}) && type == "int32_t")
        return call(in, name + "_sat", type, 2);
    if ((name == "abs" || name == "neg") && only(in, {}))
        return call(in, name + typed, type, 1);
    static const std::set<std::string_view> kLogic = {"and", "or", "xor"};
    if (kLogic.contains(name) && only(in, {}))
        return call(in, "bit_" + name + typed, type, 2);
    if (name == "not" && only(in, {})) return call(in, "bit_not" + typed, type, 1);
    if (name == "cnot" && only(in, {})) return call(in, "cnot" + typed, type, 1);
    if ((name == "shl" || name == "shr") && only(in, {}))
        return call(in, name + typed, type, 2, 1);
    static const std::set<std::string_view> kCounts = {"popc", "clz", "brev"};
    if (kCounts.contains(name) && only(in, {})) return call(in, name + typed, type, 1);
    if (name == "bfind" && only(in, {"shiftamt"})) {
        const std::string shift = has(in, "shiftamt") ? ", true>" : ", false>";
        return call(in, "bfind<" + type + shift, type, 1);
    }
    if (name == "bfe" && only(in, {})) return call(in, "bfe" + typed, type, 3, 2);
    if (name == "bfi" && only(in, {})) return call(in, "bfi" + typed, type, 4, 2);
    if (name == "sad" && only(in, {})) return call(in, "sad" + typed, type, 3);
    if (name == "prmt" && only(in, {})) return call(in, "prmt", "uint32_t", 3);
    if (name == "lop3" && only(in, {})) return call(in, "lop3", "uint32_t", 4);
    return integer_products(in, type);
}

/// dp4a.s32.u32, dp2a.lo.s32.s32: the bytes of a and of b have types of their own.
Code dot_products(const PtxInstruction& in) {
    const std::string& name = in.opcode[0];
    const bool four = name == "dp4a";
    const size_t at = four ? 1 : 2;
    if ((!four && name != "dp2a") || in.opcode.size() != at + 2) return std::nullopt;
    const std::string a = cpp_type(in.opcode[at]), b = cpp_type(in.opcode[at + 1]);
    if (!a.ends_with("32_t") || !b.ends_with("32_t")) return std::nullopt;
    std::string function = four ? "dp4a<" : "dp2a<";
    function += a + ", " + b;
    if (!four) function += has(in, "hi") ? ", 2" : ", 0";
    return call(in, function + ">", "uint32_t", 3);
}

/// prmt.b32.f4e %0, a, b, control: the mode stands behind the type.
Code permute_mode(const PtxInstruction& in) {
    if (in.opcode.size() != 3 || in.opcode[0] != "prmt" || in.opcode[1] != "b32")
        return std::nullopt;
    static const std::map<std::string_view, std::string> kModes = {{"f4e", "0"},
                                                                   {"b4e", "1"},
                                                                   {"rc8", "2"},
                                                                   {"ecl", "3"},
                                                                   {"ecr", "4"},
                                                                   {"rc16", "5"}};
    const auto found = kModes.find(in.opcode[2]);
    if (found == kModes.end()) return std::nullopt;
    return call(in, "prmt_mode<" + found->second + ">", "uint32_t", 3);
}

/// shf.l.wrap.b32 %0, low, high, count
Code funnel_shift(const PtxInstruction& in) {
    if (in.opcode[0] != "shf" || in.operands.size() != 4 || in.opcode.size() != 4 ||
        (in.opcode[1] != "l" && in.opcode[1] != "r"))
        return std::nullopt;
    const Code low = as("uint32_t", in.operands[1]),
               high = as("uint32_t", in.operands[2]);
    const Code count = as("uint32_t", in.operands[3]);
    if (!low || !high || !count) return std::nullopt;
    const std::string n = in.opcode[2] == "wrap"
                              ? "(" + *count + ") & 31u"
                              : "::simt::ptx::min<uint32_t>(" + *count + ", 32u)";
    return assign(in.operands[0],
                  "::simt::ptx::shf_" + in.opcode[1] + "(" + *low + ", " + *high +
                      ", " + n + ")");
}

/// mov of a value, or between a register and a vector of halves of it.
Code move(const PtxInstruction& in, const std::string& type) {
    if (in.opcode.size() != 2 || in.operands.size() != 2) return std::nullopt;
    const std::string half = type.ends_with("64_t")   ? "uint32_t"
                             : type.ends_with("32_t") ? "uint16_t"
                                                      : "";
    const auto parts = [](const std::string& vector) {
        return split(std::string_view(vector).substr(1, vector.size() - 2), ',');
    };
    const std::string bits = std::to_string(half == "uint32_t" ? 32 : 16);
    if (in.operands[0].starts_with('{')) {
        const auto to = parts(in.operands[0]);
        const Code from = as(type, in.operands[1]);
        if (to.size() != 2 || half.empty() || !from) return std::nullopt;
        const auto part = [&](const std::string& out, const std::string& shift) {
            return assign(out,
                          "static_cast<" + half + ">(simt_whole >> " + shift + ")");
        };
        const Code low = part(to[0], "0"), high = part(to[1], bits);
        if (!low || !high) return std::nullopt;
        return "{ const auto simt_whole = " + *from + "; " + *low + " " + *high + " }";
    }
    if (in.operands[1].starts_with('{')) {
        const auto from = parts(in.operands[1]);
        if (from.size() != 2 || half.empty()) return std::nullopt;
        const Code low = as(half, from[0]), high = as(half, from[1]);
        if (!low || !high) return std::nullopt;
        return assign(in.operands[0],
                      type + "(" + *low + ") | " + type + "(" + *high + ") << " + bits);
    }
    return call(in, "as<" + type + ">", type, 1);
}

}  // namespace

Code translate_numbers(const PtxInstruction& in) {
    if (const Code code = funnel_shift(in)) return code;
    if (const Code code = dot_products(in)) return code;
    if (const Code code = permute_mode(in)) return code;
    const std::string type = cpp_type(in.opcode.back());
    if (type.empty() || type == "bool") return std::nullopt;
    if (in.opcode[0] == "mov") return move(in, type);
    if (!is_float(type)) return integer_arithmetic(in, type);
    if (const Code code = float_arithmetic(in, type)) return code;
    return float_signs(in, type);
}

/// add.cc, addc, sub.cc, subc, mad.lo.cc, madc.hi.cc and so on.
Code translate_carries(const PtxInstruction& in) {
    const std::string& name = in.opcode[0];
    const std::string type = cpp_type(in.opcode.back());
    if (type.empty() || is_float(type) || type == "bool") return std::nullopt;
    const bool takes = name == "addc" || name == "subc" || name == "madc";
    const bool gives = has(in, "cc");
    if ((!takes && !gives) || !only(in, {"cc", "lo", "hi"})) return std::nullopt;
    const std::string options =
        std::string("<uint") + (type.ends_with("64_t") ? "64_t, " : "32_t, ") +
        (takes ? "true, " : "false, ") + (gives ? "true>" : "false>");
    const std::string plain = type.ends_with("64_t") ? "uint64_t" : "uint32_t";
    if (name.starts_with("add")) return call(in, "add_carry" + options, plain, 2);
    if (name.starts_with("sub")) return call(in, "sub_carry" + options, plain, 2);
    if (!name.starts_with("mad")) return std::nullopt;
    if (has(in, "lo")) return call(in, "mad_lo_carry" + options, plain, 3);
    if (!has(in, "hi") || in.operands.size() != 4) return std::nullopt;
    const Code a = as(type, in.operands[1]), b = as(type, in.operands[2]);
    const Code c = as(plain, in.operands[3]);
    if (!a || !b || !c) return std::nullopt;
    return assign(in.operands[0],
                  "::simt::ptx::add_carry" + options + "(::simt::ptx::mul_hi<" + type +
                      ">(" + *a + ", " + *b + "), " + *c + ")");
}

/// cvt.rounding.sat.to.from
/// cvt.rna.tf32.f32 d, a and cvt.rn.satfinite.e4m3x2.f32 d, high, low
static Code short_conversion(const PtxInstruction& in) {
    if (in.opcode[0] != "cvt" || in.opcode.back() != "f32" || in.opcode.size() < 4)
        return std::nullopt;
    const std::string& to = in.opcode[in.opcode.size() - 2];
    if (to == "tf32" && in.opcode[1] == "rna" && in.opcode.size() == 4)
        return call(in, "to_tf32", "float", 1);
    const bool e4m3 = to == "e4m3x2";
    if ((!e4m3 && to != "e5m2x2") || !has(in, "rn") || !has(in, "satfinite") ||
        in.opcode.size() != 5)
        return std::nullopt;
    return call(in,
                e4m3 ? "to_fp8_pair<::simt::E4m3>" : "to_fp8_pair<::simt::E5m2>",
                "float",
                2);
}

Code translate_conversion(const PtxInstruction& in) {
    if (const Code code = short_conversion(in)) return code;
    static const std::map<std::string_view, std::string> kModes = {
        {"rn", "FE_TONEAREST"},
        {"rni", "FE_TONEAREST"},
        {"rz", "FE_TOWARDZERO"},
        {"rzi", "FE_TOWARDZERO"},
        {"rm", "FE_DOWNWARD"},
        {"rmi", "FE_DOWNWARD"},
        {"rp", "FE_UPWARD"},
        {"rpi", "FE_UPWARD"}};
    static const std::map<std::string_view, std::string> kHalves = {
        {"f16", "::simt::ptx::Half"}, {"bf16", "::simt::ptx::Brain"}};
    if (in.opcode[0] != "cvt" || in.opcode.size() < 3 || in.operands.size() < 2)
        return std::nullopt;
    std::string mode = "FE_TONEAREST";
    bool integral = false;
    for (size_t i = 1; i + 2 < in.opcode.size(); ++i) {
        const std::string& word = in.opcode[i];
        const auto found = kModes.find(word);
        if (found == kModes.end() && word != "ftz" && word != "sat")
            return std::nullopt;
        if (found != kModes.end()) mode = found->second;
        integral |= word.size() == 3 && word[0] == 'r';
    }
    std::string options = ", " + mode + (integral ? ", true" : ", false");
    options += has(in, "ftz") ? ", true" : ", false";
    options += has(in, "sat") ? ", true>" : ", false>";
    const std::string& to = in.opcode[in.opcode.size() - 2];
    const auto type_of = [&](const std::string& name) {
        const auto half = kHalves.find(name);
        return half == kHalves.end() ? cpp_type(name) : half->second;
    };
    const bool pair = to == "f16x2" || to == "bf16x2";
    const std::string target = type_of(pair ? to.substr(0, to.size() - 2) : to);
    const std::string source = type_of(in.opcode.back());
    if (target.empty() || source.empty() || target == "bool" || source == "bool")
        return std::nullopt;
    if (pair) {
        if (in.operands.size() != 3 || source != "float") return std::nullopt;
        const Code high = as(source, in.operands[1]), low = as(source, in.operands[2]);
        if (!high || !low) return std::nullopt;
        return assign(in.operands[0],
                      "::simt::ptx::convert_pair<" + target + options + "(" + *high +
                          ", " + *low + ")");
    }
    const Code from = as(source, in.operands[1]);
    if (!from || in.operands.size() != 2) return std::nullopt;
    return assign(
        in.operands[0],
        "::simt::ptx::convert<" + target + ", " + source + options + "(" + *from + ")");
}

}  // namespace rewriter
