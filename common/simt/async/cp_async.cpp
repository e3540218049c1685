// Emulation of cp.async: what a thread has copied becomes visible when it waits.

#include "simt/cp_async.h"

#include <cstring>
#include <memory>
#include <vector>

#include "core/fault.h"
#include "core/observer.h"
#include "simt/fault.h"

namespace simt::detail {
namespace {

/// A thread's copies in flight, oldest first.
struct CopyQueue : ThreadExtension {
    struct Copy {
        void* to;
        int bytes;
        uint64_t group;
        char data[16];
    };
    std::vector<Copy> copies;
    uint64_t group = 0;  // the one that is open

    void discard() override {
        copies.clear();
        group = 0;
    }
};

CopyQueue& queue_of(Worker& w) {
    w.leave_row();
    if (!w.thread->extension) w.thread->extension = std::make_unique<CopyQueue>();
    return static_cast<CopyQueue&>(*w.thread->extension);
}

/// Lets the copies of all groups before `group` land.
void land(CopyQueue& queue, uint64_t group) {
    size_t n = 0;
    while (n < queue.copies.size() && queue.copies[n].group < group) {
        const auto& c = queue.copies[n++];
        std::memcpy(c.to, c.data, static_cast<size_t>(c.bytes));
        if (observer) observer->copy_landed(c.to, c.bytes);
    }
    queue.copies.erase(queue.copies.begin(),
                       queue.copies.begin() + static_cast<std::ptrdiff_t>(n));
}

bool is_aligned(const void* p, int bytes) {
    return reinterpret_cast<uintptr_t>(p) % static_cast<unsigned>(bytes) == 0;
}

}  // namespace

void cp_async(void* shared,
              const void* global,
              int bytes,
              int src_bytes,
              const char* file,
              int line) {
    Worker& w = kernel_worker("cp.async", file, line);
    if ((bytes != 4 && bytes != 8 && bytes != 16) || src_bytes < 0 || src_bytes > bytes)
        fault(cudaErrorLaunchFailure,
              file,
              line,
              "cp.async copies 4, 8 or 16 bytes, not %d (of which %d are read)",
              bytes,
              src_bytes);
    if (!is_aligned(shared, bytes) || !is_aligned(global, bytes))
        fault(cudaErrorMisalignedAddress,
              file,
              line,
              "cp.async of %d bytes needs addresses that are multiples of %d",
              bytes,
              bytes);
    CopyQueue::Copy copy{shared, bytes, 0, {}};
    // Read while preemption and faults are attributed to the kernel: this may fault.
    std::memcpy(copy.data, global, static_cast<size_t>(src_bytes));
    w.in_runtime = true;
    CopyQueue& queue = queue_of(w);
    copy.group = queue.group;
    queue.copies.push_back(copy);
    if (observer) observer->copy_issued(shared, global, bytes, src_bytes);
    w.in_runtime = false;
}

void cp_async_commit() {
    Worker& w = kernel_worker("cp.async.commit_group", nullptr, 0);
    w.in_runtime = true;
    ++queue_of(w).group;
    w.in_runtime = false;
}

void cp_async_wait(int pending) {
    Worker& w = kernel_worker("cp.async.wait_group", nullptr, 0);
    w.in_runtime = true;
    CopyQueue& queue = queue_of(w);
    const auto n = static_cast<uint64_t>(pending < 0 ? 0 : pending);
    if (queue.group > n) land(queue, queue.group - n);
    w.in_runtime = false;
}

void cp_async_wait_all() {
    Worker& w = kernel_worker("cp.async.wait_all", nullptr, 0);
    w.in_runtime = true;
    CopyQueue& queue = queue_of(w);
    land(queue, queue.group + 1);
    w.in_runtime = false;
}

}  // namespace simt::detail
