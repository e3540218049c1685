// The traces of the lanes while a kernel runs, and when they are replayed: whenever all
// threads of a warp have come together, because nothing before that point can happen at
// the same time as something after it.

#include "count.h"

#include <memory>
#include <unordered_map>

#include "checker/access.h"
#include "checker/sites.h"
#include "checker/trace/trace.h"
#include "kernels.h"

// Of the program, from the linker and the C library.
extern "C" {
[[gnu::weak]] extern const char __start_simt_constant[], __stop_simt_constant[];
extern const char __data_start[];
}

namespace simt::check {
namespace {

// A lane whose trace is longer waits for the others (32 KiB).
constexpr size_t kLongTrace = 1 << 12;
// A structure is moved in pieces of this size; see pieces_of().
constexpr uint32_t kPiece = 4;

struct BlockTraces {
    const detail::Block* block = nullptr;
    std::vector<WarpTrace> warps;
    unsigned last_warp = 0;
    bool recorded = false;    // see checker/trace
    uint32_t multiply = 0;    // a bit for each warp: it has products in flight
    uint32_t patience[1024];  // of each thread: how long its trace may become
};

Kernel* g_kernel = nullptr;  // that runs, if it is counted
auto& g_traces =
    *new std::unordered_map<const detail::Block*, std::unique_ptr<BlockTraces>>;
auto& g_unused = *new std::vector<std::unique_ptr<BlockTraces>>;
BlockTraces* g_current = nullptr;  // of the block that did something last
bool g_long = false;               // the last trace that grew is long

BlockTraces* traces_of(const detail::Block& block) {
    if (g_current && g_current->block == &block) return g_current;
    const auto found = g_traces.find(&block);
    return g_current = found == g_traces.end() ? nullptr : found->second.get();
}

bool is_counted(What what) {
    return what <= What::async;
}

void replay_warp(BlockTraces& traces, unsigned warp, uint32_t unfinished = 0) {
    replay(traces.warps[warp],
           unfinished,
           orders(),
           [&](uint32_t number, uint32_t lanes, const Event* events) {
               if (is_counted(point(number).what))
                   g_kernel->count(number, lanes, events);
               if (traces.recorded) trace_step(warp, number, lanes, events);
           });
}

void replay_all(BlockTraces& traces) {
    for (unsigned w = 0; w < traces.warps.size(); ++w)
        replay_warp(traces, w);
}

bool is_long(const BlockTraces& traces, uint32_t rank) {
    return traces.warps[rank / 32].lane[rank & 31].size() >= traces.patience[rank];
}

/// Writes a trace that has reached its limit: the block may never end.
void stop_if_full(const detail::Block& block, BlockTraces& traces) {
    if (!traces.recorded || is_traced(block)) return;
    replay_all(traces);
    trace_stops();
}

void record(detail::Worker& worker, uint32_t point, uintptr_t address) {
    if (point == kMostPoints) return;
    BlockTraces* traces = traces_of(*worker.block);
    if (!traces) return;
    const uint32_t rank = worker.thread->rank;
    const unsigned warp = rank / 32;
    if (warp != traces->last_warp) {
        // Keeps traces short, thus in the cache, where threads never wait.
        if (worker.block->warps[traces->last_warp].alive == 0)
            replay_warp(*traces, traces->last_warp);
        traces->last_warp = warp;
    }
    std::vector<Event>& trace = traces->warps[warp].lane[rank & 31];
    trace.push_back(make_event(point, address));
    g_long = is_long(*traces, rank);
    if (traces->recorded) {
        trace_event(rank);
        g_long |= is_traced(*worker.block);  // the others go as far
    }
}

uint32_t depth_of(const char* frame, const detail::Worker& worker) {
    return static_cast<uint32_t>(worker.fiber->top() - frame);
}

What what_is(const Access& access) {
    if (access.atomic) return What::atomic;
    return access.write ? What::store : What::load;
}

/// Which of the program's own variables are in constant memory: those that the rewriter
/// has put into a section, and what the compiler has put into read-only memory.
Space space_of(const Access& access) {
    if (access.space != Space::constant) return access.space;
    const char* const p = access.address;
    const bool marked = p >= __start_simt_constant && p < __stop_simt_constant;
    return marked || p < __data_start ? Space::constant : Space::global;
}

bool is_shuffle(detail::WarpOp op) {
    return op >= detail::WarpOp::shfl && op <= detail::WarpOp::shfl_xor;
}

/// The lanes of a warp that may still do something before they wait.
uint32_t running_lanes(const detail::Block& block, unsigned warp) {
    uint32_t running = 0;
    for (uint32_t rest = block.warps[warp].alive; rest != 0; rest &= rest - 1) {
        const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
        const detail::State state = block.threads[warp * 32 + lane].state;
        // `done` of a lane that lives: it has not started.
        if (state == detail::State::running || state == detail::State::done)
            running |= 1u << lane;
    }
    return running;
}

}  // namespace

void count_access(const Access& access, detail::Worker& worker) {
    if (!g_kernel) return;
    // The simulator's own: it fetches the kernel's parameters.
    if (site(access.site).place.line == 0) return;
    const bool in_pieces =
        access.structure && access.bytes > kPiece && access.bytes % kPiece == 0;
    Point p{access.pc,
            depth_of(access.frame, worker),
            access.site,
            static_cast<uint16_t>(in_pieces ? kPiece : access.bytes),
            what_is(access),
            space_of(access)};
    auto address = reinterpret_cast<uintptr_t>(access.address);
    if (!in_pieces && access.bytes <= 16) return record(worker, number_of(p), address);
    // The bytes of a large object, or of one whose size is odd.
    if (!in_pieces) p.bytes = 1;
    const uint32_t number = number_of(p);
    for (uint32_t i = 0; i < access.bytes; i += p.bytes)
        record(worker, number, address + i);
}

void count_basic_block(uintptr_t pc, const char* frame, detail::Worker& worker) {
    if (!g_kernel) return;
    const Point p{pc, depth_of(frame, worker), 0, 0, What::block, Space::global};
    record(worker, number_of(p), 0);
}

void count_copy(const void* to,
                const void* from,
                int bytes,
                int src_bytes,
                detail::Worker& worker) {
    if (!g_kernel) return;
    void* const* const frame = static_cast<void**>(__builtin_frame_address(0));
    const auto pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
    auto* const callers = static_cast<void* const*>(frame[0]);
    const auto size = static_cast<uint16_t>(bytes);
    const uint32_t number = site_of(pc, callers, size, false, false);
    // The user's instruction: the library's is the same for all.
    Point p{site(number).pc,
            depth_of(reinterpret_cast<const char*>(frame), worker),
            number,
            size,
            What::async,
            Space::global};
    if (src_bytes > 0) record(worker, number_of(p), reinterpret_cast<uintptr_t>(from));
    p.space = Space::shared;
    record(worker, number_of(p), reinterpret_cast<uintptr_t>(to));
}

void count_note(What what, const void* object, int bytes, detail::Worker& worker) {
    if (!g_kernel) return;
    const BlockTraces* traces = traces_of(*worker.block);
    if (!traces || !traces->recorded) return;
    void* const* const frame = static_cast<void**>(__builtin_frame_address(0));
    const auto pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
    const uint32_t number =
        site_of(pc, static_cast<void* const*>(frame[0]), 0, false, false);
    const Point p{site(number).pc,
                  depth_of(reinterpret_cast<const char*>(frame), worker),
                  number,
                  static_cast<uint16_t>(bytes),
                  what,
                  Space::constant};
    record(worker, number_of(p), reinterpret_cast<uintptr_t>(object));
}

void count_launch_begins(const detail::Launch& launch) {
    g_kernel = kernel_of(launch);
    if (tracing) trace_launch_begins(launch);
}

void count_launch_ends() {
    if (!g_kernel) return;
    // What is left if a fault has ended the launch.
    for (auto& [block, traces] : g_traces) {
        replay_all(*traces);
        g_unused.push_back(std::move(traces));
    }
    g_traces.clear();
    g_current = nullptr;
    if (tracing) trace_launch_ends();
    g_kernel->end_launch();
    g_kernel = nullptr;
}

void count_block_begins(detail::Block& block) {
    if (!g_kernel) return;
    if (g_unused.empty()) g_unused.push_back(std::make_unique<BlockTraces>());
    auto& slot = g_traces[&block];
    slot = std::move(g_unused.back());
    g_unused.pop_back();
    slot->block = &block;
    slot->warps.resize((block.size + 31) / 32);
    slot->last_warp = 0;
    slot->multiply = 0;
    for (uint32_t& patience : slot->patience)
        patience = kLongTrace;
    g_current = slot.get();
    if (tracing) trace_block_begins(block);
    slot->recorded = tracing && is_traced(block);
}

void count_block_ends(detail::Block& block) {
    if (!g_kernel) return;
    BlockTraces* traces = traces_of(block);
    if (!traces) return;
    replay_all(*traces);
    if (traces->recorded) trace_block_ends(block);
    size_t used = 0;
    for (const detail::SharedVariable& variable : block.shared.variables)
        if (variable.key) used += variable.size;
    g_kernel->static_shared = std::max(g_kernel->static_shared, used);
    const auto found = g_traces.find(&block);
    g_unused.push_back(std::move(found->second));
    g_traces.erase(found);
    g_current = nullptr;
}

void count_block_synchronised(detail::Block& block,
                              const char* op,
                              const char* file,
                              int line) {
    if (!g_kernel) return;
    g_kernel->count_barrier(op, file, line);
    BlockTraces* traces = traces_of(block);
    if (!traces) return;
    replay_all(*traces);
    if (traces->recorded) trace_barrier(block, op, file, line);
    stop_if_full(block, *traces);
}

void count_warp_synchronised(detail::Block& block,
                             unsigned warp,
                             uint32_t present,
                             detail::WarpOp op,
                             const char* file,
                             int line) {
    if (!g_kernel) return;
    if (op == detail::WarpOp::sync) g_kernel->count_barrier("__syncwarp", file, line);
    BlockTraces* traces = traces_of(block);
    if (is_shuffle(op)) {
        ++g_kernel->shuffles;
        if (traces && traces->multiply >> warp & 1)
            ++g_kernel->shuffles_beside_products;
    }
    const uint32_t alive = block.warps[warp].alive;
    if ((present & alive) != alive) return;
    if (traces) replay_warp(*traces, warp);
}

void count_multiplied(detail::TensorType type, uint64_t operations) {
    if (g_kernel) g_kernel->tensor_flop[static_cast<int>(type)] += operations;
}

void count_multiplies(detail::Block& block, unsigned warp, bool in_flight) {
    if (!g_kernel) return;
    BlockTraces* traces = traces_of(block);
    if (!traces) return;
    const uint32_t bit = uint32_t{1} << warp;
    traces->multiply = in_flight ? traces->multiply | bit : traces->multiply & ~bit;
}

void count_pause(detail::Worker& worker) {
    if (!g_long || !g_kernel) return;
    g_long = false;
    detail::Block& block = *worker.block;
    const uint32_t rank = worker.thread->rank;
    BlockTraces* traces = traces_of(block);
    if (!traces) return;
    worker.in_runtime = true;
    if (traces->recorded && !is_long(*traces, rank)) {
        worker.note_progress();
        worker.yield();
        worker.in_runtime = false;
        return;
    }
    worker.note_activity();
    worker.yield();
    // Meanwhile others may have come as far.
    traces = traces_of(block);
    if (traces) {
        replay_warp(*traces, rank / 32, running_lanes(block, rank / 32));
        stop_if_full(block, *traces);
        const size_t left = traces->warps[rank / 32].lane[rank & 31].size();
        traces->patience[rank] = static_cast<uint32_t>(left + kLongTrace);
    }
    worker.in_runtime = false;
}

}  // namespace simt::check
