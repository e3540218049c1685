// PTX instructions as calls of the functions in simt/inline_ptx.h.
#include <algorithm>
#include <set>
#include <string_view>

#include "ptx_operands.h"

namespace rewriter {
namespace {

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
                                                      "L2::256B",
                                                      "L2::cache_hint",
                                                      "L1::evict_normal",
                                                      "L1::evict_unchanged"};
    static const std::set<std::string_view> kOrders = {
        "volatile", "relaxed", "acquire", "release", "gpu", "cta", "sys", "cluster"};
    const std::string type = cpp_type(in.opcode.back());
    // A cache policy is an operand of its own, which says nothing about results.
    const bool policy = has(in, "L2::cache_hint");
    if (type.empty() || type == "bool" || in.operands.size() != (policy ? 3u : 2u))
        return std::nullopt;
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
    const bool load = in.opcode[0] != "st";
    const Code address = pointer(in.operands[load ? 1 : 0], type, shared);
    std::string registers = in.operands[load ? 0 : 1];
    if (!address) return std::nullopt;
    if (registers.starts_with('{'))
        registers = registers.substr(1, registers.size() - 2);
    const std::string fence =
        has(in, "cta") ? " ::__threadfence_block();" : " ::__threadfence();";
    std::string code = "{ auto* simt_at = " + *address + ";";
    if (ordered) code += fence;
    const auto names = split(registers, ',');
    if (has(in, "nc") || in.opcode[0] == "ldu")
        code += " ::simt_read_only_seen(simt_at, " + std::to_string(names.size()) +
                " * sizeof *simt_at);";
    for (size_t i = 0; i < names.size(); ++i) {
        const Code name = value(names[i]);
        if (!name) return std::nullopt;
        const std::string element = "simt_at[" + std::to_string(i) + "]";
        code +=
            load ? " ::simt::ptx::set(" + *name + ", " + element + ");"
                 : " " + element + " = ::simt::ptx::as<" + type + ">(" + *name + ");";
    }
    if (ordered) code += fence;
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

/// Addresses of one space as those of another. Generic and global addresses are the
/// same.
Code address_conversion(const PtxInstruction& in) {
    if (in.operands.size() != 2) return std::nullopt;
    const Code from = as("uint64_t", in.operands[1]);
    if (!from) return std::nullopt;
    if (has(in, "global")) return assign(in.operands[0], *from);
    if (!has(in, "shared") && !has(in, "shared::cta")) return std::nullopt;
    if (has(in, "to"))
        return assign(
            in.operands[0],
            "::__cvta_generic_to_shared(reinterpret_cast<void*>(" + *from + "))");
    return assign(
        in.operands[0],
        "reinterpret_cast<uint64_t>(::__cvta_shared_to_generic(" + *from + "))");
}

/// `.reg .b32 a, b;` as variables.
Code declaration(const PtxInstruction& in) {
    const std::string type = cpp_type(in.opcode[1]);
    if (type.empty()) return std::nullopt;
    std::string code;
    for (const std::string& name : in.operands)
        code += "[[maybe_unused]] " + type + " simt_r" + name + "{}; ";
    return code;
}

/// What orders or ends, and hints without an effect on results.
Code control(const PtxInstruction& in) {
    const std::string& name = in.opcode[0];
    const std::string_view next =
        in.opcode.size() > 1 ? std::string_view(in.opcode[1]) : std::string_view();
    if (name == "membar" || (name == "fence" && next != "proxy")) {
        const bool of_block = in.opcode.back() == "cta";
        return of_block ? "::__threadfence_block();" : "::__threadfence();";
    }
    if (name == "trap") return "::__trap();";
    if (name == "nanosleep") return "::__nanosleep(1);";
    if (name == "griddepcontrol" && next == "wait")
        return "::cudaGridDependencySynchronize();";
    if (name == "prefetch" || name == "prefetchu" || name == "griddepcontrol" ||
        name == "discard" || name == "applypriority" || name == "pmevent")
        return ";";
    return std::nullopt;
}

}  // namespace

std::optional<std::string> translate_ptx(const PtxInstruction& in) {
    const std::string& name = in.opcode[0];
    if (name == ".reg") return declaration(in);
    Code code = translate_hopper(in);
    if (code)
        ;  // done
    else if (name == "ld" || name == "st" || name == "ldu")
        code = memory_access(in);
    else if (name == "cp" && in.opcode.size() > 2 && in.opcode[1] == "async")
        code = async_copy(in);
    else if (name == "cvta")
        code = address_conversion(in);
    else
        code = control(in);
    for (const auto translate : {translate_predicates,
                                 translate_carries,
                                 translate_conversion,
                                 translate_lanes,
                                 translate_matrices,
                                 translate_halves,
                                 translate_numbers})
        if (!code) code = translate(in);
    if (!code || in.guard.empty()) return code;
    const Code guard = predicate(in.guard);
    return guard ? "if (" + *guard + ") { " + *code + " }" : Code();
}

}  // namespace rewriter
