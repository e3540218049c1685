// The user's classes: their functions, and which variables are objects of them.
#pragma once

#include <unordered_map>

#include "device_code.h"

namespace rewriter {

/// A class of the user's files whose name means nothing else there.
struct Class {
    int scope = -1;
    bool has_base = false;
    std::vector<const Function*> functions;  // declared in the class
};

/// What is known about a variable: `const Class* v[3]`.
struct Variable {
    const Class* type = nullptr;  // nullptr: not known
    std::string_view name;        // of the type
    int indirections = 0;         // `*` and array bounds
    size_t declared = kNone;      // the variable's name
};

class Classes {
 public:
    Classes(const Source& source, const Structure& structure, const DeviceCode& code);

    const Class* find(std::string_view name) const;
    /// The class whose body is this scope.
    const Class* of_scope(int scope) const;
    bool empty() const { return classes_.empty(); }
    /// The variable that the name at token `use` means, if its one declaration in the
    /// function names a class.
    Variable variable(size_t use) const;
    /// The class of the value that ends at token `last`: `v`, `v[i]`, `(*v)`. With
    /// `indirections` left over for `->`.
    const Class* object(size_t last, int indirections) const;

    /// For which side the functions of the class that `matches` selects are, all of
    /// them: unknown if there are none, or different ones.
    template <class F>
    Side side(const Class& c, F matches, bool& is_constexpr) const {
        Side result = Side::unknown;
        for (const Function* f : c.functions) {
            if (!matches(*f)) continue;
            if ((f->is_host && f->is_device) || is_implicit(*f)) return Side::unknown;
            const Side own = f->is_device ? Side::device : Side::host;
            if (result != Side::unknown && own != result) return Side::unknown;
            is_constexpr |= f->is_constexpr;
            result = own;
        }
        return result;
    }

 private:
    /// `= default;` and `= delete;`
    bool is_implicit(const Function& f) const;
    bool is_declaration(size_t name, Variable& variable) const;

    const Source& source_;
    const Structure& structure_;
    const DeviceCode& code_;
    std::unordered_map<std::string_view, Class> classes_;
};

}  // namespace rewriter
