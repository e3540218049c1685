// clock() in a kernel counts cycles, as on a GPU; in host code it is the C library's:
// the processor time of the process. Defined here, it takes the place of the C
// library's.
#include <time.h>

#include "simt/clock.h"
#include "simt/core.h"

extern "C" clock_t clock(void) noexcept {
    if (simt::detail::in_kernel()) return static_cast<clock_t>(clock64());
    timespec now;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0) return -1;
    return now.tv_sec * CLOCKS_PER_SEC + now.tv_nsec / (1000000000 / CLOCKS_PER_SEC);
}
