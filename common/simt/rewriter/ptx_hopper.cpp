// The PTX of sm_90 that programs write inline: clusters, mbarriers and TMA.
#include <algorithm>
#include <cctype>

#include "ptx.h"
#include "ptx_operands.h"

namespace rewriter {
namespace {

bool has_word(const PtxInstruction& in, std::string_view word) {
    return std::find(in.opcode.begin(), in.opcode.end(), word) != in.opcode.end();
}

bool is_shared(const PtxInstruction& in) {
    return std::any_of(in.opcode.begin(), in.opcode.end(), [](const std::string& word) {
        return word.starts_with("shared");
    });
}

/// The tokens between the outer brackets of `[%1, {%2, %3}]`, braces removed.
std::vector<std::string> inside_brackets(std::string_view operand) {
    std::vector<std::string> parts;
    std::string part;
    for (char c : operand) {
        if (c == '[' || c == ']' || c == '{' || c == '}' || std::isspace(c)) continue;
        if (c == ',') {
            parts.push_back(part);
            part.clear();
        } else {
            part += c;
        }
    }
    parts.push_back(part);
    return parts;
}

/// An operand as an unsigned integer of 32 bits.
Code number(const std::string& operand) {
    const Code v = value(operand);
    return v ? Code("::simt::ptx::as<uint32_t>(" + *v + ")") : std::nullopt;
}

/// `name(arguments…);`, if each argument could be translated.
Code call(const std::string& name, std::initializer_list<Code> arguments) {
    std::string list;
    for (const Code& argument : arguments) {
        if (!argument) return std::nullopt;
        list += (list.empty() ? "" : ", ") + *argument;
    }
    return "::simt::" + name + "(" + list + ");";
}

Code set(const std::string& operand, const Code& result) {
    const Code out = value(operand);
    if (!out || !result) return std::nullopt;
    std::string text = *result;
    if (text.ends_with(';')) text.pop_back();
    return "::simt::ptx::set(" + *out + ", " + text + ");";
}

Code barrier_at(const PtxInstruction& in, const std::string& operand) {
    return pointer(operand, "uint64_t", is_shared(in));
}

/// mapa.shared::cluster.u32 %0, %1, %2; mapa.u64 with generic addresses.
Code map_address(const PtxInstruction& in) {
    if (in.operands.size() != 3) return std::nullopt;
    const Code address = value(in.operands[1]);
    const Code rank = number(in.operands[2]);
    if (!address || !rank) return std::nullopt;
    return set(in.operands[0],
               "::simt::ptx::" + std::string(is_shared(in) ? "mapa_shared" : "mapa") +
                   "(" + *address + ", " + *rank + ")");
}

Code rank_of(const PtxInstruction& in) {
    if (in.operands.size() != 2) return std::nullopt;
    const Code address = value(in.operands[1]);
    if (!address) return std::nullopt;
    const std::string pointer = is_shared(in)
                                    ? "::simt::detail::shared_pointer(" + *address + ")"
                                    : "::simt::ptx::as<void*>(" + *address + ")";
    return set(in.operands[0], "::simt::detail::shared_rank(" + pointer + ")");
}

Code cluster_barrier(const PtxInstruction& in) {
    const bool arrives = has_word(in, "arrive");
    if (arrives == has_word(in, "wait")) return std::nullopt;
    if (!arrives) return "::simt::ptx::cluster_wait();";
    return has_word(in, "relaxed") ? "::simt::ptx::cluster_arrive(false);"
                                   : "::simt::ptx::cluster_arrive(true);";
}

Code mbarrier(const PtxInstruction& in) {
    const std::string& what = in.opcode.size() > 1 ? in.opcode[1] : in.opcode[0];
    const auto& operands = in.operands;
    if (operands.empty()) return std::nullopt;
    if (what == "init" && operands.size() == 2)
        return call("ptx::mbarrier_init",
                    {barrier_at(in, operands[0]), number(operands[1])});
    if (what == "inval") return ";";
    if ((what == "expect_tx" || what == "complete_tx") && operands.size() == 2)
        return call(what == "expect_tx" ? "ptx::mbarrier_expect_bytes"
                                        : "ptx::mbarrier_complete_bytes",
                    {barrier_at(in, operands[0]), number(operands[1])});
    if (what != "arrive") return std::nullopt;
    // A state comes first, unless the barrier is another block's.
    const size_t at = operands[0].starts_with('[') ? 0 : 1;
    if (operands.size() <= at || operands.size() > at + 2) return std::nullopt;
    const Code barrier = barrier_at(in, operands[at]);
    const bool counts = operands.size() == at + 2;
    Code arrival;
    if (has_word(in, "expect_tx"))
        arrival =
            counts ? call("ptx::mbarrier_expect", {barrier, number(operands[at + 1])})
                   : std::nullopt;
    else if (counts)
        arrival =
            call("ptx::mbarrier_arrive_many", {barrier, number(operands[at + 1])});
    else
        arrival = call("ptx::mbarrier_arrive", {barrier});
    if (!arrival || at == 0 || operands[0] == "_") return arrival;
    const Code state =
        set(operands[0], "::simt::ptx::mbarrier_phase(" + *barrier + ")");
    return state ? Code(*state + " " + *arrival) : std::nullopt;
}

/// `{ const int simt_at[] = {…}; f(a, map, b, simt_at, rank, …); }` of a tensor copy.
Code tensor_copy(const PtxInstruction& in) {
    const auto& operands = in.operands;
    const bool load = has_word(in, "global") && has_word(in, "shared::cluster");
    const bool multicast = has_word(in, "multicast::cluster");
    if (has_word(in, "im2col") || operands.size() < (load ? 3u + multicast : 2u))
        return std::nullopt;
    const auto tensor = inside_brackets(operands[load ? 1 : 0]);
    const Code map = value(tensor[0]);
    const Code shared = pointer(operands[load ? 0 : 1], "char", true);
    if (!map || !shared || tensor.size() < 2) return std::nullopt;
    std::string code = "{ const int simt_at[] = {";
    for (size_t i = 1; i < tensor.size(); ++i) {
        const Code coordinate = value(tensor[i]);
        if (!coordinate) return std::nullopt;
        code += (i > 1 ? ", " : "") + ("static_cast<int>(" + *coordinate + ")");
    }
    code += "}; ";
    const std::string tensor_map =
        "::simt::ptx::as<const ::CUtensorMap*>(" + *map + ")";
    const std::string rank = std::to_string(tensor.size() - 1);
    Code copy;
    if (!load)
        copy = call("ptx::tma_store", {tensor_map, shared, "simt_at", rank});
    else if (multicast)
        copy = call("ptx::tma_load_multicast",
                    {shared,
                     tensor_map,
                     pointer(operands[2], "uint64_t", true),
                     "simt_at",
                     rank,
                     number(operands[3])});
    else
        copy = call("ptx::tma_load",
                    {shared,
                     tensor_map,
                     pointer(operands[2], "uint64_t", true),
                     "simt_at",
                     rank});
    return copy ? Code(code + *copy + " }") : std::nullopt;
}

Code bulk_copy(const PtxInstruction& in) {
    const auto& operands = in.operands;
    if (has_word(in, "commit_group")) return "::simt::ptx::tma_store_commit();";
    if (has_word(in, "wait_group") && operands.size() == 1)
        return call("ptx::tma_store_wait_read", {number(operands[0])});
    if (has_word(in, "tensor")) return tensor_copy(in);
    const bool to_cluster = in.opcode[3] == "shared::cluster";
    const bool from_global = in.opcode.size() > 4 && in.opcode[4] == "global";
    const bool multicast = has_word(in, "multicast::cluster");
    if (!to_cluster || operands.size() < 4u + multicast) return std::nullopt;
    const Code to = pointer(operands[0], "char", true);
    const Code from = pointer(operands[1], "char", !from_global);
    const Code barrier = pointer(operands[3], "uint64_t", true);
    if (multicast)
        return call("ptx::bulk_load_multicast",
                    {to, from, number(operands[2]), barrier, number(operands[4])});
    return call("ptx::bulk_load", {to, from, number(operands[2]), barrier});
}

/// st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [a], {b, c}, [d];
Code store_async(const PtxInstruction& in) {
    const std::string type = cpp_type(in.opcode.back());
    if (in.operands.size() != 3 || type.empty()) return std::nullopt;
    const Code to = pointer(in.operands[0], "char", true);
    const Code barrier = pointer(in.operands[2], "uint64_t", true);
    if (!to || !barrier) return std::nullopt;
    std::string code = "{ const " + type + " simt_words[] = {";
    const auto words = inside_brackets(in.operands[1]);
    for (size_t i = 0; i < words.size(); ++i) {
        const Code word = value(words[i]);
        if (!word) return std::nullopt;
        code += (i ? ", " : "") + ("::simt::ptx::as<" + type + ">(" + *word + ")");
    }
    return code + "}; ::simt::ptx::store_async(" + *to +
           ", simt_words, sizeof simt_words, " + *barrier + "); }";
}

std::string without_blanks_at_ends(std::string text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
        text.pop_back();
    size_t i = 0;
    while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i])))
        ++i;
    return text.substr(i);
}

}  // namespace

std::optional<std::string> translate_hopper(const PtxInstruction& in) {
    const std::string& name = in.opcode[0];
    const std::string_view second = in.opcode.size() > 1 ? in.opcode[1] : "";
    if (name == "mapa") return map_address(in);
    if (name == "getctarank") return rank_of(in);
    if (name == "barrier" && second == "cluster") return cluster_barrier(in);
    if (name == "mbarrier") return mbarrier(in);
    if (name == "st" && second == "async") return store_async(in);
    if (name == "fence" && second == "mbarrier_init")
        return "::simt::ptx::mbarrier_init_fence();";
    if (name == "fence" && second == "proxy" && has_word(in, "async"))
        return "::simt::ptx::async_proxy_fence();";
    if (name == "cp" && second == "async" && in.opcode.size() > 3 &&
        in.opcode[2] == "bulk")
        return bulk_copy(in);
    return std::nullopt;
}

std::optional<std::string> translate_mbarrier_wait(std::string_view text) {
    if (text.find("mbarrier.try_wait") == text.npos &&
        text.find("mbarrier.test_wait") == text.npos)
        return std::nullopt;
    Code wait, out;
    bool loops = false;
    std::string statement;
    for (size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : ';';
        if (c == '{' || c == '}') continue;
        if (c == ':' && i > 0 && text[i - 1] != ':' && i + 1 < text.size() &&
            text[i + 1] != ':') {
            statement.clear();  // it was a label
            continue;
        }
        if (c != ';') {
            statement += c;
            continue;
        }
        const std::string one = without_blanks_at_ends(statement);
        statement.clear();
        if (one.empty() || one.starts_with(".reg")) continue;
        if (one.find("bra") != one.npos && (one[0] == '@' || one.starts_with("bra"))) {
            loops = true;
            continue;
        }
        const auto parsed = parse_ptx(one);
        if (parsed.size() != 1) return std::nullopt;
        const PtxInstruction& in = parsed.front();
        if (in.opcode[0] == "mbarrier" && in.operands.size() >= 3 && !wait) {
            const Code barrier = barrier_at(in, in.operands[1]);
            const Code parity = number(in.operands[2]);
            if (!barrier || !parity) return std::nullopt;
            wait = *barrier + ", " + *parity;
        } else if (in.opcode[0] == "selp" && in.operands.size() == 4 &&
                   in.operands[1] == "1" && in.operands[2] == "0") {
            out = in.operands[0];
        } else {
            return std::nullopt;
        }
    }
    if (!wait || loops == out.has_value()) return std::nullopt;
    if (loops) return "::simt::ptx::mbarrier_wait(" + *wait + ");";
    return set(*out, "::simt::ptx::mbarrier_try_wait(" + *wait + ")");
}

}  // namespace rewriter
