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
    same_warp,      // and the block has no other
    warp_of_block,  // the same warp, but others may do the same
    same_block,
    blocks,
    update,   // x += 1 by several threads
    writers,  // x = y by several threads
    proxy,
    async,
    index,
    shared,
};

Advice advice(Kind kind, Detail detail);

}  // namespace simt::check
