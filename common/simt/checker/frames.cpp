#include "frames.h"

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "core/scheduler.h"

namespace simt::check {
namespace {

struct Stack {
    uintptr_t low = 0;
    size_t size = 0;
    bool contains(const void* p, size_t bytes) const {
        const uintptr_t offset = reinterpret_cast<uintptr_t>(p) - low;
        return offset < size && size - offset >= bytes;
    }
};

/// The stack that the system gave to the calling OS thread.
Stack system_stack() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
    void* low = nullptr;
    size_t size = 0;
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    return {reinterpret_cast<uintptr_t>(low), size};
}

Stack running_stack() {
    if (const detail::Worker* w = detail::worker; w && w->fiber) {
        const Stack fiber{reinterpret_cast<uintptr_t>(w->fiber->low), w->fiber->size};
        if (fiber.contains(__builtin_frame_address(0), 1)) return fiber;
    }
    static thread_local const Stack own = system_stack();
    return own;
}

}  // namespace

void* const* frame_outside(const void* inner, void* const* frame) {
    const bool possible = frame > inner &&
                          reinterpret_cast<uintptr_t>(frame) % sizeof(void*) == 0 &&
                          running_stack().contains(frame, 2 * sizeof(void*));
    return possible ? frame : nullptr;
}

}  // namespace simt::check
