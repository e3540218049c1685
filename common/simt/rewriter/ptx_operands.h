// What the translations of PTX instructions share: operands and calls as C++.
#pragma once

#include <initializer_list>
#include <string_view>

#include "ptx.h"

namespace rewriter {

using Code = std::optional<std::string>;

std::string_view trim(std::string_view text);
/// Parts between separators outside of braces and brackets, trimmed.
std::vector<std::string> split(std::string_view text, char separator);

/// The C++ type of a PTX type such as "s32"; empty if it is none.
std::string cpp_type(std::string_view name);
bool is_float(std::string_view cpp_type);

/// An operand's value as C++: `%0`, a special or declared register, a number.
Code value(std::string_view operand);
/// A predicate, perhaps negated by `!`.
Code predicate(std::string_view operand);
/// An address `[%1+16]` as a pointer to T.
Code pointer(std::string_view operand, const std::string& type, bool shared);

/// `set(out, function(inputs...));` with the given C++ expressions; no result for `_`.
Code assign(std::string_view out, const std::string& expression);
/// `::simt::ptx::as<type>(value)`
Code as(const std::string& type, std::string_view operand);
/// `set(out, name<T>(inputs...));`, where the last `plain` inputs are unsigned counts.
Code call(const PtxInstruction& in,
          const std::string& function,
          const std::string& type,
          size_t inputs,
          size_t plain = 0);

/// Does the opcode consist of its name, a type and words out of `allowed`?
bool only(const PtxInstruction& in, std::initializer_list<std::string_view> allowed);
/// Is the word a part of the opcode?
bool has(const PtxInstruction& in, std::string_view word);

/// Instructions by what they do; nothing if it is another, or has no translation.
Code translate_numbers(const PtxInstruction& in);
Code translate_halves(const PtxInstruction& in);
Code translate_carries(const PtxInstruction& in);
Code translate_conversion(const PtxInstruction& in);
Code translate_predicates(const PtxInstruction& in);
Code translate_lanes(const PtxInstruction& in);
Code translate_matrices(const PtxInstruction& in);

}  // namespace rewriter
