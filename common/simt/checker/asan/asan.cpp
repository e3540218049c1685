// AddressSanitizer's view of a kernel's memory (simt-c++ --asan): what lies between
// allocations, and between shared variables, is forbidden; a CUDA thread's stack is
// one.

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include <cstdint>
#include <cstdio>
#include <set>
#include <utility>

#include "core/fault.h"
#include "core/memory.h"
#include "core/observer.h"
#include "core/options.h"

namespace simt::asan {
namespace {

using detail::Allocation;
using detail::Block;
using detail::Fiber;
using detail::Launch;
using detail::SharedVariable;
using detail::Worker;
using detail::worker;

constexpr uintptr_t kPage = 4096;

void forbid(const char* begin, const char* end) {
    if (begin < end)
        __asan_poison_memory_region(begin, static_cast<size_t>(end - begin));
}
void allow(const char* begin, size_t bytes) {
    __asan_unpoison_memory_region(begin, bytes);
}

const char* page_of(const char* p) {
    return reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(p) & ~(kPage - 1));
}

class AddressObserver : public detail::Observer {
 public:
    void allocated(const Allocation& a) override {
        if (a.kind == detail::MemoryKind::registered) return;
        forbid(page_of(a.begin), a.begin);
        forbid(a.begin + a.size, page_of(a.begin + a.size + kPage - 1));
    }
    void released(const Allocation& a) override {
        if (a.kind != detail::MemoryKind::registered) forbid(a.begin, a.begin + a.size);
    }
    void shared_variable(Worker&, Block& block, const SharedVariable& v) override {
        const detail::SharedArena& arena = block.shared;
        if (arena.variables.size() == 1) forbid(arena.begin, arena.end);
        allow(v.begin, v.size);
    }
    void leaves_stack(const Fiber* to) override {
        const void* low = to ? to->low : own_stack_;
        const size_t size = to ? to->size : own_size_;
        if (to) stacks_.insert({to->low, to->size});
        from_own_ = on_own_;
        on_own_ = to == nullptr;
        __sanitizer_start_switch_fiber(nullptr, low, size);
    }
    void enters_stack() override {
        const void* low = nullptr;
        size_t size = 0;
        __sanitizer_finish_switch_fiber(nullptr, &low, &size);
        if (!from_own_) return;
        own_stack_ = low;
        own_size_ = size;
    }
    void launch_ends(const Launch& launch) override {
        if (!launch.aborted) return;
        // What its threads have left on their stacks concerns nobody any more.
        for (const auto& [low, size] : stacks_)
            allow(low, size);
    }

 private:
    std::set<std::pair<const char*, size_t>> stacks_;
    const void* own_stack_ = nullptr;  // of the worker
    size_t own_size_ = 0;
    bool on_own_ = true;
    bool from_own_ = true;
};

[[gnu::constructor(101)]] void start() {
    detail::options().workers = 1;
    detail::observer = new AddressObserver;
}

/// What lies nearest to an address in the block's shared memory, or "".
std::string describe_shared(const Block& block, const char* p) {
    if (p < block.shared.begin || p >= block.shared.end) return "";
    const SharedVariable* best = nullptr;
    for (const SharedVariable& v : block.shared.variables)
        if (v.begin <= p && (!best || v.begin > best->begin)) best = &v;
    if (!best) return "";
    return detail::format(
        "%td bytes past the end of shared `%s` (%zu bytes, declared at "
        "%s)",
        p - (best->begin + best->size),
        best->name,
        best->size,
        detail::place(best->file, best->line).c_str());
}

}  // namespace
}  // namespace simt::asan

extern "C" {

/// Called by AddressSanitizer before it reports: adds what only the simulator knows.
void __asan_on_error() {
    using namespace simt::detail;
    Worker* w = worker;
    if (!w || !w->thread) return;
    w->in_runtime = true;  // a report takes long: nobody may interrupt it
    const auto* p = static_cast<const char*>(__asan_get_report_address());
    std::string what = simt::asan::describe_shared(*w->block, p);
    if (what.empty()) what = describe_address(p);
    std::fprintf(stderr,
                 "==SIMT== kernel %s launched at %s, block %s thread %s%s%s\n",
                 w->launch->body->name,
                 place(w->launch->config->file, w->launch->config->line).c_str(),
                 triple(w->block->index).c_str(),
                 triple(w->thread->index).c_str(),
                 what.empty() ? "" : ": ",
                 what.c_str());
}

const char* __asan_default_options() {
    // Stacks of fibers are ordinary memory; the simulator reports crashes itself.
    return "detect_leaks=0:detect_stack_use_after_return=0:"
           "allow_user_segv_handler=1:use_sigaltstack=0";
}
}
