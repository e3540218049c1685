#include <atomic>
#include <cstdarg>
#include <cstdio>

#include "call.h"

namespace simt::detail {

void hint(const char* format, ...) {
    // A program that repeats its mistake in a loop would bury the first, useful line.
    constexpr int kMaxHints = 20;
    static std::atomic<int> hints = 0;
    if (hints.fetch_add(1, std::memory_order_relaxed) >= kMaxHints) return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "==SIMT== %s\n", text);
}

}  // namespace simt::detail
