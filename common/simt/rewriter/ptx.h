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

}  // namespace rewriter
