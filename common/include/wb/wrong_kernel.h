/// wb/wrong_kernel.h: for the programs of known-wrong kernels (tools/bundle).
#pragma once

namespace wb {

/// The environment variable WB_WRONG_KERNEL names none of a program's kernels.
/// Throws std::logic_error, whose words cmake/scripts/expect_rejected.cmake looks for.
///
/// @param name  what it names; null if it is not set
[[noreturn]] void refuse_wrong_kernel(const char* name);

}  // namespace wb
