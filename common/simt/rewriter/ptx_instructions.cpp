// PTX instructions as calls of the functions in simt/inline_ptx.h.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "ptx.h"

namespace rewriter {
namespace {

using Code = std::optional<std::string>;

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

/// The C++ type of a PTX type such as "s32"; empty if it is none.
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
                                                                   {"f64", "double"}};
    const auto found = kTypes.find(name);
    return found == kTypes.end() ? "" : found->second;
}

bool is_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) &&
           !text.starts_with("0f") && !text.starts_with("0d");
}

/// An operand's value as C++.
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
    if (operand.starts_with('%'))
        operand.remove_prefix(1);
    else if (is_number(operand))
        return std::string(operand);
    else
        return std::nullopt;
    if (operand.empty() ||
        !std::all_of(operand.begin(), operand.end(), [](unsigned char c) {
            return std::isdigit(c);
        })) {
        return std::nullopt;
    }
    return "simt_p" + std::string(operand);
}

/// An address `[%1+16]` as a pointer to T.
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

/// `set(out, name<T>(inputs…));`, where the last `plain` inputs are unsigned counts.
Code call(const PtxInstruction& in,
          const std::string& function,
          const std::string& type,
          size_t inputs,
          size_t plain = 0) {
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

/// Loads and stores, also of vectors, with any cache hint.
Code memory_access(const PtxInstruction& in) {
    static const std::set<std::string_view> kHints = {"global",
                                                      "shared",
                                                      "shared::cta",
                                                      "shared::cluster",
                                                      "nc",
                                                      "ca",
                                                      "cg",
                                                      "cs",
                                                      "lu",
                                                      "cv",
                                                      "wb",
                                                      "wt",
                                                      "weak",
                                                      "L1::no_allocate",
                                                      "L1::evict_last",
                                                      "L1::evict_first",
                                                      "L2::64B",
                                                      "L2::128B",
                                                      "L2::256B"};
    static const std::set<std::string_view> kOrders = {
        "volatile", "relaxed", "acquire", "release", "gpu", "cta", "sys", "cluster"};
    const std::string type = cpp_type(in.opcode.back());
    if (type.empty() || in.operands.size() != 2) return std::nullopt;
    bool ordered = false;
    bool shared = false;
    for (size_t i = 1; i + 1 < in.opcode.size(); ++i) {
        const std::string& word = in.opcode[i];
        ordered |= kOrders.contains(word);
        shared |= word.starts_with("shared");
        const bool known = kHints.contains(word) || kOrders.contains(word) ||
                           word == "v2" || word == "v4";
        if (!known) return std::nullopt;
    }
    const bool load = in.opcode[0] == "ld";
    const Code address = pointer(in.operands[load ? 1 : 0], type, shared);
    std::string registers = in.operands[load ? 0 : 1];
    if (!address) return std::nullopt;
    if (registers.starts_with('{'))
        registers = registers.substr(1, registers.size() - 2);
    std::string code = "{ auto* simt_at = " + *address + ";";
    if (ordered) code += " ::__threadfence();";
    const auto names = split(registers, ',');
    for (size_t i = 0; i < names.size(); ++i) {
        const Code name = value(names[i]);
        if (!name) return std::nullopt;
        const std::string element = "simt_at[" + std::to_string(i) + "]";
        code +=
            load ? " ::simt::ptx::set(" + *name + ", " + element + ");"
                 : " " + element + " = ::simt::ptx::as<" + type + ">(" + *name + ");";
    }
    if (ordered) code += " ::__threadfence();";
    return code + " }";
}

/// cp.async, its groups and waits.
Code async_copy(const PtxInstruction& in) {
    const std::string& what = in.opcode[2];
    if (what == "commit_group") return "::simt::detail::cp_async_commit();";
    if (what == "wait_all") return "::simt::detail::cp_async_wait_all();";
    if (what == "wait_group" && in.operands.size() == 1) {
        const Code count = value(in.operands[0]);
        if (!count) return std::nullopt;
        return "::simt::detail::cp_async_wait(" + *count + ");";
    }
    if ((what != "ca" && what != "cg") || in.operands.size() < 3) return std::nullopt;
    const Code to = pointer(in.operands[0], "char", true);
    const Code from = pointer(in.operands[1], "char", false);
    const Code bytes = value(in.operands[2]);
    const Code read = value(in.operands.back());
    if (!to || !from || !bytes || !read || in.operands.size() > 4) return std::nullopt;
    return "::simt::detail::cp_async(" + *to + ", " + *from + ", " + *bytes + ", " +
           *read + ");";
}

/// Does the opcode consist of its name, a type and words out of `allowed`?
bool only(const PtxInstruction& in, std::initializer_list<std::string_view> allowed) {
    for (size_t i = 1; i + 1 < in.opcode.size(); ++i) {
        const auto& word = in.opcode[i];
        if (std::find(allowed.begin(), allowed.end(), word) == allowed.end())
            return false;
    }
    return true;
}

Code arithmetic(const PtxInstruction& in) {
    const std::string& name = in.opcode[0];
    const std::string type = cpp_type(in.opcode.back());
    if (type.empty()) return std::nullopt;
    const bool real = type == "float" || type == "double";
    const std::string typed = "<" + type + ">";
    const auto has = [&](std::string_view word) {
        return std::find(in.opcode.begin(), in.opcode.end(), word) != in.opcode.end();
    };
    if (name == "mov" && in.opcode.size() == 2) return call(in, "as" + typed, type, 1);
    if (name == "mul" || name == "mad") {
        const size_t inputs = name == "mul" ? 2 : 3;
        if (real && !only(in, {"rn"})) return std::nullopt;
        if (real && name == "mad") return call(in, "fma" + typed, type, 3);
        if (real || (has("lo") && in.opcode.size() == 3)) {
            return call(in, name + typed, type, inputs);
        }
        if (name == "mad" || in.opcode.size() != 3) return std::nullopt;
        if (has("hi")) return call(in, "mul_hi" + typed, type, 2);
        return has("wide") ? call(in, "mul_wide" + typed, type, 2) : std::nullopt;
    }
    static const std::set<std::string_view> kExact = {
        "add", "sub", "min", "max", "div", "rem"};
    if (kExact.contains(name) && only(in, {"rn"}))
        return call(in, name + typed, type, 2);
    if (name == "fma" && only(in, {"rn"})) return call(in, "fma" + typed, type, 3);
    if ((name == "abs" || name == "neg") && only(in, {}))
        return call(in, name + typed, type, 1);
    static const std::set<std::string_view> kLogic = {"and", "or", "xor"};
    if (kLogic.contains(name) && !real && only(in, {})) {
        return call(in, "bit_" + name + typed, type, 2);
    }
    if (name == "not" && !real) return call(in, "bit_not" + typed, type, 1);
    if ((name == "shl" || name == "shr") && only(in, {})) {
        return call(in, name + typed, type, 2, 1);
    }
    static const std::set<std::string_view> kCounts = {"popc", "clz", "brev"};
    if (kCounts.contains(name) && only(in, {})) return call(in, name + typed, type, 1);
    if (name == "bfe" && only(in, {})) return call(in, "bfe" + typed, type, 3, 2);
    if (name == "bfi" && only(in, {})) return call(in, "bfi" + typed, type, 4, 2);
    if (name == "prmt" && only(in, {})) return call(in, "prmt", "uint32_t", 3);
    if (name == "lop3" && only(in, {})) return call(in, "lop3", "uint32_t", 4);
    static const std::set<std::string_view> kApproximate = {
        "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"};
    if (kApproximate.contains(name) && real && only(in, {"approx", "ftz", "rn"})) {
        const bool generic = name == "rcp" || name.ends_with("sqrt");
        return call(in, name + (generic ? typed : ""), type, 1);
    }
    return std::nullopt;
}

/// shf.l.wrap.b32 %0, low, high, count
Code funnel_shift(const PtxInstruction& in) {
    if (in.operands.size() != 4 || in.opcode.size() != 4) return std::nullopt;
    const Code out = value(in.operands[0]), low = value(in.operands[1]);
    const Code high = value(in.operands[2]), count = value(in.operands[3]);
    if (!out || !low || !high || !count) return std::nullopt;
    const std::string n = in.opcode[2] == "wrap"
                              ? "(" + *count + ") & 31u"
                              : "::simt::ptx::min<uint32_t>(" + *count + ", 32u)";
    return "::simt::ptx::set(" + *out + ", ::simt::ptx::shf_" + in.opcode[1] + "(" +
           *low + ", " + *high + ", " + n + "));";
}

}  // namespace

std::optional<std::vector<PtxInstruction>> parse_ptx(std::string_view text) {
    std::string clean;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i, 2) == "//") i = std::min(text.find('\n', i), text.size());
        if (i < text.size()) clean += text[i];
    }
    std::string_view body = trim(clean);
    // `{ … }` around the whole is a scope, which matters to .reg only.
    if (body.starts_with('{') && body.ends_with('}')) {
        body = trim(body.substr(1, body.size() - 2));
    }
    std::vector<PtxInstruction> result;
    for (const std::string& part : split(body, ';')) {
        if (part.empty()) continue;
        if (part[0] == '.' || part[0] == '@' || part.find(':') == part.size() - 1) {
            return std::nullopt;  // declarations, predicates, labels
        }
        const size_t blank = std::min(part.find_first_of(" \t\n"), part.size());
        PtxInstruction instruction{split(part.substr(0, blank), '.'), {}};
        const std::string_view operands = trim(std::string_view(part).substr(blank));
        if (!operands.empty()) instruction.operands = split(operands, ',');
        result.push_back(std::move(instruction));
    }
    return result;
}

std::optional<std::string> translate_ptx(const PtxInstruction& in) {
    const std::string& name = in.opcode[0];
    const auto word = [&](size_t i) {
        return i < in.opcode.size() ? std::string_view(in.opcode[i])
                                    : std::string_view();
    };
    if (const auto code = translate_hopper(in)) return code;
    if (name == "ld" || name == "st") return memory_access(in);
    if (name == "cp" && word(1) == "async" && in.opcode.size() > 2)
        return async_copy(in);
    if (name == "shf" && (word(1) == "l" || word(1) == "r")) return funnel_shift(in);
    if (name == "membar" || (name == "fence" && word(1) != "proxy")) {
        return "::__threadfence();";
    }
    if (name == "bar" && word(1) == "sync" &&
        in.operands == std::vector<std::string>{"0"}) {
        return "::__syncthreads();";
    }
    if (name == "bar" && word(1) == "warp" && in.operands.size() == 1) {
        const Code mask = value(in.operands[0]);
        if (!mask) return std::nullopt;
        return "::__syncwarp(" + *mask + ");";
    }
    if (name == "activemask" && in.operands.size() == 1) {
        const Code out = value(in.operands[0]);
        if (!out) return std::nullopt;
        return "::simt::ptx::set(" + *out + ", ::__activemask());";
    }
    if (name == "trap") return "::__trap();";
    if (name == "nanosleep") return "::__nanosleep(1);";
    // Hints without an effect on results.
    if (name == "prefetch" || name == "griddepcontrol" || name == "discard") return ";";
    return arithmetic(in);
}

std::optional<std::string> ptx_value(std::string_view operand) {
    return value(operand);
}

std::optional<std::string> ptx_pointer(std::string_view operand,
                                       const std::string& type,
                                       bool shared) {
    return pointer(operand, type, shared);
}

std::string ptx_type(std::string_view name) {
    return cpp_type(name);
}

}  // namespace rewriter
