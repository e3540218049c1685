/// core/signals.h: turning the processor's exceptions into fault reports.
#pragma once

#include <pthread.h>

namespace simt::detail {

/// Installs the handlers of this process and the alternative signal stack of this OS
/// thread, unless they are in place: other code (test frameworks) replaces them.
///
/// @param time  now(); asking the system costs more than a small launch, therefore a
///              launch that follows another within microseconds does not ask again
void ensure_signal_handlers(double time);

/// Says what has happened before the C library ends a program whose heap is damaged.
void explain_aborts();

/// What a worker can be asked to do: let other threads run, report that the time limit
/// has passed, leave the launch because another worker has reported a fault.
enum Request : int { kNone = 0, kPreempt = 1, kTimeOut = 2, kLeave = 3 };

/// Interrupts a worker's OS thread, which looks at Worker::requested.
void interrupt(pthread_t os_thread);

}  // namespace simt::detail
