// PTX arithmetic of 16-bit floats as calls of the functions in
// simt/inline_ptx/halves.h.
#include <map>

#include "ptx_operands.h"

namespace rewriter {

/// add.f16x2 and so on: 16-bit floats, one or two in a register.
Code translate_halves(const PtxInstruction& in) {
    static const std::map<std::string_view, std::string> kFormats = {
        {"f16", "Binary16"}, {"bf16", "Bfloat16"}};
    static const std::map<std::string_view, size_t> kInputs = {{"add", 2},
                                                               {"sub", 2},
                                                               {"mul", 2},
                                                               {"fma", 3},
                                                               {"min", 2},
                                                               {"max", 2},
                                                               {"neg", 1},
                                                               {"abs", 1}};
    std::string_view type = in.opcode.back();
    const bool pair = type.ends_with("x2");
    if (pair) type.remove_suffix(2);
    const auto format = kFormats.find(type);
    const auto found = kInputs.find(in.opcode[0]);
    if (format == kFormats.end() || found == kInputs.end()) return std::nullopt;
    const bool extreme = in.opcode[0] == "min" || in.opcode[0] == "max";
    const bool sign = found->second == 1;
    const bool known = extreme              ? only(in, {"ftz", "NaN"})
                       : sign               ? only(in, {"ftz"})
                       : found->second == 3 ? only(in, {"rn", "ftz", "sat", "relu"})
                                            : only(in, {"rn", "ftz", "sat"});
    if (!known) return std::nullopt;
    std::string function = "half_" + in.opcode[0] + "<::simt::" + format->second;
    function += has(in, "ftz") ? ", true" : ", false";
    function += has(in, extreme ? "NaN" : "sat") ? ", true" : ", false";
    function += has(in, "relu") ? ", true>" : ", false>";
    return call(in, function, pair ? "uint32_t" : "uint16_t", found->second);
}

}  // namespace rewriter
