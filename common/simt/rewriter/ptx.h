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

/// One PTX instruction: `@p bfe.u32 %0, %1, 8, %2` is {"bfe", "u32"}, {"%0", "%1", "8",
/// "%2"}, "p". A declaration `.reg .b32 a, b` is {".reg", "b32"}, {"a", "b"}.
struct PtxInstruction {
    std::vector<std::string> opcode;
    std::vector<std::string> operands;
    std::string guard;
    std::string text;  // as written
};

/// Splits assembly text into instructions. Registers that it declares are marked by `$`
/// where they are operands.
std::vector<PtxInstruction> parse_ptx(std::string_view text);

/// C++ statements for an instruction, in which operand %N is called simt_pN and a
/// declared register r simt_rr; nothing if there is no translation. Semantics are in
/// simt/inline_ptx.h.
std::optional<std::string> translate_ptx(const PtxInstruction& instruction);

/// The same for the instructions of sm_90: clusters, mbarriers, TMA.
std::optional<std::string> translate_hopper(const PtxInstruction& instruction);

/// A C++ statement for a text that waits for an mbarrier by a loop with labels, or asks
/// once by a predicate.
std::optional<std::string> translate_mbarrier_wait(std::string_view text);

}  // namespace rewriter
