// PTX predicates, operations of a warp, barriers and atomics.
#include <map>
#include <set>

#include "ptx_operands.h"

namespace rewriter {
namespace {

/// The C++ comparison of setp's and set's operator; the unordered ones are functions.
Code comparison(const std::string& op,
                const std::string& type,
                const Code& a,
                const Code& b) {
    static const std::map<std::string_view, std::string> kOperators = {{"eq", "=="},
                                                                       {"ne", "!="},
                                                                       {"lt", "<"},
                                                                       {"le", "<="},
                                                                       {"gt", ">"},
                                                                       {"ge", ">="},
                                                                       {"lo", "<"},
                                                                       {"ls", "<="},
                                                                       {"hi", ">"},
                                                                       {"hs", ">="}};
    if (!a || !b) return std::nullopt;
    const bool real = is_float(type);
    const bool ordered = kOperators.contains(op);
    if (ordered && op == "ne" && real)  // false for NaN, unlike C++
        return "::simt::ptx::ordered(" + *a + ", " + *b + ") && " + *a + " != " + *b;
    if (ordered) return *a + " " + kOperators.find(op)->second + " " + *b;
    if (!real) return std::nullopt;
    if (op == "num") return "::simt::ptx::ordered(" + *a + ", " + *b + ")";
    if (op == "nan") return "!::simt::ptx::ordered(" + *a + ", " + *b + ")";
    if (op.size() != 3 || op[2] != 'u' || !kOperators.contains(op.substr(0, 2)))
        return std::nullopt;
    return "!::simt::ptx::ordered(" + *a + ", " + *b + ") || " + *a + " " +
           kOperators.find(op.substr(0, 2))->second + " " + *b;
}

/// setp.op.bool.type p|q, a, b, c
Code set_predicate(const PtxInstruction& in, const std::string& type) {
    const size_t words = in.opcode.size();
    const bool ftz = has(in, "ftz");
    const size_t wanted = 3 + (ftz ? 1 : 0);
    if (words < wanted || words > wanted + 1 || ftz) return std::nullopt;
    const Code compared = comparison(
        in.opcode[1], type, as(type, in.operands[1]), as(type, in.operands[2]));
    if (!compared) return std::nullopt;
    std::string yes = "(" + *compared + ")", no = "!(" + *compared + ")";
    if (words == 4) {
        static const std::map<std::string_view, std::string> kWith = {
            {"and", " && "}, {"or", " || "}, {"xor", " != "}};
        const auto with = kWith.find(in.opcode[2]);
        if (with == kWith.end() || in.operands.size() != 4) return std::nullopt;
        const Code c = predicate(in.operands[3]);
        if (!c) return std::nullopt;
        yes = "(" + yes + with->second + *c + ")";
        no = "(" + no + with->second + *c + ")";
    } else if (in.operands.size() != 3) {
        return std::nullopt;
    }
    const auto outs = split(in.operands[0], '|');
    if (outs.size() > 2) return std::nullopt;
    const Code first = assign(outs[0], "simt_yes");
    const Code second = outs.size() == 2 ? assign(outs[1], "simt_no") : Code("");
    if (!first || !second) return std::nullopt;
    return "{ [[maybe_unused]] const bool simt_yes = " + yes + ", simt_no = " + no +
           "; " + *first + " " + *second + " }";
}

/// Boolean operations on predicates, and mov.
Code predicate_logic(const PtxInstruction& in) {
    static const std::map<std::string_view, std::string> kOperators = {
        {"and", " && "}, {"or", " || "}, {"xor", " != "}};
    if (in.opcode.size() != 2 || in.operands.size() < 2) return std::nullopt;
    const Code a = predicate(in.operands[1]);
    if (!a) return std::nullopt;
    if (in.opcode[0] == "mov" && in.operands.size() == 2)
        return assign(in.operands[0], *a);
    if (in.opcode[0] == "not" && in.operands.size() == 2)
        return assign(in.operands[0], "!" + *a);
    const auto found = kOperators.find(in.opcode[0]);
    if (found == kOperators.end() || in.operands.size() != 3) return std::nullopt;
    const Code b = predicate(in.operands[2]);
    return b ? assign(in.operands[0], *a + found->second + *b) : std::nullopt;
}

Code vote(const PtxInstruction& in) {
    if (in.opcode.size() != 4 || in.opcode[1] != "sync" || in.operands.size() != 3)
        return std::nullopt;
    const Code holds = predicate(in.operands[1]), mask = as("uint32_t", in.operands[2]);
    if (!holds || !mask) return std::nullopt;
    const std::string arguments = "(" + *mask + ", " + *holds + ")";
    const std::string& mode = in.opcode[2];
    if (mode == "all" || mode == "any")
        return assign(in.operands[0], "::__" + mode + "_sync" + arguments + " != 0");
    if (mode == "ballot") return assign(in.operands[0], "::__ballot_sync" + arguments);
    if (mode == "uni")
        return assign(in.operands[0], "::simt::ptx::vote_uni" + arguments);
    return std::nullopt;
}

/// match.any.sync.b32 d, a, mask and match.all.sync.b32 d|p, a, mask
Code match(const PtxInstruction& in) {
    if (in.opcode.size() != 4 || in.operands.size() != 3) return std::nullopt;
    const std::string type =
        in.opcode.back() == "b64" ? "unsigned long long" : "unsigned";
    const Code a = as(type, in.operands[1]), mask = as("uint32_t", in.operands[2]);
    if (!a || !mask) return std::nullopt;
    if (in.opcode[1] == "any")
        return assign(in.operands[0], "::__match_any_sync(" + *mask + ", " + *a + ")");
    const auto outs = split(in.operands[0], '|');
    const Code first = assign(outs[0], "simt_found");
    const Code second = outs.size() == 2 ? assign(outs[1], "simt_all != 0") : Code("");
    if (in.opcode[1] != "all" || !first || !second) return std::nullopt;
    return "{ int simt_all = 0; const unsigned simt_found = ::__match_all_sync(" +
           *mask + ", " + *a + ", &simt_all); " + *first + " " + *second + " }";
}

/// shfl.sync.up.b32 d|p, a, b, c, mask
Code shuffle(const PtxInstruction& in) {
    static const std::set<std::string_view> kModes = {"up", "down", "bfly", "idx"};
    if (in.opcode.size() != 4 || in.opcode[1] != "sync" || in.opcode[3] != "b32" ||
        !kModes.contains(in.opcode[2]) || in.operands.size() != 5)
        return std::nullopt;
    const Code a = as("uint32_t", in.operands[1]), b = as("uint32_t", in.operands[2]);
    const Code c = as("uint32_t", in.operands[3]),
               mask = as("uint32_t", in.operands[4]);
    const auto outs = split(in.operands[0], '|');
    const Code first = assign(outs[0], "simt_got");
    const Code second = outs.size() == 2 ? assign(outs[1], "simt_inside") : Code("");
    if (!a || !b || !c || !mask || !first || !second) return std::nullopt;
    return "{ [[maybe_unused]] bool simt_inside; const unsigned simt_got = "
           "::__shfl_sync(" +
           *mask + ", " + *a + ", ::simt::ptx::shfl_" + in.opcode[2] + "(" + *b + ", " +
           *c + ", simt_inside)); " + *first + " " + *second + " }";
}

/// redux.sync.op.type d, a, mask
Code reduction(const PtxInstruction& in) {
    static const std::set<std::string_view> kOperations = {
        "add", "min", "max", "and", "or", "xor"};
    const std::string type = in.opcode.back() == "s32" ? "int" : "unsigned";
    if (in.opcode.size() != 4 || in.operands.size() != 3 ||
        !kOperations.contains(in.opcode[2]) ||
        !cpp_type(in.opcode[3]).ends_with("32_t"))
        return std::nullopt;
    const Code a = as(type, in.operands[1]), mask = as("uint32_t", in.operands[2]);
    if (!a || !mask) return std::nullopt;
    return assign(in.operands[0],
                  "::__reduce_" + in.opcode[2] + "_sync(" + *mask + ", " + *a + ")");
}

/// bar.sync, barrier.sync and bar.arrive, of all threads or of some.
Code barrier(const PtxInstruction& in) {
    const std::string& what = in.opcode.size() > 1 ? in.opcode[1] : in.opcode[0];
    if (what == "warp" && in.operands.size() == 1) {
        const Code mask = as("uint32_t", in.operands[0]);
        return mask ? "::__syncwarp(" + *mask + ");" : Code();
    }
    const std::string& last = in.opcode.back();
    const bool plain = last == what || (last == "aligned" && in.opcode.size() == 3);
    if (!plain || (what != "sync" && what != "arrive") || in.operands.empty() ||
        in.operands.size() > 2)
        return std::nullopt;
    if (what == "sync" && in.operands.size() == 1 && in.operands[0] == "0")
        return "::__syncthreads();";
    const Code id = as("int", in.operands[0]);
    const Code count = in.operands.size() == 2 ? as("int", in.operands[1])
                                               : Code("::simt::ptx::block_threads()");
    if (!id || !count || (what == "arrive" && in.operands.size() == 1))
        return std::nullopt;
    return "::simt::ptx::named_barrier_" + what + "(" + *id + ", " + *count + ");";
}

/// atom.order.scope.space.op.type d, [a], b, c and red, which gives nothing.
Code atomic(const PtxInstruction& in) {
    static const std::map<std::string_view, std::string> kFunctions = {{"add", "Add"},
                                                                       {"inc", "Inc"},
                                                                       {"dec", "Dec"},
                                                                       {"min", "Min"},
                                                                       {"max", "Max"},
                                                                       {"and", "And"},
                                                                       {"or", "Or"},
                                                                       {"xor", "Xor"},
                                                                       {"exch", "Exch"},
                                                                       {"cas", "CAS"}};
    static const std::map<std::string_view, std::string> kTypes = {
        {"u32", "unsigned"},
        {"b32", "unsigned"},
        {"s32", "int"},
        {"u64", "unsigned long long"},
        {"b64", "unsigned long long"},
        {"s64", "long long"},
        {"f32", "float"},
        {"f64", "double"}};
    static const std::set<std::string_view> kWords = {"relaxed",
                                                      "acquire",
                                                      "release",
                                                      "acq_rel",
                                                      "cta",
                                                      "gpu",
                                                      "sys",
                                                      "cluster",
                                                      "global",
                                                      "shared",
                                                      "shared::cta"};
    const auto type = kTypes.find(in.opcode.back());
    const auto function = in.opcode.size() > 2
                              ? kFunctions.find(in.opcode[in.opcode.size() - 2])
                              : kFunctions.end();
    if (type == kTypes.end() || function == kFunctions.end()) return std::nullopt;
    bool shared = false, fence = false;
    for (size_t i = 1; i + 2 < in.opcode.size(); ++i) {
        const std::string& word = in.opcode[i];
        if (!kWords.contains(word)) return std::nullopt;
        shared |= word.starts_with("shared");
        fence |= word.starts_with("acq") || word == "release";
    }
    const bool result = in.opcode[0] == "atom";
    const size_t first = result ? 1 : 0;
    const size_t values = function->first == "cas" ? 2 : 1;
    if (in.operands.size() != first + 1 + values) return std::nullopt;
    const Code address = pointer(in.operands[first], type->second, shared);
    if (!address) return std::nullopt;
    const bool of_block = has(in, "cta");
    std::string call =
        "::atomic" + function->second + (of_block ? "_block(" : "(") + *address;
    for (size_t i = 0; i < values; ++i) {
        const Code operand = as(type->second, in.operands[first + 1 + i]);
        if (!operand) return std::nullopt;
        call += ", " + *operand;
    }
    call += ")";
    const Code statement = result ? assign(in.operands[0], call) : Code(call + ";");
    if (!statement) return std::nullopt;
    if (!fence) return statement;
    const std::string fences =
        of_block ? "::__threadfence_block();" : "::__threadfence();";
    return fences + " " + *statement + " " + fences;
}

/// elect.sync d|p, mask: the lowest lane of the mask is the leader.
Code elect(const PtxInstruction& in) {
    if (in.opcode.size() != 2 || in.opcode[1] != "sync" || in.operands.size() != 2)
        return std::nullopt;
    const Code mask = as("uint32_t", in.operands[1]);
    const auto outs = split(in.operands[0], '|');
    if (outs.size() != 2 || !mask) return std::nullopt;
    const Code lane = assign(outs[0], "simt_leader");
    const Code chosen = assign(outs[1], "simt_leader == ::simt::ptx::laneid()");
    if (!lane || !chosen) return std::nullopt;
    return "{ const uint32_t simt_mask = " + *mask +
           "; ::__syncwarp(simt_mask); const uint32_t simt_leader = "
           "::__ffs(int(simt_mask)) - 1; " +
           *lane + " " + *chosen + " }";
}

/// testp.finite.f32 p, a
Code test_of_float(const PtxInstruction& in) {
    static const std::map<std::string_view, std::string> kTests = {
        {"finite", "__builtin_isfinite(simt_a)"},
        {"infinite", "__builtin_isinf(simt_a)"},
        {"number", "!__builtin_isnan(simt_a)"},
        {"notanumber", "__builtin_isnan(simt_a)"},
        {"normal", "__builtin_isnormal(simt_a)"},
        {"subnormal",
         "__builtin_isfinite(simt_a) && !__builtin_isnormal(simt_a) && simt_a != 0"}};
    const auto found = kTests.find(in.opcode.size() == 3 ? in.opcode[1] : "");
    const std::string type = cpp_type(in.opcode.back());
    if (found == kTests.end() || !is_float(type) || in.operands.size() != 2)
        return std::nullopt;
    const Code a = as(type, in.operands[1]);
    const Code out = assign(in.operands[0], "bool(" + found->second + ")");
    return a && out ? "{ const auto simt_a = " + *a + "; " + *out + " }" : Code();
}

/// isspacep.shared p, address
Code space_of_address(const PtxInstruction& in) {
    if (in.opcode.size() != 2 || in.operands.size() != 2 ||
        (in.opcode[1] != "shared" && in.opcode[1] != "shared::cta"))
        return std::nullopt;
    const Code address = as("uint64_t", in.operands[1]);
    if (!address) return std::nullopt;
    return assign(in.operands[0],
                  "::__isShared(reinterpret_cast<const void*>(" + *address + ")) != 0");
}

}  // namespace

Code translate_predicates(const PtxInstruction& in) {
    const std::string& name = in.opcode[0];
    const std::string type = cpp_type(in.opcode.back());
    if (type == "bool" && name != "vote") return predicate_logic(in);
    if (name == "setp" && in.operands.size() >= 3 && !type.empty())
        return set_predicate(in, type);
    if (name == "selp" && in.opcode.size() == 2 && in.operands.size() == 4) {
        const Code a = as(type, in.operands[1]), b = as(type, in.operands[2]);
        const Code p = predicate(in.operands[3]);
        if (type.empty() || !a || !b || !p) return std::nullopt;
        return assign(in.operands[0], *p + " ? " + *a + " : " + *b);
    }
    if (name == "set" && in.opcode.size() == 4 && in.operands.size() == 3) {
        const Code compared = comparison(
            in.opcode[1], type, as(type, in.operands[1]), as(type, in.operands[2]));
        const std::string to = cpp_type(in.opcode[2]);
        if (!compared || to.empty()) return std::nullopt;
        return assign(in.operands[0],
                      "(" + *compared + ") ? " + to + (is_float(to) ? "(1)" : "(-1)") +
                          " : " + to + "(0)");
    }
    if (name == "slct" && in.opcode.size() == 3 && in.operands.size() == 4) {
        const std::string to = cpp_type(in.opcode[1]);
        const Code a = as(to, in.operands[1]), b = as(to, in.operands[2]);
        const Code c = as(type, in.operands[3]);
        if (to.empty() || (type != "int32_t" && type != "float") || !a || !b || !c)
            return std::nullopt;
        return assign(in.operands[0], *c + " >= 0 ? " + *a + " : " + *b);
    }
    return std::nullopt;
}

Code translate_lanes(const PtxInstruction& in) {
    const std::string& name = in.opcode[0];
    if (name == "vote") return vote(in);
    if (name == "match") return match(in);
    if (name == "shfl") return shuffle(in);
    if (name == "redux") return reduction(in);
    if (name == "elect") return elect(in);
    if (name == "testp") return test_of_float(in);
    if (name == "isspacep") return space_of_address(in);
    if (name == "bar" || name == "barrier") return barrier(in);
    if (name == "atom" || name == "red") return atomic(in);
    if (name == "activemask" && in.operands.size() == 1)
        return assign(in.operands[0], "::__activemask()");
    return std::nullopt;
}

}  // namespace rewriter
