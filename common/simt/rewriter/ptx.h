// Inline PTX.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "structure.h"

namespace rewriter {

/// Translates the PTX instructions that have an exact meaning on a CPU, and refuses the
/// others with their line.
void rewrite_ptx(Source& source, const Structure& structure);

/// One PTX instruction: `bfe.u32 %0, %1, 8, %2` is {"bfe", "u32"}, {"%0", "%1", "8",
/// "%2"}.
struct PtxInstruction {
    std::vector<std::string> opcode;
    std::vector<std::string> operands;
};

/// Splits assembly text into instructions; nothing if it is no simple sequence.
std::optional<std::vector<PtxInstruction>> parse_ptx(std::string_view text);

/// C++ statements for an instruction, in which operand %N is called simt_pN; nothing if
/// there is no translation. Semantics are in simt/inline_ptx.h.
std::optional<std::string> translate_ptx(const PtxInstruction& instruction);

/// The same for the instructions of sm_90: clusters, mbarriers, TMA.
std::optional<std::string> translate_hopper(const PtxInstruction& instruction);

/// A C++ statement for a text that waits for an mbarrier by a loop with labels, or asks
/// once by a predicate.
std::optional<std::string> translate_mbarrier_wait(std::string_view text);

/// Parts of instructions as C++: an operand's value, an address as a pointer, a type.
std::optional<std::string> ptx_value(std::string_view operand);
std::optional<std::string> ptx_pointer(std::string_view operand,
                                       const std::string& type,
                                       bool shared);
std::string ptx_type(std::string_view name);

}  // namespace rewriter
