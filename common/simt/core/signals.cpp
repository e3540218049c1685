#include "signals.h"

#include <link.h>
#include <signal.h>
#include <ucontext.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "devices.h"
#include "fault.h"
#include "memory.h"
#include "write_watch.h"

namespace simt::detail {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
// Its default action is to ignore it, and nearly nobody uses it.
constexpr int kInterrupt = SIGURG;
constexpr double kRecent = 5e-6;  // seconds
constexpr size_t kStackBytes = 64 * 1024;
// A thread that is in a library function may hold its locks: try again so many times.
constexpr int kPatience = 50;

struct sigaction g_previous[64];
uintptr_t g_code_begin = 0, g_code_end = 0;  // the program's own machine code

void* program_counter(const ucontext_t* context) {
#if defined(__x86_64__)
    return reinterpret_cast<void*>(context->uc_mcontext.gregs[REG_RIP]);
#else
    return reinterpret_cast<void*>(context->uc_mcontext.pc);
#endif
}

/// The frames from the interrupted instruction on.
std::vector<void*> frames_from(void* pc) {
    std::vector<void*> frames = capture_frames();
    for (size_t i = 0; i < frames.size(); ++i)
        if (frames[i] == pc)
            return {frames.begin() + static_cast<long>(i), frames.end()};
    return {pc};
}

/// @param kind  changed where the address tells more
std::string describe_segv(const Worker& w, const siginfo_t& info, FindingKind* kind) {
    const void* address = info.si_addr;
    if (w.fiber && FiberPool::is_guard(*w.fiber, address))
        return format(
            "stack overflow: the thread's local variables and calls need more "
            "than %zu KiB.\n    A GPU may grant more: set SIMT_STACK_KB.",
            w.fiber->size / 1024);
#if defined(__x86_64__)
    if (info.si_code == SI_KERNEL)
        return "access through a wild pointer, or a misaligned vector access (float4 "
               "needs "
               "addresses that are multiples of 16)";
#endif
    const bool no_dynamic = w.block && w.block->shared.dynamic_missing;
    // An index may reach as far as a block's shared memory does.
    const uintptr_t null_pages = no_dynamic ? 256 * 1024 : 65536;
    if (reinterpret_cast<uintptr_t>(address) < null_pages)
        return format("access through a null pointer (address %p)%s",
                      address,
                      no_dynamic
                          ? ".\n    The launch asks for no dynamic shared memory, "
                            "which an extern __shared__ array of this\n    kernel "
                            "needs: its bytes are the third argument of <<<...>>>"
                          : "");
    bool freed = false;
    const std::string what = describe_address(address, &freed);
    if (freed) *kind = FindingKind::use_after_free;
    if (is_hidden(address)) *kind = FindingKind::fault;
    if (!what.empty()) return format("illegal access, %s", what.c_str());
    return format(
        "illegal access to address %p, which belongs to no allocation.\n"
        "    An index far out of range, or an uninitialised pointer?",
        address);
}

std::unique_ptr<PendingFault> describe(Worker& w,
                                       int sig,
                                       const siginfo_t& info,
                                       void* pc) {
    auto fault = std::make_unique<PendingFault>();
    fault->block = w.block;
    fault->thread = w.thread;
    fault->frames = frames_from(pc);
    fault->code = cudaErrorIllegalAddress;
    switch (sig) {
        case SIGSEGV:
            fault->kind = info.si_code == SI_KERNEL ? FindingKind::misaligned
                          : w.fiber && FiberPool::is_guard(*w.fiber, info.si_addr)
                              ? FindingKind::fault
                              : FindingKind::out_of_bounds;
            fault->text = describe_segv(w, info, &fault->kind);
            break;
        case SIGBUS:
            fault->code = info.si_code == BUS_ADRALN ? cudaErrorMisalignedAddress
                                                     : cudaErrorIllegalAddress;
            fault->text = info.si_code == BUS_ADRALN
                              ? "misaligned access"
                              : "the system has no memory behind this address";
            if (info.si_code == BUS_ADRALN) fault->kind = FindingKind::misaligned;
            break;
        case SIGFPE:
            fault->code = cudaErrorLaunchFailure;
            fault->text =
                "integer division by zero (or overflow in a division). A GPU "
                "goes on with a meaningless result.";
            break;
        default:
            fault->code = cudaErrorIllegalInstruction;
            fault->text =
                "illegal instruction: __builtin_trap(), or the end of a function "
                "that should return a value";
    }
    return fault;
}

bool is_of_a_watch(Worker* w, const void* address, void* pc) {
    if (!w || !w->thread) return note_watched_write(address, pc);
    const bool was_in_runtime = w->in_runtime;
    w->in_runtime = true;  // no other thread runs before the note is complete
    const bool is_noted = note_watched_write(address, pc);
    w->in_runtime = was_in_runtime;
    return is_noted;
}

void on_exception(int sig, siginfo_t* info, void* context) {
    Worker* w = worker;
    auto* pc = program_counter(static_cast<ucontext_t*>(context));
    if (sig == SIGSEGV && is_of_a_watch(w, info->si_addr, pc)) return;
    if (!w || !w->thread) {
        if (sig == SIGSEGV && wait_for_hidden(info->si_addr)) return;
        // Not ours: let the previous handler have it when the instruction is repeated.
        sigaction(sig, &g_previous[sig], nullptr);
        return;
    }
    static thread_local bool nested = false;
    w->in_runtime = true;
    if (nested) {  // the report itself failed: the stack or the heap is broken
        nested = false;
        w->abandon(nullptr);
    }
    nested = true;
    auto fault = describe(*w, sig, *info, pc);
    nested = false;
    w->abandon(std::move(fault));
}

bool in_program(void* pc) {
    const auto p = reinterpret_cast<uintptr_t>(pc);
    return p >= g_code_begin && p < g_code_end;
}

void on_interrupt(int, siginfo_t*, void* context) {
    Worker* w = worker;
    if (!w || !w->thread || w->in_runtime) return;  // the scheduler looks by itself
    const int saved_errno = errno;
    void* pc = program_counter(static_cast<ucontext_t*>(context));
    static thread_local int patience = 0;
    const int request = w->requested;
    if (request == kPreempt && in_program(pc)) {
        w->requested = kNone;
        w->in_runtime = true;
        w->preempt();
        w->in_runtime = false;
    } else if (request >= kTimeOut && (in_program(pc) || ++patience > kPatience)) {
        patience = 0;
        w->in_runtime = true;
        if (request == kLeave) w->abandon(nullptr);
        auto fault = make_time_out(*w);
        fault->frames = frames_from(pc);
        w->abandon(std::move(fault));
    }
    errno = saved_errno;
}

/// The alternative stack of an OS thread; needed when a fiber's own has overflowed.
struct AlternateStack {
    std::unique_ptr<char[]> memory;
    ~AlternateStack() {
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        sigaltstack(&none, nullptr);
    }
};

void ensure_stack() {
    stack_t current;
    if (sigaltstack(nullptr, &current) == 0 && !(current.ss_flags & SS_DISABLE)) return;
    static thread_local AlternateStack stack;
    if (!stack.memory) stack.memory = std::make_unique<char[]>(kStackBytes);
    stack_t mine{};
    mine.ss_sp = stack.memory.get();
    mine.ss_size = kStackBytes;
    sigaltstack(&mine, nullptr);
}

void find_program() {
    if (g_code_end) return;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void*) {
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& p = info->dlpi_phdr[i];
                if (p.p_type != PT_LOAD || !(p.p_flags & PF_X)) continue;
                g_code_begin = info->dlpi_addr + p.p_vaddr;
                g_code_end = g_code_begin + p.p_memsz;
            }
            return 1;  // the program comes first
        },
        nullptr);
    // The unwinder loads what it needs at its first use: not inside a handler.
    capture_frames();
}

}  // namespace

void ensure_signal_handlers(double time) {
    static thread_local double last = 0;
    const bool recent = time - last < kRecent;
    last = time;
    if (recent) return;
    static thread_local bool has_stack = false;
    if (!has_stack) ensure_stack();
    has_stack = true;
    struct sigaction current;
    sigaction(SIGSEGV, nullptr, &current);
    if ((current.sa_flags & SA_SIGINFO) && current.sa_sigaction == on_exception) return;
    // Whoever replaces the handlers may replace the stack, and only then.
    ensure_stack();
    find_program();
    struct sigaction mine {};
    // No signal is blocked while a handler runs, because handlers end in a switch to
    // another stack instead of returning.
    mine.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    mine.sa_sigaction = on_exception;
    for (int sig : kSignals) {
        struct sigaction previous;
        sigaction(sig, &mine, &previous);
        if (!(previous.sa_flags & SA_SIGINFO) || previous.sa_sigaction != on_exception)
            g_previous[sig] = previous;
    }
    mine.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
    mine.sa_sigaction = on_interrupt;
    sigaction(kInterrupt, &mine, nullptr);
    explain_aborts();
}

void interrupt(pthread_t os_thread) {
    pthread_kill(os_thread, kInterrupt);
}

}  // namespace simt::detail
