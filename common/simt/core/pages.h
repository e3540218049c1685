/// core/pages.h: memory comes in pages.
#pragma once

#include <cstddef>

namespace simt::detail {

constexpr size_t kPage = 4096;

constexpr size_t round_up(size_t n, size_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

}  // namespace simt::detail
