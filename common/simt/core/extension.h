/// core/extension.h: how a floor above the core takes part in the life of blocks and
/// threads. It attaches an extension to a block or a thread at its first use there;
/// what has none pays a comparison.
#pragma once

#include <string>

namespace simt::detail {

class Worker;

/// What the threads of a block wait for that the core does not know.
struct Waits {
    std::string text;         // lines of a deadlock's report; "" if there are none
    const char* advice = "";  // what to look at, if there are some
};

/// Belongs to a block until that has ended, or a fault has ended it.
class BlockExtension {
 public:
    virtual ~BlockExtension() = default;
    /// The running thread has returned.
    virtual void thread_ends(Worker&) {}
    /// All threads have returned; the block's shared memory is still there.
    virtual void block_ends(Worker&) {}
    /// For the report of a deadlock.
    virtual Waits waits() const { return {}; }
};

/// Belongs to a thread, and to those that run in its place in later blocks.
class ThreadExtension {
 public:
    virtual ~ThreadExtension() = default;
    /// The thread has returned, or a fault has ended it: forgets what it was doing.
    virtual void discard() = 0;
};

}  // namespace simt::detail
