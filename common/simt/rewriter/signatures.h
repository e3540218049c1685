// How compilers print functions and types of the simulator, and how CUDA has them.
#pragma once

#include <string>

namespace rewriter {

/// `template<class T>  requires  is_int<T> T atomicAnd(T*, std::type_identity_t<T>)` as
/// CUDA has it: `T atomicAnd(T*, T), T = int, unsigned or unsigned long long`.
std::string public_signature(std::string text);

/// Types of arguments, without what only C++ tells apart: `int*&` is `int*`.
std::string public_types(std::string text);

}  // namespace rewriter
