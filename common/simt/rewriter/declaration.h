// A declaration of variables, taken apart.
#pragma once

#include <string>
#include <vector>

#include "structure.h"

namespace rewriter {

/// One declarator, e.g. `*p[4]`, of a declaration.
struct Declarator {
    size_t first, last;          // tokens [first, last)
    size_t name = kNone;         //
    size_t initializer = kNone;  // `=`, `{` or `(` after the name
};

/// A declaration `specifiers type declarator, declarator;`.
struct Declaration {
    size_t first;      // first token
    size_t semicolon;  //
    size_t type_last;  // one past the last token of specifiers and type
    bool is_extern = false;
    bool defines_type = false;  // the type is written out with { }
    std::vector<Declarator> declarators;
};

/// Reads the declaration around token i. `semicolon` is kNone where no end was found.
Declaration read_declaration(const Source& source, size_t i);

/// Is token i a word like `alignas` or `__attribute__` with parentheses behind it?
bool is_attribute(const Source& source, size_t i);

/// Is token i a storage class (`static`, `extern`, `inline`) or a word of CUDA's?
bool is_storage_word(const Source& source, size_t i);

/// The type of the declaration without storage classes and attributes.
std::string type_text(const Source& source, const Declaration& declaration);

}  // namespace rewriter
