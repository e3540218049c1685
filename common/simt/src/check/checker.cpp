#include "checker.h"

#include <unistd.h>

#include <cstdlib>

#include "../memory.h"
#include "../observer.h"
#include "../options.h"
#include "access.h"
#include "count/count.h"
#include "count/output.h"
#include "findings.h"
#include "sites.h"

extern "C" char __executable_start, _end;  // of the program, from the linker

namespace simt::check {

using detail::Block;
using detail::Launch;
using detail::WarpOp;
using detail::Worker;
using detail::worker;

bool counting = false;

namespace {

/// Set while the checker itself works, some of which is in instrumented headers.
thread_local bool busy = false;

class Checker : public detail::Observer {
 public:
    void launch_begins(const Launch& launch) override {
        if (counting) count_launch_begins(launch);
    }
    void launch_ends(const Launch&) override {
        if (counting) count_launch_ends();
    }
    void block_begins(Worker&, Block& block) override {
        if (counting) count_block_begins(block);
    }
    void block_ends(Worker&, Block& block) override {
        if (counting) count_block_ends(block);
    }
    void block_synchronised(
        Worker&, Block& block, const char* op, const char* file, int line) override {
        if (counting) count_block_synchronised(block, op, file, line);
    }
    void warp_synchronised(Worker&,
                           Block& block,
                           unsigned warp,
                           uint32_t present,
                           WarpOp op,
                           const char* file,
                           int line) override {
        if (counting) count_warp_synchronised(block, warp, present, op, file, line);
    }
    void copy_issued(const void* to,
                     const void* from,
                     int bytes,
                     int src_bytes) override {
        if (counting) count_copy(to, from, bytes, src_bytes, *worker);
    }
};

Checker& checker() {
    static Checker* const instance = new Checker;
    return *instance;
}

/// The last thing a program does. Its exit status tells of findings.
void finish() {
    write_output();
    if (const int status = conclude_findings()) _exit(status);
}

/// The checker watches from the program's start: allocations may come before main.
[[gnu::constructor(101)]] void start() {
    const char* count = std::getenv("SIMT_CHECK_COUNT");
    counting = !count || *count != '0';
    detail::options().workers = 1;  // its state is not shared among OS threads
    detail::observer = &checker();
    std::atexit(finish);  // first registered, thus last called
}

}  // namespace

void access(char* address,
            size_t bytes,
            bool write,
            bool atomic,
            bool structure,
            uintptr_t pc,
            void* const* frame) {
    Worker* w = worker;
    if (busy || !w || !w->thread || w->in_runtime) return;
    const detail::Fiber& fiber = *w->fiber;
    if (address >= fiber.low && address < fiber.low + fiber.size) return;
    busy = true;
    const uint32_t number = site_of(pc,
                                    static_cast<void* const*>(frame[0]),
                                    static_cast<uint16_t>(bytes),
                                    write,
                                    atomic);
    const detail::SharedArena& arena = w->block->shared;
    Space space = Space::global;
    if (address >= arena.begin && address < arena.end)
        space = Space::shared;
    else if (address >= &__executable_start && address < &_end)
        space = Space::constant;
    const Access a{address,
                   static_cast<uint32_t>(bytes),
                   write,
                   atomic,
                   space,
                   number,
                   structure,
                   pc,
                   static_cast<const char*>(frame[0])};
    check_safety(a, *w);
    if (counting) count_access(a, *w);
    busy = false;
    if (counting) count_pause(*w);
}

void enter_basic_block(uintptr_t pc, void* const* frame) {
    Worker* w = worker;
    if (!counting || busy || !w || !w->thread || w->in_runtime) return;
    busy = true;
    count_basic_block(pc, static_cast<const char*>(frame[0]), *w);
    busy = false;
    count_pause(*w);
}

}  // namespace simt::check
