/// core/fiber.h: stacks on which CUDA threads run, and the switch between them.
#pragma once

#include <cstddef>
#include <vector>

/// Saves the callee-saved registers on the current stack and its pointer in *save, then
/// continues where the context whose stack pointer is `load` was saved.
#if defined(__x86_64__)
/// Inline, by a jump: a processor predicts where a `ret` goes from the calls before it,
/// which were the other stack's, and each wrong prediction costs as much as the switch.
/// What the compiler has in registers it saves itself. Pushes, so that no red zone may
/// be in use: core/CMakeLists.txt.
// clang-format off
#if defined(__AVX512F__)
#define SIMT_WIDE_REGISTERS \
    "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", \
    "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", \
    "k4", "k5", "k6", "k7",
#else
#define SIMT_WIDE_REGISTERS
#endif
[[gnu::always_inline]] inline void simt_switch(void** save, void* load) {
    asm volatile(
        "leaq 1f(%%rip), %%rax\n\t"
        "pushq %%rax\n\t"
        "pushq %%rbp\n\t"
        "movq %%rsp, (%0)\n\t"
        "movq %1, %%rsp\n\t"
        "popq %%rbp\n\t"
        "popq %%rax\n\t"
        "jmp *%%rax\n"
        "1:"
        : "+D"(save), "+S"(load)
        :
        : SIMT_WIDE_REGISTERS
          "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
          "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
          "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
}
#undef SIMT_WIDE_REGISTERS
// clang-format on
#else
extern "C" void simt_switch(void** save, void* load);
#endif

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
