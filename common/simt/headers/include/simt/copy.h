/// simt/copy.h: one thread's part of a copy to shared memory that a group does
/// together.
#pragma once
#include <cstdint>

#include "simt/cp_async.h"
#include "simt/seen.h"
#include "simt/shared.h"

namespace simt::detail {

/// Starts copying every `count`-th piece beginning with number `rank`. Pieces are of
/// 16, 8 or 4 bytes, as large as addresses and size allow; they land when the thread
/// waits for them. What cp.async cannot copy (odd addresses or sizes, other
/// destinations) is copied at once.
inline void copy_part(void* dst,
                      const void* src,
                      size_t bytes,
                      size_t rank,
                      size_t count,
                      const char* file,
                      int line) {
    auto* to = static_cast<char*>(dst);
    const auto* from = static_cast<const char*>(src);
    const size_t alignment =
        reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes;
    const size_t piece = alignment % 16 == 0 ? 16 : alignment % 8 == 0 ? 8 : 4;
    if (alignment % 4 != 0 || !is_shared(dst)) {
        const size_t part = (bytes + count - 1) / count;
        const size_t begin = part * rank < bytes ? part * rank : bytes;
        const size_t end = begin + part < bytes ? begin + part : bytes;
        simt_copy(to + begin, from + begin, end - begin);
        return;
    }
    for (size_t i = piece * rank; i < bytes; i += piece * count) {
        cp_async(to + i, from + i, int(piece), int(piece), file, line);
    }
}

}  // namespace simt::detail
