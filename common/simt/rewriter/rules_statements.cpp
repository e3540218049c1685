// Statements and lambdas that nvcc refuses.
#include "rules.h"

namespace rewriter {
namespace {

/// Reads statements in the bodies of device functions.
class Statements {
 public:
    Statements(Source& source, const Structure& structure, const DeviceCode& code)
        : source_(source), structure_(structure), code_(code) {}

    void check(const Function& f) {
        if (f.body_open == kNone || !(f.is_device || f.is_global)) return;
        if (code_.is_local(f)) return;
        // Two bodies, of which one is the host's: see merge.cpp.
        for (size_t i = f.body_open; f.is_host && i < f.body_open + 12; ++i) {
            if (source_.is(i, "on_device_side")) return;
        }
        for (size_t i = f.body_open + 1; i < f.body_close; ++i) {
            // A template is looked at where it is used.
            if (code_.is_template(f) && !code_.is_device_or_both(i)) continue;
            if (source_.is(i, "[")) {
                array(f, i);
            } else if (source_.is(i, "&&")) {
                label(i);
            } else if (source_.is_identifier(i)) {
                word(f, i);
            }
        }
    }

 private:
    void word(const Function& f, size_t i) {
        if (source_.is_any(i, {"throw", "try"})) {
            if (code_.is_template(f) && !code_.is_evaluated(i)) return;
            source_.error(i, "device code does not support exception handling");
        } else if (source_.is_any(i, {"typeid", "dynamic_cast"})) {
            if (code_.is_template(f) && !code_.is_evaluated(i)) return;
            source_.error(i,
                          "the operator '" + std::string(source_.text(i)) +
                              "' is not allowed in device code");
        } else if (source_.is(i, "thread_local")) {
            source_.error(i,
                          "cannot use thread_local specifier for variable declarations "
                          "in device code");
        } else if (source_.is(i, "static")) {
            static_variable(f, i);
        }
    }

    /// `&&name`: the address of a label.
    void label(size_t i) {
        if (!source_.is_any(i - 1, {"=", "(", "{", ","}) ||
            !source_.is_identifier(i + 1))
            return;
        if (!source_.is_any(i + 2, {";", ",", "}"})) return;
        source_.error(i,
                      "address of label extension is not supported in "
                      "__device__/__global__ functions");
    }

    /// `static int n = m;`
    void static_variable(const Function& f, size_t i) {
        for (size_t k = i + 1; k < f.body_close && !source_.is(k, ";"); ++k) {
            if (source_.is_any(k, {"(", "[", "{", "<"})) return;
            if (!source_.is(k, "=")) continue;
            if (!code_.is_template(f) && is_runtime(f, k + 1, 3)) {
                source_.error(i,
                              "dynamic initialization is not supported for a "
                              "function-scope static __device__ variable");
            }
            return;
        }
    }

    /// `float r[n];` with a bound that only the run knows.
    void array(const Function& f, size_t open) {
        const size_t name = open - 1;
        if (!source_.is_identifier(name) || source_.match(open) == kNone) return;
        if (!source_.is_any(source_.match(open) + 1, {";", "=", "[", ",", "{"})) return;
        // Nothing but a type before the name.
        const size_t first = code_.statement(name);
        if (first == name) return;
        for (size_t i = first; i < name; ++i) {
            const bool type = source_.is_identifier(i) || source_.is(i, "::");
            if (!type || source_.is_any(i,
                                        {"return",
                                         "delete",
                                         "new",
                                         "case",
                                         "else",
                                         "do",
                                         "goto",
                                         "throw",
                                         "__shared__",
                                         "using"})) {
                return;
            }
        }
        if (code_.enclosing(name) == kNone || !source_.is(code_.enclosing(name), "{"))
            return;
        if (!is_runtime(f, open + 1, 3)) return;
        source_.error(name,
                      "the array \"" + std::string(source_.text(name)) +
                          "\" needs a constant size: expression must have a constant "
                          "value");
    }

    /// Does the expression from token i to the next `;`, `,` or closing bracket need
    /// values that only the run knows? False if in doubt.
    bool is_runtime(const Function& f, size_t i, int depth) const {
        for (; i < f.body_close; ++i) {
            if (source_.is_any(i, {";", ",", "]", ")", "}"})) return false;
            if (source_.is_any(i, {"sizeof", "decltype", "::", ".", "->", "<"}))
                return false;
            if (!source_.is_identifier(i)) continue;
            if (source_.is_any(i, {"blockDim", "threadIdx", "blockIdx", "gridDim"}))
                return true;
            if (source_.is(i + 1, "(") || source_.is(i + 1, "[")) return false;
            if (is_variable(f, i, depth)) return true;
        }
        return false;
    }

    bool is_builtin(size_t i) const {
        return source_.is_any(
            i, {"int", "unsigned", "long", "short", "size_t", "int64_t"});
    }

    /// Is the name at token `use` a parameter, or a variable without constant value?
    bool is_variable(const Function& f, size_t use, int depth) const {
        size_t found = kNone;
        for (size_t i = f.params_open + 1; i < use; ++i) {
            if (source_.text(i) != source_.text(use) || !source_.is_identifier(i - 1))
                continue;
            if (!is_builtin(i - 1) || found != kNone) return false;
            found = i;
        }
        if (found == kNone) return false;
        if (found < f.params_close) return true;
        const size_t first = code_.statement(found);
        for (size_t i = first; i < found; ++i) {
            if (source_.is(i, "constexpr")) return false;
            if (source_.is(i, "const")) {
                return depth > 0 && source_.is(found + 1, "=") &&
                       is_runtime(f, found + 2, depth - 1);
            }
        }
        return true;
    }

    Source& source_;
    const Structure& structure_;
    const DeviceCode& code_;
};

}  // namespace

void check_statements(Source& source,
                      const Structure& structure,
                      const DeviceCode& code) {
    Statements statements(source, structure, code);
    for (const Function& f : structure.functions()) {
        if (!source.in_system_header(f.name_token)) statements.check(f);
    }
}

void check_lambdas(Source& source, const DeviceCode& code, bool extended) {
    for (const TokenRange& range : source.user_tokens()) {
        for (size_t i = range.first + 1; i < range.last; ++i) {
            if (!source.is_any(i, {"__device__", "__host__"})) continue;
            if (!source.is(i - 1, "]") || source.match(i - 1) == kNone) continue;
            const size_t captures = source.match(i - 1);
            if (!source.is_any(captures - 1, {"=", "(", ",", "return", "{"})) continue;
            if (!extended) {
                source.error(i,
                             "__host__ or __device__ annotation on lambda requires "
                             "--extended-lambda nvcc flag");
                return;  // the others would say the same
            } else if (source.is(captures + 1, "&") &&
                       code.side(captures) == Side::host) {
                source.error(
                    captures,
                    "an extended __device__ lambda cannot capture variables by "
                    "reference");
            }
        }
    }
}

}  // namespace rewriter
