// The outline of a translation unit: which braces are namespaces, classes, functions or
// blocks, and which functions are declared with which of CUDA's words.
#pragma once

#include <string_view>
#include <vector>

#include "source.h"

namespace rewriter {

enum class ScopeKind {
    name_space,   // also extern "C"
    type,         // class, struct, union
    enumeration,  //
    function,     // the body of a named function
    block,        // any other statement block, and lambda bodies
    switch_block,
    initializer,
};

/// A pair of braces. Scope 0 is the file itself.
struct Scope {
    ScopeKind kind;
    size_t open, close;
    int parent;
    size_t header;  // first token of the statement that the brace belongs to
    int function;   // index of the innermost enclosing function, or -1
};

/// A declaration or definition of a function outside system headers, or of any kernel.
struct Function {
    std::string_view name;
    size_t header;      // first token of the declaration
    size_t name_token;  //
    size_t params_open, params_close;
    size_t body_open = kNone, body_close = kNone;  // kNone: only declared
    size_t template_open = kNone;                  // `<` of the innermost `template <`
    int scope = 0;
    bool is_global = false, is_device = false, is_host = false, is_constexpr = false;
    bool is_specialization = false;  // explicit specialisation or instantiation

    bool is_template() const { return template_open != kNone; }
    /// May device code call it, as far as its own words say?
    bool for_device() const { return is_device || is_global || is_constexpr; }
};

class Structure {
 public:
    explicit Structure(const Source& source);

    const std::vector<Scope>& scopes() const { return scopes_; }
    const std::vector<Function>& functions() const { return functions_; }
    /// The innermost scope that contains token i.
    const Scope& scope_of(size_t i) const { return scopes_[scope_index(i)]; }
    int scope_index(size_t i) const { return scope_of_token_[i]; }
    /// The function whose body contains token i, or nullptr.
    const Function* function_of(size_t i) const {
        const int f = scope_of(i).function;
        return f < 0 ? nullptr : &functions_[f];
    }
    /// Are statements (not only declarations) expected at token i?
    bool in_function(size_t i) const { return scope_of(i).function >= 0; }

 private:
    /// What the tokens [first, last) before a brace or semicolon say.
    struct Header {
        bool is_namespace = false, is_type = false, is_enum = false;
        bool has_equal = false;
        size_t member_initializers = kNone;  // the colon of a constructor
        Function function;
        bool has_function = false;
    };
    Header read_header(size_t first, size_t last) const;
    bool read_function(size_t first, size_t paren, Function& function) const;
    void read_words(size_t last, Function& function) const;
    ScopeKind classify(size_t brace, size_t start, int parent, Header& header) const;
    ScopeKind classify_in_body(size_t brace, size_t start, int parent) const;
    bool is_lambda_body(size_t brace, size_t start) const;
    void add_function(Function function, size_t body_open, int scope);

    const Source& source_;
    std::vector<Scope> scopes_;
    std::vector<Function> functions_;
    std::vector<int> scope_of_token_;
};

}  // namespace rewriter
