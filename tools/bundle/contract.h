// contract.h: the functions that every implementation of a chapter defines.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "text.h"

namespace bundle {

/// A function that a header of the chapter declares and each implementation defines, or
/// a header that is part of it.
struct ContractFunction {
    std::string name;
    std::string signature;    // tells overloads apart
    std::string declaration;  // as in the header, with default arguments
    // Of functions that the host calls:
    bool on_host = false;
    std::string result;                  // "void"
    std::string parameters;              // "const float* a, int64_t n"
    std::vector<std::string> arguments;  // "a", "n"
};

/// The contract of a chapter: what its headers declare and these files define.
std::vector<ContractFunction> read_contract(const std::vector<File>& definers,
                                            const std::vector<File>& headers);

/// The functions that a file defines and exports.
std::set<std::string> functions_defined_in(const File& file);

/// The names in a file, without those in comments and strings.
/// @param declarations  also the names of functions where they are declared
std::set<std::string> names_in(const File& file, bool declarations);

}  // namespace bundle
