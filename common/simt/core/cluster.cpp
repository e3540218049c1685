// The cluster that a kernel runs in: its barrier, and the shared memory of its blocks.

#include "cluster.h"

#include "fault.h"
#include "observer.h"
#include "simt/cluster.h"
#include "simt/fault.h"
#include "simt/shared.h"
#include "simt/sync.h"

namespace simt::detail {
namespace {

/// The running block's cluster; null if the launch has none.
Cluster* own_cluster() {
    return in_kernel() ? worker->block->cluster.get() : nullptr;
}

[[noreturn]] void cluster_fault(Worker& w,
                                const char* file,
                                int line,
                                std::string text,
                                FindingKind kind = FindingKind::fault) {
    w.in_runtime = true;
    w.abandon(make_fault(w, cudaErrorLaunchFailure, file, line, std::move(text), kind));
}

/// The phase is over: whoever waits goes on.
void complete_phase(Worker& w, Cluster& c) {
    c.last_whole = c.whole == c.arrived;
    if (observer && c.last_whole) observer->cluster_synchronised(w, c);
    if (observer && !c.last_whole) {
        for (Block* b : c.blocks)
            for (unsigned t = 0; t < c.block_size; ++t)
                if (c.member(*b, t).at == Cluster::At::whole)
                    observer->cluster_arrives(w, b->threads[t]);
    }
    c.arrived = c.whole = 0;
    ++c.phase;
    for (Cluster::Arrivals& a : c.arrivals)
        a.count = 0;
    w.make_ready(c.waiting);
    w.note_progress();
}

/// Threads of one block should not meet their cluster in different branches.
void check_same_place(Worker& w,
                      const Cluster::Arrivals& at,
                      const char* op,
                      const char* file,
                      int line) {
    if (!w.launch->strict || at.count == 0 || (at.line == line && at.op == op)) return;
    auto fault = make_fault(
        w,
        cudaErrorLaunchFailure,
        file,
        line,
        format("cluster barrier divergence: this thread is at %s() here,\n    while %u "
               "other threads of its block wait in %s() at %s.\n    All threads of a "
               "block must reach the same barrier of the cluster: move it out of the "
               "branch.",
               op,
               at.count,
               at.op,
               place(at.file, at.line).c_str()),
        FindingKind::divergent_barrier);
    if (observer && observer->tolerated(*w.launch, *fault)) return;
    w.abandon(std::move(fault));
}

/// The same if some have returned, and the rest of their block has come.
void check_all_there(Worker& w, const Cluster& c) {
    if (!w.launch->strict) return;
    for (const Block* b : c.blocks) {
        const Cluster::Arrivals& at = c.arrivals[b->cluster_rank];
        if (at.count == 0 || b->alive == b->size) continue;
        auto fault = make_fault(
            w,
            cudaErrorLaunchFailure,
            at.file,
            at.line,
            format("cluster barrier divergence: %u of the %u threads of block %s have "
                   "ended, the others wait in %s() at %s.\n    Every thread of a "
                   "cluster must reach each of its barriers: neither a `return` before "
                   "it nor an `if`\n    around it may keep some of them from it.",
                   b->size - b->alive,
                   b->size,
                   triple(b->index).c_str(),
                   at.op,
                   place(at.file, at.line).c_str()),
            FindingKind::divergent_barrier);
        fault->block = const_cast<Block*>(b);
        fault->thread = nullptr;
        if (!observer || !observer->tolerated(*w.launch, *fault))
            w.abandon(std::move(fault));
    }
}

void arrive_at_cluster(Worker& w,
                       Cluster& c,
                       bool releases,
                       bool whole,
                       const char* op,
                       const char* file,
                       int line) {
    Block& b = *w.block;
    Cluster::Member& me = c.member(b, w.thread->rank);
    if (me.at != Cluster::At::none)
        cluster_fault(w,
                      file,
                      line,
                      format("%s() a second time, without a wait for the first arrival "
                             "(barrier.cluster.wait) in between",
                             op),
                      FindingKind::divergent_barrier);
    Cluster::Arrivals& at = c.arrivals[b.cluster_rank];
    if (whole) check_same_place(w, at, op, file, line);
    if (at.count++ == 0) at.op = op, at.file = file, at.line = line;
    me = {whole ? Cluster::At::whole : Cluster::At::arrived, c.phase};
    if (whole)
        ++c.whole;
    else if (releases && observer)
        observer->cluster_arrives(w, *w.thread);
    if (++c.arrived == c.alive) {
        check_all_there(w, c);
        complete_phase(w, c);
    }
}

void wait_for_cluster(
    Worker& w, Cluster& c, const char* op, const char* file, int line) {
    Thread* t = w.thread;
    Cluster::Member& me = c.member(*w.block, t->rank);
    if (me.at == Cluster::At::none)
        cluster_fault(w,
                      file,
                      line,
                      format("%s() without an arrival before it "
                             "(barrier.cluster.arrive)",
                             op),
                      FindingKind::divergent_barrier);
    if (me.phase == c.phase) {
        t->state = State::in_extension;
        t->op = op;
        t->file = file;
        t->line = line;
        c.waiting.push(t);
        w.suspend();
        w.in_runtime = true;
    }
    if (observer && !c.last_whole) observer->cluster_passes(w, *t);
    me.at = Cluster::At::none;
    me.passed = true;
}

/// The place of an address in its block: which variable, and how far into it.
struct SharedPlace {
    const SharedVariable* variable = nullptr;
    std::ptrdiff_t offset = 0;
};

SharedPlace shared_place_of(const Block& b, const char* address) {
    SharedPlace best;
    for (const SharedVariable& v : b.shared.variables)
        if (v.begin <= address && (!best.variable || v.begin > best.variable->begin))
            best = {&v, address - v.begin};
    return best;
}

}  // namespace

// ---- The cluster ----------------------------------------------------------------

Cluster::Cluster(const Launch& launch, uint64_t number)
    : dim(launch.cluster),
      grid(launch.config->grid),
      block_size(launch.block_size),
      running(launch.cluster_size),
      alive(launch.cluster_size * launch.block_size),
      members(alive),
      arrivals(launch.cluster_size) {
    const uint64_t x = grid.x / dim.x, y = grid.y / dim.y;
    index = {static_cast<unsigned>(number % x),
             static_cast<unsigned>(number / x % y),
             static_cast<unsigned>(number / x / y)};
}

uint3 Cluster::position(unsigned rank) const {
    return {rank % dim.x, rank / dim.x % dim.y, rank / dim.x / dim.y};
}

uint64_t Cluster::linear_of(unsigned rank) const {
    const uint3 p = position(rank);
    const uint64_t x = uint64_t{index.x} * dim.x + p.x;
    const uint64_t y = uint64_t{index.y} * dim.y + p.y;
    const uint64_t z = uint64_t{index.z} * dim.z + p.z;
    return (z * grid.y + y) * grid.x + x;
}

Block* Cluster::owner_of(const void* address) const {
    const auto* p = static_cast<const char*>(address);
    for (Block* b : blocks)
        if (p >= b->shared.begin && p < b->shared.end) return b;
    return nullptr;
}

void cluster_thread_ends(Worker& w, Block& b, unsigned thread) {
    Cluster& c = *b.cluster;
    --c.alive;
    Cluster::Member& me = c.member(b, thread);
    if (me.at == Cluster::At::arrived && me.phase == c.phase) {
        --c.arrived;
        --c.arrivals[b.cluster_rank].count;
    }
    if (c.arrived == 0 || c.arrived != c.alive) return;
    check_all_there(w, c);
    complete_phase(w, c);
}

// ---- What kernels call ----------------------------------------------------------

dim3 cluster_dim() {
    const Cluster* c = own_cluster();
    return c ? c->dim : dim3(1);
}

uint3 cluster_block_index() {
    const Cluster* c = own_cluster();
    return c ? c->position(worker->block->cluster_rank) : uint3{0, 0, 0};
}

unsigned cluster_block_rank() {
    return own_cluster() ? worker->block->cluster_rank : 0;
}

uint3 cluster_index() {
    const Cluster* c = own_cluster();
    return c ? c->index : uint3(blockIdx);
}

bool cluster_is_given() {
    if (!in_kernel()) return false;
    const Launch& l = *worker->launch;
    return l.config->cluster.x != 0 || required_cluster(l.body->address).x != 0;
}

void cluster_barrier(const char* op, const char* file, int line) {
    Worker& w = kernel_worker(op, file, line);
    Cluster* c = w.block->cluster.get();
    if (!c) {
        block_barrier(0, op, file, line);
        return;
    }
    w.in_runtime = true;
    arrive_at_cluster(w, *c, true, true, op, file, line);
    wait_for_cluster(w, *c, op, file, line);
    w.in_runtime = false;
}

void cluster_arrive(bool releases, const char* op, const char* file, int line) {
    Worker& w = kernel_worker(op, file, line);
    Cluster* c = w.block->cluster.get();
    if (!c) return;  // of one block: the wait is its barrier
    w.in_runtime = true;
    arrive_at_cluster(w, *c, releases, false, op, file, line);
    w.in_runtime = false;
}

void cluster_wait(const char* op, const char* file, int line) {
    Worker& w = kernel_worker(op, file, line);
    Cluster* c = w.block->cluster.get();
    if (!c) {
        block_barrier(0, op, file, line);
        return;
    }
    w.in_runtime = true;
    wait_for_cluster(w, *c, op, file, line);
    w.in_runtime = false;
}

void* map_shared(const void* address, unsigned rank, const char* file, int line) {
    Worker& w = kernel_worker("map_shared_rank", file, line);
    w.in_runtime = true;
    const Cluster* c = w.block->cluster.get();
    const auto* p = static_cast<const char*>(address);
    const unsigned size = c ? static_cast<unsigned>(c->blocks.size()) : 1;
    if (rank >= size)
        cluster_fault(w,
                      file,
                      line,
                      format("the shared memory of block %u of the cluster: it has %u "
                             "block%s",
                             rank,
                             size,
                             size == 1 ? "" : "s"));
    Block* from = c ? c->owner_of(p) : is_shared(p) ? w.block : nullptr;
    const SharedPlace at = from ? shared_place_of(*from, p) : SharedPlace();
    if (!at.variable)
        cluster_fault(w,
                      file,
                      line,
                      format("map_shared_rank of %p, which is no address of shared "
                             "memory",
                             address));
    char* result = const_cast<char*>(p);
    Block* to = c ? c->blocks[rank] : w.block;
    if (to != from) {
        const SharedVariable variable = *at.variable;
        result = peer_variable(w, *to, variable) + at.offset;
    }
    w.in_runtime = false;
    return result;
}

unsigned shared_rank(const void* address) {
    const Cluster* c = own_cluster();
    if (!c) return is_shared(address) ? 0 : ~0u;
    const Block* owner = c->owner_of(address);
    return owner ? owner->cluster_rank : ~0u;
}

bool is_cluster_shared(const void* address) {
    return shared_rank(address) != ~0u;
}

void expect_cluster(dim3 blocks, const char* file, int line) {
    Worker* w = worker;
    if (!w || !w->thread) return;
    const dim3 have = w->launch->cluster;
    if (have.x == blocks.x && have.y == blocks.y && have.z == blocks.z) [[likely]]
        return;
    cluster_fault(
        *w,
        file,
        line,
        format("the kernel has __cluster_dims__(%u, %u, %u), which its launch "
               "could not know: several\n    kernels have its name, or its "
               "template arguments come from arguments of other types than\n "
               "   its parameters'. Write them at the launch: "
               "k<float><<<...>>>(...).",
               blocks.x,
               blocks.y,
               blocks.z));
}

}  // namespace simt::detail
