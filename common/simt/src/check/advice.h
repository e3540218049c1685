/// src/check/advice.h: how a mistake is usually fixed, and which chapter explains it.
#pragma once

#include "findings.h"

namespace simt::check {

struct Advice {
    const char* fix;
    const char* chapter;
};

/// Mistakes that are told apart by more than their kind.
enum class Detail : uint8_t {
    none,
    same_warp,
    same_block,
    blocks,
    update,   // x += 1 by several threads
    writers,  // x = y by several threads
    async,
    index,
    shared,
};

Advice advice(Kind kind, Detail detail);

}  // namespace simt::check
