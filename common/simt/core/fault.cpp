#include "fault.h"

#include <unwind.h>

#include <dlfcn.h>
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "cluster.h"
#include "error.h"
#include "finding.h"
#include "observer.h"
#include "options.h"
#include "simt/fault.h"
#include "simt/last_fault.h"
#include "symbolize.h"

namespace simt {
namespace {

constexpr size_t kFrames = 48;
constexpr int kWarningsPerPlace = 1;

std::mutex g_mutex;  // guards what follows, and keeps reports in one piece
std::string g_last_report;
std::map<std::string, int> g_warnings;

void print(const std::string& text) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", text.c_str());
    std::fflush(stderr);
}

}  // namespace

std::string last_fault() {
    const std::lock_guard lock(g_mutex);
    return g_last_report;
}

void clear_last_fault() {
    const std::lock_guard lock(g_mutex);
    g_last_report.clear();
}

namespace detail {
namespace {

std::string vformat(const char* format, va_list args) {
    char buffer[2048];
    std::vsnprintf(buffer, sizeof buffer, format, args);
    return buffer;
}

std::string launch_place(const Config& config, const char* name) {
    return format(
        "kernel %s launched at %s", name, place(config.file, config.line).c_str());
}

struct Frames {
    void* pc[kFrames];
    size_t size;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* data) {
    auto& frames = *static_cast<Frames*>(data);
    int before = 0;
    const auto pc = _Unwind_GetIPInfo(context, &before);
    if (pc == 0 || frames.size == kFrames) return _URC_END_OF_STACK;
    frames.pc[frames.size++] = reinterpret_cast<void*>(before ? pc : pc - 1);
    return _URC_NO_REASON;
}

}  // namespace

std::vector<void*> capture_frames() {
    Frames frames{{}, 0};
    _Unwind_Backtrace(add_frame, &frames);
    return std::vector<void*>(frames.pc, frames.pc + frames.size);
}

std::string format(const char* format, ...) {
    va_list args;
    va_start(args, format);
    std::string text = vformat(format, args);
    va_end(args);
    return text;
}

std::string place(const char* file, int line) {
    if (!file) return "?";
    const char* slash = std::strrchr(file, '/');
    return format("%s:%d", slash ? slash + 1 : file, line);
}

std::string triple(uint3 v) {
    return format("(%u,%u,%u)", v.x, v.y, v.z);
}

std::unique_ptr<PendingFault> make_fault(Worker& w,
                                         int code,
                                         const char* file,
                                         int line,
                                         std::string text,
                                         FindingKind kind) {
    auto fault = std::make_unique<PendingFault>();
    fault->code = code;
    fault->text = std::move(text);
    fault->block = w.block;
    fault->thread = w.thread;
    fault->kind = kind;
    fault->file = file;
    fault->line = line;
    if (file)
        fault->place = place(file, line);
    else
        fault->frames = capture_frames();
    return fault;
}

std::unique_ptr<PendingFault> make_time_out(Worker& w) {
    auto fault = make_fault(
        w,
        cudaErrorLaunchTimeout,
        nullptr,
        0,
        format(
            "nothing has moved for %g seconds (SIMT_TIME_LIMIT): an endless loop, or "
            "a wait for ever?\n    %s\n    This thread was here when the launch was "
            "stopped.",
            options().time_limit,
            options().live_streams
                ? "Kernels run one at a time, also with SIMT_STREAMS=live: one that "
                  "waits for a later one does not end."
                : "The host goes on when a launch has ended. A kernel that waits for "
                  "what the host does after\n    the launch needs SIMT_STREAMS=live, "
                  "which runs it beside the host."),
        FindingKind::hang);
    return fault;
}

std::unique_ptr<PendingFault> make_no_room(Worker& w) {
    const Launch& l = *w.launch;
    const uint64_t begun = l.next_block;
    return make_fault(
        w,
        cudaErrorLaunchTimeout,
        nullptr,
        0,
        format(
            "all blocks that have begun wait in loops, and no other can begin: there "
            "is room for\n    %u at a time (SIMT_RESIDENT_BLOCKS), and %llu of %llu "
            "have not begun. A GPU hangs here, too:\n    it begins blocks in any "
            "order, and one that has begun keeps its place until it ends.\n    A block "
            "may wait only for blocks that have begun: number them as they do so, "
            "with\n    atomicAdd, not by blockIdx. This thread is one of those that "
            "wait.",
            l.resident,
            static_cast<unsigned long long>(l.num_blocks - begun),
            static_cast<unsigned long long>(l.num_blocks)),
        FindingKind::hang);
}

namespace {

/// How a fault is usually fixed; "" where its own words say so.
const char* advice(FindingKind kind) {
    return kind == FindingKind::use_after_free
               ? "free the memory after the last kernel that uses it; if that one is "
                 "in another stream, let the one that frees wait for an event behind it"
               : "";
}

/// The words of a finding that are printed before the fault's own: who was where. They
/// come behind it, as in a report of the checker's.
///
/// @param at  "file.cu:7", or empty
std::string text_of(const Launch& launch,
                    const PendingFault& fault,
                    const std::string& at) {
    std::string text = fault.text;
    const bool names_place = !at.empty() && text.find(at) != text.npos;
    if (fault.block && fault.thread && !at.empty() && !names_place)
        text += format("\n    block %s thread %s is at %s",
                       triple(fault.block->index).c_str(),
                       triple(fault.thread->index).c_str(),
                       at.c_str());
    const std::string fix = advice(fault.kind);
    if (!fix.empty()) text += "\n    Usual fix: " + fix + ".";
    const std::string lesson = lesson_of(fault.kind, "");
    if (!lesson.empty()) text += "\n    Explained in " + lesson + ".";
    const Config& config = *launch.config;
    return text + format("\n    Kernel %s, launched at %s.",
                         launch.body->name,
                         place(config.file, config.line).c_str());
}

/// @param at  "dir/file.cu:7", where the fault has no better place
Finding finding_of(const Launch& launch,
                   const PendingFault& fault,
                   const std::string& at) {
    Finding finding;
    finding.kind = fault.kind;
    finding.kernel = launch.body->name;
    finding.advice = advice(fault.kind);
    finding.lesson = lesson_of(fault.kind, "");
    finding.text = text_of(launch, fault, at.substr(at.rfind('/') + 1));
    FindingPlace place{"access", fault.file ? fault.file : "", fault.line};
    if (!fault.file) {
        const size_t colon = at.rfind(':');
        place.file = at.substr(0, colon);
        if (colon != at.npos) place.line = std::atoi(at.c_str() + colon + 1);
    }
    if (fault.block && fault.thread) {
        const uint3 b = fault.block->index, t = fault.thread->index;
        place.has_thread = true;
        place.block[0] = b.x, place.block[1] = b.y, place.block[2] = b.z;
        place.thread[0] = t.x, place.thread[1] = t.y, place.thread[2] = t.z;
    }
    if (fault.kind == FindingKind::divergent_barrier) place.role = "barrier";
    if (!place.file.empty()) finding.places.push_back(place);
    finding.places.push_back({"launch", launch.config->file, launch.config->line});
    return finding;
}

}  // namespace

void report(const Launch& launch, const PendingFault& fault) {
    std::string at = fault.place;
    if (at.empty() && !fault.frames.empty()) at = user_place(fault.frames);
    const std::string path = at;
    at.erase(0, at.rfind('/') + 1);  // the last component, if there are more
    std::string text = "==SIMT== " + launch_place(*launch.config, launch.body->name);
    if (fault.block) text += ", block " + triple(fault.block->index);
    if (fault.thread) text += " thread " + triple(fault.thread->index);
    if (!at.empty()) text += ", at " + at;
    text += ": " + fault.text;
    set_sticky_error(static_cast<cudaError_t>(fault.code));
    const std::lock_guard lock(g_mutex);
    g_last_report = text;
    if (observer && observer->faulted(launch, fault)) return;
    print(text);
    tell(finding_of(launch, fault, path));
}

void warn(const Launch& launch, const char* file, int line, const std::string& text) {
    const std::string at = place(file, line);
    const std::lock_guard lock(g_mutex);
    if (g_warnings[at]++ >= kWarningsPerPlace) return;
    print("==SIMT== warning: " + launch_place(*launch.config, launch.body->name) +
          ", at " + at + ": " + text);
}

void refuse(int code, const Config& config, const char* name, const std::string& text) {
    set_error(static_cast<cudaError_t>(code));
    const std::lock_guard lock(g_mutex);
    const std::string sentence = launch_place(config, name) + " is refused: " + text;
    g_last_report = "==SIMT== " + sentence;
    print(g_last_report);
    Finding finding;
    finding.kind = FindingKind::refused_launch;
    finding.kernel = name;
    finding.places = {{"launch", config.file, config.line}};
    finding.lesson = lesson_of(finding.kind, "");
    finding.text = sentence;
    tell(finding);
}

namespace {

[[noreturn]] void end_launch(
    int code, const char* file, int line, std::string text, FindingKind kind) {
    if (in_kernel()) {
        worker->in_runtime = true;
        worker->abandon(make_fault(*worker, code, file, line, std::move(text), kind));
    }
    print("==SIMT== " + place(file, line) + ": " + text);
    std::exit(86);
}

}  // namespace

void fault(int code, const char* file, int line, const char* format, ...) {
    va_list args;
    va_start(args, format);
    std::string text = vformat(format, args);
    va_end(args);
    end_launch(code, file, line, std::move(text), FindingKind::fault);
}

void assert_failed(const char* expression,
                   const char* file,
                   int line,
                   const char* function) {
    if (in_kernel()) {
        // CUDA's own line, which programs and people know.
        const uint3 b = blockIdx;
        const uint3 t = threadIdx;
        print(
            format("%s:%d: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` "
                   "failed.",
                   file,
                   line,
                   function ? function : "?",
                   b.x,
                   b.y,
                   b.z,
                   t.x,
                   t.y,
                   t.z,
                   expression));
    }
    end_launch(
        cudaErrorAssert,
        file,
        line,
        format("%s: assertion `%s` failed", function ? function : "?", expression),
        FindingKind::assertion);
}

void trap(const char* file, int line) {
    fault(cudaErrorLaunchFailure, file, line, "the kernel called __trap()");
}

// ---- Deadlocks ------------------------------------------------------------------

namespace {

bool same_wait(const Thread& a, const Thread& b) {
    if (a.state != b.state) return false;
    if (a.state == State::done) return true;
    return a.line == b.line && a.op == b.op &&
           (a.state != State::in_warp_op || a.mask == b.mask);
}

/// "0-31,64-95", not longer than a line.
std::string ranks_of_group(const Block& b, unsigned first, std::vector<bool>& seen) {
    std::string who;
    for (unsigned i = first; i < b.size; ++i) {
        if (!same_wait(b.threads[i], b.threads[first])) continue;
        const unsigned begin = i;
        while (i < b.size && same_wait(b.threads[i], b.threads[first]))
            seen[i++] = true;
        if (who.size() > 48) continue;
        who += who.empty() ? "" : ",";
        who += i - begin == 1 ? format("%u", begin) : format("%u-%u", begin, i - 1);
        if (who.size() > 48) who += ",...";
    }
    return who;
}

unsigned count_group(const Block& b, const Thread& like) {
    return static_cast<unsigned>(std::count_if(
        b.threads.begin(), b.threads.begin() + b.size, [&](const Thread& t) {
            return same_wait(t, like);
        }));
}

std::string describe_group(const Block& b, unsigned first, std::vector<bool>& seen) {
    const Thread& t = b.threads[first];
    const unsigned count = count_group(b, t);
    const std::string who = ranks_of_group(b, first, seen);
    if (t.state == State::done)
        return format("\n    %4u threads have returned: %s", count, who.c_str());
    const std::string mask =
        t.state == State::in_warp_op ? format("mask 0x%08x", t.mask) : "";
    return format("\n    %4u threads wait in %s(%s) at %s: %s",
                  count,
                  t.op,
                  mask.c_str(),
                  place(t.file, t.line).c_str(),
                  who.c_str());
}

/// True if some lanes of one warp wait for each other in different operations.
bool is_warp_divergence(const Block& b) {
    return std::any_of(b.threads.begin(), b.threads.begin() + b.size, [](auto& t) {
        return t.state == State::in_warp_op;
    });
}

/// Who waits where in the block, with what the threads wait for.
Waits describe_block(const Block& b, std::string& text) {
    std::vector<bool> seen(b.size);
    for (unsigned i = 0; i < b.size; ++i)
        if (!seen[i]) text += describe_group(b, i, seen);
    Waits waits = b.extension ? b.extension->waits() : Waits{};
    text += waits.text;
    return waits;
}

/// The first block that has not ended: others of its cluster may have.
const Block& first_running(const Worker& w) {
    for (const Block* b : w.resident())
        if (b->alive != 0) return *b;
    return *w.resident().front();
}

}  // namespace

void report_deadlock(Worker& w) {
    const Block& b = first_running(w);
    std::string text = b.cluster ? "deadlock: no thread of the cluster can go on."
                                 : "deadlock: no thread of the block can go on.";
    const Thread* waiting = nullptr;
    for (unsigned i = 0; i < b.size && !waiting; ++i)
        if (b.threads[i].state != State::done) waiting = &b.threads[i];
    Waits waits = describe_block(b, text);
    for (const Block* other : b.cluster ? b.cluster->blocks : std::vector<Block*>()) {
        if (other == &b) continue;
        text += "\n  block " + triple(other->index) + " of the cluster:";
        const Waits more = describe_block(*other, text);
        if (waits.text.empty()) waits = more;
    }
    text += is_warp_divergence(b)
                ? "\n    Every lane named in a mask must execute the same operation "
                  "with the same mask."
            : waits.text.empty() ? "\n    Every thread must reach the same barrier."
                                 : waits.advice;
    text += " A GPU would hang here, or go on with wrong data.";
    auto fault = make_fault(w,
                            cudaErrorLaunchTimeout,
                            waiting ? waiting->file : nullptr,
                            waiting ? waiting->line : 0,
                            text,
                            is_warp_divergence(b) ? FindingKind::missing_lanes
                            : waits.text.empty()  ? FindingKind::divergent_barrier
                                                  : FindingKind::deadlock);
    fault->block = const_cast<Block*>(&b);
    fault->thread = const_cast<Thread*>(waiting);
    w.abandon(std::move(fault));
}

}  // namespace detail
}  // namespace simt

/// The C library's assert() calls this. In a kernel a failed assertion ends the launch,
/// as on a GPU; in host code it ends the program, as ever.
extern "C" [[noreturn]] void __assert_fail(const char* expression,
                                           const char* file,
                                           unsigned int line,
                                           const char* function) noexcept {
    if (simt::detail::in_kernel())
        simt::detail::assert_failed(expression, file, static_cast<int>(line), function);
    using Function = void (*)(const char*, const char*, unsigned, const char*);
    const auto original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "__assert_fail"));
    if (original) original(expression, file, line, function);
    std::abort();
}
