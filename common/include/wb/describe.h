/// wb/describe.h: the shape of an attention problem in words, for tests and benchmarks.
#pragma once

#include <wb/attention.h>

#include <string>

namespace wb {

/// "B2 Hq4 Hkv4 Nq100 Nk257 D64 causal"; without Hkv and Nk where they are equal.
std::string describe(const AttentionShape& shape);

}  // namespace wb
