// ThreadSanitizer's view of a kernel (simt-c++ --tsan): each CUDA thread of a block is
// one of its threads, and what orders CUDA threads is told to it as release and
// acquire.
//
// ThreadSanitizer calls a context in which code may run a fiber; here there is one for
// each rank of a resident block, used again by the next block, so that races within a
// block are found and those between blocks are not. Three things decide whether races
// are found at all:
// * No switch of contexts may order anything: kNoSync.
// * A barrier is a release by all before an acquire by any.
// * Newer runtimes (LLVM 14 and later) give 255 contexts at a time a slot. One that has
//   lost its slot gets a new one in an acquire, but only a release makes it known. So
//   each acquire is followed by a release of something that nobody acquires.
//
// Source: compiler-rt/include/sanitizer/tsan_interface.h (the interface) and
// lib/tsan/rtl (the slots).

#include <sanitizer/tsan_interface.h>

#include <cstdio>
#include <unordered_map>
#include <vector>

#include "core/cluster.h"
#include "core/fault.h"
#include "core/observer.h"
#include "core/options.h"

extern "C" {
// The annotations, and the hooks for whole ranges, are in no header.
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
void __tsan_read_range(const void* address, unsigned long bytes);
void __tsan_write_range(const void* address, unsigned long bytes);
}

namespace simt::tsan {
namespace {

using detail::Block;
using detail::Cluster;
using detail::Fiber;
using detail::Launch;
using detail::Thread;
using detail::WarpOp;
using detail::Worker;
using detail::worker;

constexpr unsigned kNoSync = __tsan_switch_to_fiber_no_sync;

/// A CUDA thread as ThreadSanitizer knows it.
struct Context {
    void* fiber = nullptr;
    bool ignoring = false;  // the simulator works on its behalf
};

using Contexts = std::vector<Context>;

class ThreadObserver : public detail::Observer {
 public:
    ThreadObserver() { own_.fiber = __tsan_get_current_fiber(); }

    void launch_begins(const Launch&) override { release(&launch_); }
    void launch_ends(const Launch&) override {
        go_to(own_);
        acquire(&launch_);
    }
    void block_begins(Worker&, Block& block) override {
        Contexts& contexts = contexts_of(block);
        for_all(contexts, block.size, [this] { acquire(&launch_); });
    }
    void block_ends(Worker&, Block& block) override {
        for_all(contexts_of(block), block.size, [this] { release(&launch_); });
    }
    void block_synchronised(
        Worker&, Block& block, const char*, const char*, int) override {
        Contexts& contexts = contexts_of(block);
        for_all(contexts, block.size, [&] { release(&block); });
        for_all(contexts, block.size, [&] { acquire(&block); });
    }
    void cluster_synchronised(Worker&, Cluster& cluster) override {
        for (Block* block : cluster.blocks)
            for_all(contexts_of(*block), block->size, [&] { release(&cluster); });
        for (Block* block : cluster.blocks)
            for_all(contexts_of(*block), block->size, [&] { acquire(&cluster); });
    }
    void cluster_arrives(Worker&, const Thread& thread) override {
        Cluster& cluster = *thread.block->cluster;
        in_context(contexts_of(*thread.block)[thread.rank],
                   [&] { release(phase_of(cluster, cluster.phase)); });
    }
    void cluster_passes(Worker&, const Thread& thread) override {
        Cluster& cluster = *thread.block->cluster;
        const uint32_t phase = cluster.member(*thread.block, thread.rank).phase;
        in_context(contexts_of(*thread.block)[thread.rank],
                   [&] { acquire(phase_of(cluster, phase)); });
    }
    void grid_synchronised(Worker& w, Launch&) override {
        for (Block* block : w.resident())
            for_all(contexts_of(*block), block->size, [this] { release(&launch_); });
        for (Block* block : w.resident())
            for_all(contexts_of(*block), block->size, [this] { acquire(&launch_); });
    }
    void warp_synchronised(Worker&,
                           Block& block,
                           unsigned warp,
                           uint32_t present,
                           WarpOp op,
                           const char*,
                           int) override {
        if (op != WarpOp::sync) return;
        Contexts& contexts = contexts_of(block);
        const auto for_lanes = [&](auto f) {
            for (uint32_t rest = present; rest != 0; rest &= rest - 1) {
                const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
                in_context(contexts[warp * 32 + lane], f);
            }
        };
        for_lanes([&] { release(&block.warps[warp]); });
        for_lanes([&] { acquire(&block.warps[warp]); });
    }
    void fenced() override {
        // ThreadSanitizer knows no fences: each orders itself with all before it.
        acquire(&fence_);
        release(&fence_);
    }

    void block_fenced() override { fenced(); }

    void runs(const Thread& thread) override {
        go_to(contexts_of(*thread.block)[thread.rank]);
    }
    // What a thread leaves on its stack would race with its successor there.
    bool wants_own_stacks() const override { return true; }
    void leaves_stack(const Fiber* to) override {
        if (!to) go_to(own_);
    }
    void in_runtime(bool inside) override { ignore(*now_, inside); }

    void copy_issued(const void*, const void* from, int, int src_bytes) override {
        if (src_bytes != 0)
            attribute([=] { __tsan_read_range(from, static_cast<size_t>(src_bytes)); });
    }
    void copy_landed(const void* to, int bytes) override {
        attribute([=] { __tsan_write_range(to, static_cast<size_t>(bytes)); });
    }

 private:
    Contexts& contexts_of(const Block& block) {
        if (&block == last_block_ && last_->size() >= block.size) return *last_;
        Contexts& contexts = contexts_[&block];
        while (contexts.size() < block.size) {
            contexts.emplace_back();
            contexts.back().fiber = __tsan_create_fiber(0);
            const auto name = "CUDA thread " + std::to_string(contexts.size() - 1);
            __tsan_set_fiber_name(contexts.back().fiber, name.c_str());
        }
        last_block_ = &block;
        last_ = &contexts;
        return contexts;
    }

    void go_to(Context& context) {
        if (now_ == &context || now_->fiber == context.fiber) return;
        now_ = &context;
        __tsan_switch_to_fiber(context.fiber, kNoSync);
    }

    template <class F>
    void in_context(Context& context, F f) {
        Context* const before = now_;
        go_to(context);
        f();
        go_to(*before);
    }
    template <class F>
    void for_all(Contexts& contexts, unsigned count, F f) {
        Context* const before = now_;
        for (unsigned i = 0; i < count; ++i) {
            go_to(contexts[i]);
            f();
        }
        go_to(*before);
    }

    /// What orders the halves of a phase: two alternate.
    static void* phase_of(Cluster& cluster, uint32_t phase) {
        return reinterpret_cast<char*>(&cluster.arrived) + (phase & 1);
    }

    void release(void* object) { __tsan_release(object); }
    void acquire(void* object) {
        __tsan_acquire(object);
        __tsan_release(&nobody_);
    }

    /// The simulator's own accesses, those of the C library's functions included, and
    /// its memory management are not the kernel's.
    static void ignore(Context& context, bool inside) {
        if (context.ignoring == inside) return;
        context.ignoring = inside;
        if (inside) {
            AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
            AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
        } else {
            AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
            AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
        }
    }
    /// Accesses that the simulator makes for the kernel.
    template <class F>
    void attribute(F access) {
        const bool inside = now_->ignoring;
        ignore(*now_, false);
        access();
        ignore(*now_, inside);
    }

    Context own_;  // of the host thread
    Context* now_ = &own_;
    // Contexts keep their addresses: they grow only while no thread of the block runs.
    std::unordered_map<const Block*, Contexts> contexts_;
    const Block* last_block_ = nullptr;
    Contexts* last_ = nullptr;
    char launch_ = 0, fence_ = 0, nobody_ = 0;
};

[[gnu::constructor(101)]] void start() {
    detail::options().workers = 1;
    detail::observer = new ThreadObserver;
    detail::RuntimeFlag::watched = true;
}

}  // namespace
}  // namespace simt::tsan

extern "C" {

/// Called by ThreadSanitizer before it reports: adds what only the simulator knows.
void __tsan_on_report(void*) {
    using namespace simt::detail;
    const Worker* w = worker;
    if (!w || !w->thread) return;
    std::fprintf(stderr,
                 "==SIMT== kernel %s launched at %s, block %s thread %s:\n",
                 w->launch->body->name,
                 place(w->launch->config->file, w->launch->config->line).c_str(),
                 triple(w->block->index).c_str(),
                 triple(w->thread->index).c_str());
}

const char* __tsan_default_options() {
    return "report_thread_leaks=0:report_signal_unsafe=0:exitcode=66";
}
}
