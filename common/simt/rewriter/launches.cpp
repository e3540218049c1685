// Kernel launches.
//
//     k<<<grid, block>>>(x, NULL)
//         ::simt::kernel("k", k)(grid, block)(x, NULL)
//     t<<<grid, block>>>(x, 0)
//         ::simt::deduced_kernel(
//             "t", [=](auto use) -> decltype(use(t)) { return use(t); },
//             [=](auto&& simt_0) { t(simt_0, 0); })(grid, block)(x)
//
// The first form serves every kernel whose type is known: parameters then convert as in
// CUDA. The second serves templates whose arguments are deduced, overloads and default
// arguments. There, what has no type of its own (0, NULL, {…}) stays in the call.
#include <vector>

#include "calls.h"
#include "kernels.h"

namespace rewriter {
namespace {

bool is_control_word(const Source& source, size_t i) {
    return source.is_any(i,
                         {"return",
                          "if",
                          "while",
                          "for",
                          "switch",
                          "else",
                          "do",
                          "case",
                          "throw",
                          "co_return",
                          "co_yield",
                          "constexpr",
                          "sizeof"});
}

/// First token of the expression that ends at token `last` and yields the kernel.
size_t expression_start(const Source& source, size_t last) {
    size_t i = last;
    for (;;) {
        if (source.is(i, ">")) {
            const size_t open = source.match_angle_back(i);
            if (open == kNone || open == 0) return last;
            i = open - 1;
        } else if (source.is_any(i, {")", "]", "}"})) {
            const size_t open = source.match(i);
            if (open == kNone) return last;
            i = open;
            // A call or subscript continues to the left; `if (x) (k)<<<…` does not.
            if (i > 0 && !is_control_word(source, i - 1) &&
                (source.is_identifier(i - 1) ||
                 (source.is_any(i - 1, {")", "]"}) && source.is(i, "[")))) {
                --i;
                continue;
            }
        }
        if (i > 0 && source.is(i - 1, "template")) --i;
        if (i == 0 || !source.is_any(i - 1, {"::", ".", "->"})) return i;
        const bool scope = source.is(i - 1, "::");
        if (i < 2) return i - 1;
        const bool qualified =
            (source.is_identifier(i - 2) && !is_control_word(source, i - 2)) ||
            source.is(i - 2, ">") || (!scope && source.is_any(i - 2, {")", "]", "}"}));
        if (!qualified) return scope ? i - 1 : i;
        i -= 2;
    }
}

/// The first of the three `>` that close the configuration opened at token `open`.
size_t find_close(const Source& source, size_t open) {
    for (size_t i = open + 3; i < source.size(); ++i) {
        if (source.is_any(i, {"(", "[", "{"})) {
            if (source.match(i) == kNone) return kNone;
            i = source.match(i);
        } else if (source.is_any(i, {";", ")", "]", "}"})) {
            return kNone;
        } else if (source.is_triple(i, '>') && source.is(i + 3, "(")) {
            return i;
        }
    }
    return kNone;
}

struct Argument {
    size_t first, last;
};

std::vector<Argument> split_arguments(const Source& source, size_t open) {
    std::vector<Argument> result;
    const size_t close = source.match(open);
    size_t begin = open + 1;
    for (size_t i = begin; i < close; ++i) {
        if (source.is_any(i, {"(", "[", "{"}) && source.match(i) != kNone) {
            i = source.match(i);
        } else if (source.is(i, "<") && source.is_identifier(i - 1)) {
            // `f<a, b>(c)` is one argument; `a < b, c > d` are two.
            const size_t angle = source.match_angle(i);
            if (angle != kNone && angle < close &&
                source.is_any(angle + 1, {"(", "::", "{"})) {
                i = angle;
            }
        } else if (source.is(i, ",")) {
            result.push_back({begin, i});
            begin = i + 1;
        }
    }
    if (begin < close) result.push_back({begin, close});
    return result;
}

/// Has the argument no type of its own, so that only the parameter gives it one?
bool is_untyped(const Source& source, const Argument& argument) {
    if (source.is(argument.first, "{")) return true;
    return argument.last == argument.first + 1 &&
           source.is_any(argument.first, {"0", "__null", "nullptr"});
}

/// The call inside the lambda, with `k` standing before it; blanks arguments moved
/// there.
void insert_lambda(Source& source, size_t start, size_t angles, size_t arguments_open) {
    const std::vector<Argument> arguments = split_arguments(source, arguments_open);
    bool any_untyped = false;
    for (const Argument& a : arguments)
        any_untyped |= is_untyped(source, a);
    std::string parameters = "auto&&... simt_a";
    std::string call = "simt_a...";
    if (any_untyped) {
        parameters.clear();
        call.clear();
        for (size_t i = 0; i < arguments.size(); ++i) {
            const Argument& a = arguments[i];
            if (i > 0) call += ", ";
            if (is_untyped(source, a)) {
                call += source.squeeze(a.first, a.last);
                source.blank(a.first, a.last);
                continue;
            }
            const std::string name = "simt_" + std::to_string(i);
            call += name;
            parameters += (parameters.empty() ? "auto&& " : ", auto&& ") + name;
        }
        // Commas: keep one between two arguments that stay.
        bool kept = !is_untyped(source, arguments[0]);
        for (size_t i = 1; i < arguments.size(); ++i) {
            const bool stays = !is_untyped(source, arguments[i]);
            if (!(kept && stays)) source.blank(arguments[i].first - 1);
            kept |= stays;
        }
    }
    const std::string kernel = source.squeeze(start, angles);
    source.insert_before(start,
                         "[=](auto simt_use) -> decltype(simt_use(" + kernel +
                             ")) { return simt_use(" + kernel + "); }, [=](" +
                             parameters + ") { ");
    source.insert_before(angles, "(" + call + "); }");
}

/// `<2>`, if of the arguments that do not move into the lambda the second one is for a
/// reference: it stays where it is.
std::string references(const Source& source, const Kernel& kernel, size_t open) {
    uint64_t result = 0, from = 1, to = 1;
    for (const Argument& a : split_arguments(source, open)) {
        if (!is_untyped(source, a)) {
            if (kernel.references & from) result |= to;
            to <<= 1;
        }
        from <<= 1;
    }
    return result ? "<" + std::to_string(result) + "ull>" : "";
}

/// What is refused although it could be rewritten.
class LaunchRules {
 public:
    LaunchRules(Source& source,
                const Structure& structure,
                const DeviceCode& code,
                bool relocatable)
        : source_(source),
          structure_(structure),
          code_(code),
          relocatable_(relocatable) {}

    /// @param name    the token that names the kernel
    /// @param angles  the first `<` of `<<<`
    /// @param close   the first `>` of `>>>`
    void check(const Kernel* kernel, size_t name, size_t angles, size_t close) {
        const Side side = code_.side(angles);
        if (side == Side::device && !relocatable_ && code_.is_evaluated(angles)) {
            source_.error(angles,
                          "kernel launch from __device__ or __global__ functions "
                          "requires separate compilation mode: -rdc=true");
        }
        if (count_arguments(source_, angles + 3, close) > 4) {
            source_.error(
                angles,
                "too many arguments between <<< and >>>: grid, block, bytes of "
                "shared memory and stream");
        }
        if (!kernel) check_function(name);
        if (kernel && kernel->is_template && side != Side::device) {
            for (const Argument& a : split_arguments(source_, close + 3))
                check_argument(a);
        }
    }

 private:
    /// Launched, and no kernel of this file: is it a function that is none?
    void check_function(size_t name) {
        const Function* in = structure_.function_of(name);
        if (!in || !source_.is_identifier(name)) return;
        if (source_.is_any(name - 1, {".", "->"})) return;
        if (is_declared_before(source_, in->params_open, name)) return;
        bool found = false, device = false, unclear = false;
        for (const Function& f : structure_.functions()) {
            if (f.name != source_.text(name)) continue;
            unclear |= source_.in_system_header(f.name_token);
            unclear |= structure_.scopes()[f.scope].kind == ScopeKind::type;
            found = true;
            device |= f.is_device;
        }
        if (!found || unclear) return;
        source_.error(name,
                      std::string(device ? "a __device__" : "a host") +
                          " function call cannot be configured: \"" +
                          std::string(source_.text(name)) +
                          "\" is no __global__ function");
    }

    /// A lambda without __device__ may not become the type of a kernel's parameter.
    void check_argument(const Argument& a) {
        size_t captures = a.first;
        if (a.last == a.first + 1 && source_.is_identifier(a.first)) {
            captures = initializer_of(a.first);
        } else if (source_.is(a.first, "[") && !source_.is(a.last - 1, "}")) {
            return;  // called on the spot
        }
        if (captures == kNone || !source_.is(captures, "[")) return;
        if (source_.match(captures) == kNone) return;
        for (size_t i = source_.match(captures); !source_.is_any(i, {"{", ";"}); ++i) {
            if (source_.is(i, "__device__")) return;
        }
        source_.error(a.first,
                      "the closure type for a lambda cannot be used in the template "
                      "argument type of a __global__ function template instantiation: "
                      "write [=] __device__ (...) and compile with --extended-lambda");
    }

    /// The `[` of `auto name = […` in the function around token `use`, or kNone.
    size_t initializer_of(size_t use) const {
        const Function* f = structure_.function_of(use);
        size_t found = kNone;
        for (size_t i = f ? f->params_open : use; i < use; ++i) {
            if (source_.text(i) != source_.text(use) || !source_.is(i + 1, "="))
                continue;
            if (found != kNone || !source_.is(i - 1, "auto")) return kNone;
            found = i + 2;
        }
        return found;
    }

    Source& source_;
    const Structure& structure_;
    const DeviceCode& code_;
    bool relocatable_;
};

void rewrite_launch(Source& source,
                    LaunchRules& rules,
                    const KernelTable& kernels,
                    size_t angles) {
    const size_t close = find_close(source, angles);
    if (close == kNone) {
        return source.error(
            angles, "kernel launch: expected `>>>(arguments)` after this `<<<`");
    }
    if (close == angles + 3) {
        return source.error(angles,
                            "kernel launch: no grid and block between <<< and >>>");
    }
    const size_t start = expression_start(source, angles - 1);
    size_t name = angles - 1;
    if (source.is(name, ">")) name = source.match_angle_back(name) - 1;
    const Kernel* kernel =
        source.is_identifier(name) ? kernels.find(source.text(name)) : nullptr;
    rules.check(kernel, name, angles, close);
    bool by_pointer = true;
    std::string function = "::simt::kernel";
    if (kernel) {
        const size_t given = qualified_name(source, name).template_arguments;
        const bool complete = kernels.is_complete(*kernel, given);
        by_pointer = complete && kernels.is_one_function(*kernel, given) &&
                     !kernel->has_default_arguments;
        if (!complete) function = "::simt::deduced_kernel";
        if (!by_pointer) function += references(source, *kernel, close + 3);
    }
    function += '(';
    source.insert_before(start,
                         function + quoted(source.squeeze(start, angles)) + ", ");
    if (!by_pointer) insert_lambda(source, start, angles, close + 3);
    source.insert_before(angles, ")(");
    source.insert_before(close, ")");
    source.blank(angles, angles + 3);
    source.blank(close, close + 3);
    // NULL may stand for no shared memory as well as for the default stream; so may 0.
    for (size_t i = angles + 3; i < close; ++i) {
        if (source.is(i, "__null")) source.replace(i, "0");
    }
}

}  // namespace

void rewrite_launches(Source& source,
                      const Structure& structure,
                      const DeviceCode& code,
                      const KernelTable& kernels,
                      bool relocatable) {
    LaunchRules rules(source, structure, code, relocatable);
    for (size_t i = 1; i + 2 < source.size(); ++i) {
        if (!source.is(i, "<") || !source.is_triple(i, '<')) continue;
        if (source.is_any(i - 1, {"operator", "<"})) continue;
        rewrite_launch(source, rules, kernels, i);
        i += 2;
    }
}

}  // namespace rewriter
