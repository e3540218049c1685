// Heads of kernels that nvcc refuses.
#include "rules.h"

namespace rewriter {
namespace {

bool is_builtin_type(const Source& source, size_t i) {
    return source.is_any(i,
                         {"int",
                          "float",
                          "double",
                          "char",
                          "bool",
                          "short",
                          "long",
                          "unsigned",
                          "signed"});
}

class KernelHead {
 public:
    KernelHead(Source& source, const Structure& structure, const Function& f)
        : source_(source), structure_(structure), f_(f) {}

    void check(const DeviceCode& code) {
        const bool is_main = f_.name == "main" && f_.scope == 0;
        if (is_main && (f_.is_global || f_.is_device))
            return refuse("function main cannot be marked __device__ or __global__");
        check_bounds();
        if (!f_.is_global) return;
        read_words();
        const std::string name = "__global__ function \"" + std::string(f_.name) + "\"";
        const bool in_class = structure_.scopes()[f_.scope].kind == ScopeKind::type;
        if (f_.name == "operator") {
            refuse("an operator function cannot be a __global__ function");
        } else if (in_class && !is_friend_) {
            refuse(name + " must not be a member function");
        } else if (is_friend_ && f_.body_open != kNone) {
            refuse(name + " cannot be defined in a friend declaration");
        } else if (has_result_) {
            refuse(name + " must have a void return type");
        } else if (f_.is_device || f_.is_host) {
            refuse(name + " cannot be __device__ or __host__, too");
        } else if (f_.is_constexpr) {
            refuse(name + " cannot be marked constexpr");
        } else if (source_.is(f_.params_close + 1, "noexcept") &&
                   !source_.is(f_.params_close + 2, "(")) {
            refuse("an exception specification is not allowed for " + name);
        }
        check_parameters(code, name);
        if (f_.body_open != kNone) limit_parameters();
    }

 private:
    void refuse(const std::string& message) { source_.error(f_.name_token, message); }

    void read_words() {
        bool deduced = false;
        for (size_t i = f_.header; i < f_.name_token; ++i) {
            if (source_.is(i, "template") && source_.is(i + 1, "<")) {
                i = source_.match_angle(i + 1);
            } else if (source_.is(i, "(")) {
                i = source_.match(i);
            } else if (source_.is(i, "[")) {
                i = source_.match(i);
            }
            is_friend_ |= source_.is(i, "friend");
            deduced |= source_.is(i, "auto");
            has_result_ |= is_builtin_type(source_, i) || source_.is_any(i, {"*", "&"});
        }
        if (!deduced) return;
        const size_t arrow = f_.params_close + 1;
        has_result_ = !source_.is(arrow, "->") || is_builtin_type(source_, arrow + 1);
    }

    void check_bounds() {
        bool bounds = false, registers = false;
        for (size_t i = f_.header; i < f_.name_token; ++i) {
            registers |= source_.is(i, "__maxnreg__");
            if (!source_.is(i, "__launch_bounds__")) continue;
            bounds = true;
            if (!f_.is_global)
                refuse("__launch_bounds__ is only allowed on a __global__ function");
            int commas = 0;
            for (size_t k = i + 2; k < source_.match(i + 1); ++k) {
                if (source_.match(k) != kNone) k = source_.match(k);
                if (source_.is(k, "<")) return;  // perhaps a template's commas
                commas += source_.is(k, ",");
            }
            if (commas > 2) refuse("__launch_bounds__ takes at most three values");
        }
        if (bounds && registers) {
            refuse(
                "the __launch_bounds__ and __maxnreg__ qualifiers cannot be applied to "
                "the same kernel");
        }
    }

    void check_parameters(const DeviceCode& code, const std::string& name) {
        const size_t last = f_.params_close - 1;
        if (source_.is(last, ".") && source_.is_any(last - 3, {",", "("})) {
            refuse(name + " cannot have ellipsis");
        }
        bool grid_constant = false, is_const = false;
        for (size_t i = f_.params_open + 1; i <= f_.params_close; ++i) {
            if (source_.is_any(i, {",", ")"})) {
                if (grid_constant && !is_const) {
                    source_.error(i - 1,
                                  "a parameter annotated with __grid_constant__ must "
                                  "have const-qualified type");
                }
                grid_constant = is_const = false;
            }
            grid_constant |= source_.is(i, "__grid_constant__");
            is_const |= source_.is(i, "const");
            if (source_.is(i, "&&") && !code.is_template(f_)) {
                refuse(name + " cannot have a parameter with rvalue reference type");
            }
            if (source_.is(i, "initializer_list") && source_.is(i - 1, "::")) {
                refuse(name +
                       " cannot have a parameter with type std::initializer_list");
            }
        }
    }

    /// The compiler knows how large the parameters are. Not written where all are
    /// numbers and pointers, nor where one has no name.
    void limit_parameters() {
        std::string types;
        bool large = false;
        size_t name = kNone;
        bool small = false;
        for (size_t i = f_.params_open + 1; i <= f_.params_close; ++i) {
            if (source_.is_any(i, {"(", "[", "="})) return;
            if (source_.is(i, "<")) {
                i = source_.match_angle(i);
                if (i == kNone) return;
                continue;
            }
            if (!source_.is(i, ",") && i != f_.params_close) {
                small |= is_builtin_type(source_, i) || source_.is_any(i, {"*", "&"});
                if (source_.is_identifier(i)) name = i;
                continue;
            }
            if (name == kNone || name != i - 1 || source_.is(name - 1, ",") ||
                name == f_.params_open + 1) {
                return;
            }
            large |= !small;
            if (!small) {
                types += (types.empty() ? "decltype(" : ", decltype(") +
                         std::string(source_.text(name)) +
                         (source_.is(name - 1, ".") ? ")..." : ")");
            }
            name = kNone;
            small = false;
        }
        if (!large) return;
        source_.insert_after(f_.body_open,
                             " static_assert(::simt::parameter_bytes<" + types +
                                 ">() <= 32764, \"formal parameter space overflowed: "
                                 "a kernel takes at most 32764 bytes\");");
    }

    Source& source_;
    const Structure& structure_;
    const Function& f_;
    bool is_friend_ = false, has_result_ = false;
};

}  // namespace

void check_kernels(Source& source, const Structure& structure, const DeviceCode& code) {
    for (const Function& f : structure.functions()) {
        if (source.in_system_header(f.name_token)) continue;
        KernelHead(source, structure, f).check(code);
    }
}

}  // namespace rewriter
