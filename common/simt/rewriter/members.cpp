// Members, constructors and operators of the user's classes for the other side.
#include <map>
#include <set>

#include "calls.h"
#include "classes.h"
#include "kernels.h"

namespace rewriter {
namespace {

class MemberChecker {
 public:
    MemberChecker(Source& source,
                  const Structure& structure,
                  const DeviceCode& code,
                  bool relaxed)
        : source_(source),
          structure_(structure),
          code_(code),
          classes_(source, structure, code),
          relaxed_(relaxed) {
        find_operators();
    }

    void run() {
        if (classes_.empty() && operators_.empty()) return;
        for (const TokenRange& range : source_.user_tokens()) {
            for (size_t i = range.first + 2; i < range.last; ++i) {
                if (!structure_.in_function(i)) continue;
                if (source_.is_identifier(i)) {
                    name(i);
                } else if (!operators_.empty()) {
                    binary_operator(i);
                }
            }
        }
    }

 private:
    void name(size_t i) {
        if (source_.is(i + 1, "(") && source_.is_any(i - 1, {".", "->"})) {
            const Class* c = classes_.object(i - 2, source_.is(i - 1, "->") ? 1 : 0);
            if (c) member(*c, i, source_.text(i));
        } else if (source_.is(i + 1, "(") && source_.is(i - 1, "::")) {
            const Class* c = classes_.find(source_.text(i - 2));
            if (c) member(*c, i, source_.text(i));
        } else if (const Class* c = classes_.find(source_.text(i))) {
            if (!source_.is(i - 1, "::") && !source_.is(i + 1, "::")) object(*c, i);
        } else if (source_.is(i + 1, "(") && !source_.is(i - 1, "::")) {
            const Variable v = classes_.variable(i);
            if (v.type && v.indirections == 0 && v.declared != i) call(*v.type, i);
            if (v.declared == kNone) own_member(i);
        }
    }

    void member(const Class& c, size_t i, std::string_view name) {
        bool is_constexpr = false;
        const Side side = classes_.side(
            c, [&](const Function& f) { return f.name == name; }, is_constexpr);
        refuse(i, side, qualified(c, name), is_constexpr);
    }

    /// `get()` in a member function of the same class.
    void own_member(size_t i) {
        const Function& f = *structure_.function_of(i);
        if (structure_.scopes()[f.scope].kind != ScopeKind::type) return;
        if (!is_called(source_, code_, i) ||
            is_declared_before(source_, f.params_open, i))
            return;
        const Class* c = classes_.of_scope(f.scope);
        if (c) member(*c, i, source_.text(i));
    }

    /// `f(x)` of an object f.
    void call(const Class& c, size_t i) {
        bool is_constexpr = false;
        const Side side = classes_.side(
            c,
            [&](const Function& f) {
                return f.name == "operator" && source_.is(f.name_token + 1, "(");
            },
            is_constexpr);
        refuse(i, side, qualified(c, "operator()"), is_constexpr);
    }

    /// The name of class c at token i: does it make an object here?
    void object(const Class& c, size_t i) {
        if (code_.side(i) == Side::unknown) return;
        if (source_.is_any(i - 1, {"struct", "class", "~", "*", ".", "->", "<", ","}))
            return;
        size_t after = i + 1;
        if (source_.is(after, "<")) {
            after = source_.match_angle(after);
            if (after++ == kNone) return;
        }
        const bool expression = source_.is_any(after, {"(", "{"});
        const bool variable = source_.is_identifier(after) &&
                              source_.is_any(after + 1, {";", "(", "{", "[", "="}) &&
                              !source_.is(after, "operator");
        if (!expression && !variable) return;
        for (size_t k = code_.statement(i); k < i; ++k) {
            if (source_.is_any(k,
                               {"static", "extern", "__shared__", "using", "typedef"}))
                return;
        }
        if (expression && !is_called(source_, code_, i) && !source_.is(i - 1, "new"))
            return;
        const size_t arguments = expression ? after : after + 1;
        construct(c, i, arguments);
        if (variable) destroy(c, i);
    }

    /// The constructor that the arguments at token `open` choose, if it is certain.
    void construct(const Class& c, size_t i, size_t open) {
        const std::string_view name = source_.text(i);
        size_t count = 0;
        if (source_.is_any(open, {"(", "{"})) {
            count = count_arguments(source_, open + 1, source_.match(open));
            // An aggregate's braces, or a copy.
            if (count == 1 && !is_number(open + 1, source_.match(open)) &&
                !(source_.is(open, "(") && is_builtin(open + 1))) {
                return;
            }
        } else if (source_.is(open, "=")) {
            if (!is_number(open + 1, open + 2) || !source_.is(open + 2, ";")) return;
            count = 1;
        }
        bool is_constexpr = false;
        bool any = false;
        const Side side = classes_.side(
            c,
            [&](const Function& f) {
                if (f.name != name || source_.is(f.name_token - 1, "~")) return false;
                if (is_copy(f, name)) return false;
                any = true;
                return true;
            },
            is_constexpr);
        if (!any) return;
        if (count == 0 && !has_default(c, name)) return;
        refuse(i, side, qualified(c, name), is_constexpr);
    }

    bool is_number(size_t first, size_t last) const {
        return last == first + 1 && source_.is_literal(first) &&
               !source_.is_text(first);
    }

    /// Is the name at token `use` a parameter that is a number or points to numbers?
    bool is_builtin(size_t use) const {
        const Function* f = structure_.function_of(use);
        bool found = false;
        for (size_t i = f->params_open + 1; i < use; ++i) {
            if (source_.text(i) != source_.text(use)) continue;
            size_t k = i - 1;
            while (source_.is_any(k, {"*", "const", "__restrict__"}))
                --k;
            if (!source_.is_any(k, {"int", "float", "double", "unsigned"}))
                return false;
            found = true;
        }
        return found;
    }

    /// `C(const C&)` and `C(C&&)`.
    bool is_copy(const Function& f, std::string_view name) const {
        for (size_t k = f.params_open; k < f.params_close; ++k) {
            if (source_.text(k) == name) return true;
        }
        return false;
    }

    bool has_default(const Class& c, std::string_view name) const {
        for (const Function* f : c.functions) {
            if (f->name != name || source_.is(f->name_token - 1, "~")) continue;
            if (f->params_close == f->params_open + 1) return true;
        }
        return false;
    }

    /// A variable's destructor runs at the end of its block.
    void destroy(const Class& c, size_t i) {
        const std::string_view name = source_.text(i);
        bool is_constexpr = false;
        const Side side = classes_.side(
            c,
            [&](const Function& f) { return source_.is(f.name_token - 1, "~"); },
            is_constexpr);
        refuse(i, side, qualified(c, "~" + std::string(name)), is_constexpr);
    }

    /// Operators of two operands, by spelling and type of the first; members have none.
    void find_operators() {
        for (const Function& f : structure_.functions()) {
            if (f.name != "operator" || source_.in_system_header(f.name_token))
                continue;
            const std::string symbol = source_.squeeze(f.name_token + 1, f.params_open);
            if (structure_.scopes()[f.scope].kind == ScopeKind::type) continue;
            size_t i = f.params_open + 1;
            if (source_.is(i, "const")) ++i;
            if (!source_.is_identifier(i) ||
                !(source_.is_identifier(i + 1) || source_.is(i + 1, "&"))) {
                unclear_.insert(symbol);
                continue;
            }
            if (count_arguments(source_, f.params_open + 1, f.params_close) != 2)
                continue;
            if (code_.is_template(f) || (f.is_host && f.is_device) ||
                (f.is_constexpr && relaxed_)) {
                unclear_.insert(symbol);
            }
            Operator& o = operators_[{symbol, source_.text(i)}];
            (f.is_device ? o.device : o.host) = true;
            o.is_constexpr |= f.is_constexpr;
        }
    }

    void binary_operator(size_t i) {
        const std::string symbol(source_.text(i));
        if (!source_.is_any(
                i,
                {"+", "-", "*", "/", "==", "!=", "<", ">", "+=", "-=", "*=", "/="})) {
            return;
        }
        if (unclear_.contains(symbol) || code_.side(i) == Side::unknown) return;
        const auto [type, indirections] = operand(i - 1);
        if (type.empty() || indirections != 0) return;
        if (operand(i + 1).first != type) {
            // `v[1] + v[2]`: the second operand begins with its name.
            const Variable right = named(i + 1);
            if (right.name != type) return;
        }
        const auto found = operators_.find({symbol, type});
        if (found == operators_.end()) return;
        const Operator& o = found->second;
        if (o.host == o.device) return;
        refuse(i,
               o.device ? Side::device : Side::host,
               "operator" + symbol,
               o.is_constexpr);
    }

    /// Name of the type of the operand that ends at token `last`, and its pointers.
    std::pair<std::string_view, int> operand(size_t last) const {
        int used = 0;
        size_t i = last;
        while (source_.is(i, "]") && source_.match(i) != kNone) {
            i = source_.match(i) - 1;
            ++used;
        }
        if (!source_.is_identifier(i) ||
            source_.is_any(i - 1, {".", "->", "::", "*", "&"}))
            return {};
        const Variable v = named(i);
        return {v.name, v.indirections - used};
    }

    Variable named(size_t i) const {
        return source_.is_identifier(i) ? typed(i) : Variable{};
    }

    /// A variable of a class or of one of CUDA's vector types.
    Variable typed(size_t use) const {
        const Function* f = structure_.function_of(use);
        Variable result;
        for (size_t i = f->params_open + 1; i < use; ++i) {
            if (source_.text(i) != source_.text(use)) continue;
            size_t k = i - 1;
            int stars = source_.is(i + 1, "[");
            while (source_.is_any(k, {"*", "&", "const", "__restrict__"})) {
                stars += source_.is(k, "*");
                --k;
            }
            if (!source_.is_identifier(k)) continue;
            const bool known =
                classes_.find(source_.text(k)) ||
                source_.is_any(
                    k,
                    {"float2", "float3", "float4", "int2", "int3", "int4", "double2"});
            const bool start =
                source_.is_any(k - 1, {"(", ",", ";", "{", "}", "const"});
            if (!start) continue;
            if (!known || result.declared != kNone) return {};
            result.name = source_.text(k);
            result.indirections = stars;
            result.declared = i;
        }
        return result;
    }

    std::string qualified(const Class& c, std::string_view name) const {
        for (size_t i = structure_.scopes()[c.scope].open; i > 0; --i) {
            if (classes_.find(source_.text(i)) == &c)
                return std::string(source_.text(i)) + "::" + std::string(name);
        }
        return std::string(name);
    }

    /// Reports the use of a function for `callee` at token i, if that is wrong there.
    void refuse(size_t i, Side callee, const std::string& name, bool is_constexpr) {
        if (callee == Side::unknown || (is_constexpr && relaxed_)) return;
        const Side side = code_.side(i);
        if (side == Side::unknown || side == callee || !code_.is_evaluated(i)) return;
        report_call(source_, code_, i, name, side, is_constexpr);
    }

    struct Operator {
        bool host = false, device = false, is_constexpr = false;
    };
    Source& source_;
    const Structure& structure_;
    const DeviceCode& code_;
    const Classes classes_;
    bool relaxed_;
    std::map<std::pair<std::string, std::string_view>, Operator> operators_;
    std::set<std::string> unclear_;
};

}  // namespace

void check_members(Source& source,
                   const Structure& structure,
                   const DeviceCode& code,
                   bool relaxed) {
    MemberChecker(source, structure, code, relaxed).run();
}

}  // namespace rewriter
