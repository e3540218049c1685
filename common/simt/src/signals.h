/// src/signals.h: turning the processor's exceptions into fault reports.
#pragma once

#include <pthread.h>

namespace simt::detail {

/// Installs the handlers of this process and the alternative signal stack of this OS
/// thread, unless they are in place: other code (test frameworks) replaces them.
void ensure_signal_handlers();

/// What the watchdog can ask a worker's OS thread to do by signal kInterrupt.
enum Request : int { kNone = 0, kPreempt = 1, kTimeOut = 2 };

/// Interrupts a worker's OS thread, which looks at Worker::requested.
void interrupt(pthread_t os_thread);

}  // namespace simt::detail
