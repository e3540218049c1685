/// core/watchdog.h: ends launches in which nothing moves, and preempts spinning
/// threads.
#pragma once

namespace simt::detail {

/// Starts the watchdog of this process if it does not run yet.
void ensure_watchdog();

}  // namespace simt::detail
