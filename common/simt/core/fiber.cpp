#include "fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "options.h"
#include "pages.h"

#if defined(__x86_64__)
// Inline, in the header.
#elif defined(__aarch64__)
asm(R"(
.text
.globl simt_switch
.type simt_switch,%function
simt_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size simt_switch, .-simt_switch
)");
#else
#error "simt runs on x86-64 and aarch64: add a context switch for this architecture"
#endif

namespace simt::detail {
namespace {

constexpr size_t kFibersPerSlab = 64;
// Each guard page costs the process two memory mappings, of which Linux grants 65530. A
// cooperative launch may need more fibers than that; the later ones go without.
constexpr size_t kGuardedFibers = 8192;

}  // namespace

FiberPool::~FiberPool() {
    for (Fiber* fiber : all_)
        delete fiber;
    for (const Slab& slab : slabs_)
        munmap(slab.begin, slab.size);
}

bool FiberPool::grow() {
    const size_t stack = options().stack_bytes;
    const size_t stride = stack + kPage;
    const size_t bytes = stride * kFibersPerSlab;
    void* memory = mmap(nullptr,
                        bytes,
                        PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                        -1,
                        0);
    if (memory == MAP_FAILED) return false;
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    slabs_.push_back({static_cast<char*>(memory), bytes});
    for (size_t i = 0; i < kFibersPerSlab; ++i) {
        char* guard = static_cast<char*>(memory) + i * stride;
        if (all_.size() < kGuardedFibers) mprotect(guard, kPage, PROT_NONE);
        auto* fiber = new Fiber;
        fiber->low = guard + kPage;
        fiber->size = stack;
        fiber->number = all_.size();
        all_.push_back(fiber);
        prepare(fiber);
    }
    // The pool is a stack: the first fiber of the slab comes out first.
    for (size_t i = 0; i < kFibersPerSlab; ++i)
        free_.push_back(all_[all_.size() - 1 - i]);
    return true;
}

void FiberPool::prepare(Fiber* fiber) const {
    const auto top = reinterpret_cast<uintptr_t>(fiber->top());
    auto** p = reinterpret_cast<void**>(top & ~uintptr_t{15});
#if defined(__x86_64__)
    *--p =
        nullptr;  // keeps the alignment that a call would leave, and ends back traces
    *--p = reinterpret_cast<void*>(entry_);
    *--p = nullptr;  // the frame pointer
#else
    p -= 20;
    std::memset(p, 0, 20 * sizeof(void*));
    p[11] = reinterpret_cast<void*>(entry_);  // x30, the link register
#endif
    fiber->sp = p;
}

void FiberPool::reset() {
    free_.clear();
    for (size_t i = all_.size(); i-- > 0;) {
        prepare(all_[i]);
        free_.push_back(all_[i]);
    }
}

bool FiberPool::is_guard(const Fiber& fiber, const void* address) {
    // Larger frames touch the guard page too: kernels are compiled with
    // -fstack-clash-protection, which touches every page of a new frame in order.
    const auto* p = static_cast<const char*>(address);
    return p < fiber.low && p >= fiber.low - kPage;
}

}  // namespace simt::detail
