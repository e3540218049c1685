// `assert` in kernels. The standard macro calls this function of the C library; the
// definition here takes its place in programs that link the simulator.

#include <cstdio>
#include <cstdlib>

#include "simt/fault.h"

extern "C" [[noreturn]] void __assert_fail(const char* expression,
                                           const char* file,
                                           unsigned int line,
                                           const char* function) noexcept;

extern "C" void __assert_fail(const char* expression,
                              const char* file,
                              unsigned int line,
                              const char* function) noexcept {
    if (simt::detail::in_kernel()) {
        // CUDA's line, which programs and people know, before the simulator's own report.
        std::fprintf(stderr,
                     "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] "
                     "Assertion `%s` failed.\n",
                     file,
                     line,
                     function ? function : "?",
                     blockIdx.x,
                     blockIdx.y,
                     blockIdx.z,
                     threadIdx.x,
                     threadIdx.y,
                     threadIdx.z,
                     expression);
        simt::detail::assert_failed(expression, file, static_cast<int>(line), function);
    }
    // In host code: what the C library prints.
    std::fflush(stdout);
    std::fprintf(stderr,
                 "%s:%u: %s: Assertion `%s' failed.\n",
                 file,
                 line,
                 function ? function : "?",
                 expression);
    std::abort();
}
