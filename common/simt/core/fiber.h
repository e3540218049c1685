/// core/fiber.h: stacks on which CUDA threads run, and the switch between them.
#pragma once

#include <cstddef>
#include <vector>

/// Saves the callee-saved registers on the current stack and its pointer in *save, then
/// continues where the context whose stack pointer is `load` was saved.
extern "C" void simt_switch(void** save, void* load);

namespace simt::detail {

struct Fiber {
    void* sp = nullptr;
    char* low = nullptr;  // the stack is [low, low + size)
    size_t size = 0;
    size_t number = 0;

    /// Where its first frame begins: at the same depth on each fiber.
    char* top() const {
        // Equally aligned tops would share the same few cache sets, which doubles the
        // cost of a switch between many fibers.
        return low + size - number % 16 * 256;
    }
};

/// The fibers of one worker.
class FiberPool {
 public:
    /// @param entry  where a fiber begins; must not return
    explicit FiberPool(void (*entry)()) : entry_(entry) {}
    ~FiberPool();
    FiberPool(const FiberPool&) = delete;
    FiberPool& operator=(const FiberPool&) = delete;

    /// A fiber that stands at its entry, or where it last waited for work.
    /// Returns nullptr if the system has no memory for another stack.
    Fiber* take() {
        if (free_.empty() && !grow()) return nullptr;
        Fiber* fiber = free_.back();
        free_.pop_back();
        return fiber;
    }
    void put(Fiber* fiber) { free_.push_back(fiber); }

    /// Forgets what all fibers were doing and makes them available again.
    void reset();

    /// True if the address is in the guard page below this fiber's stack.
    static bool is_guard(const Fiber& fiber, const void* address);

 private:
    struct Slab {
        char* begin;
        size_t size;
    };
    bool grow();
    void prepare(Fiber* fiber) const;

    void (*entry_)();
    std::vector<Fiber*> free_;
    std::vector<Fiber*> all_;
    std::vector<Slab> slabs_;
};

}  // namespace simt::detail
