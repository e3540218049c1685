/// simt/fault.h: ending a kernel with an error.
#pragma once

#include "core.h"

namespace simt {

namespace detail {

/// Ends the whole launch: prints one report that names kernel, block, thread and
/// `file:line`, and leaves `code` (a cudaError_t) behind as the process's sticky error.
///
/// @param code    the error that CUDA would report, e.g. 719
/// @param format  printf format of what happened; lines after the first explain
/// Outside a kernel the report is printed and the program ends.
[[noreturn]] void fault(int code, const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

/// What a failed `assert` in a kernel does: cudaErrorAssert.
[[noreturn]] void assert_failed(const char* expression,
                                const char* file,
                                int line,
                                const char* function);

/// What `__trap()` does: cudaErrorLaunchFailure.
[[noreturn]] void trap(const char* file, int line);

}  // namespace detail
}  // namespace simt

/// Ends the launch with an error.
inline void __trap(SIMT_OWN_SITE) {
    simt::detail::trap(file, line);
}
