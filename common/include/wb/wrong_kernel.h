/// wb/wrong_kernel.h: for the programs of known-wrong kernels (tools/bundle).
#pragma once

namespace wb {

/// The environment variable WB_WRONG_KERNEL names none of a program's kernels.
/// Throws wb::NotSolved, which expect_rejected.cmake knows by the verdict "unsolved".
///
/// @param name  what it names; null if it is not set
[[noreturn]] void refuse_wrong_kernel(const char* name);

}  // namespace wb
