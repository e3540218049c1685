// Warp operations: a rendezvous of lanes, see simt/warp.h.

#include <algorithm>

#include "fault.h"
#include "observer.h"
#include "switch.h"

namespace simt::detail {
namespace {

// What a shuffle gives that reads a lane which takes no part. CUDA does not define it;
// an H100 gives 0, on which some well-known reductions rely.
constexpr uint64_t kUndefined = 0;

using Lanes = WarpArg* const*;

template <class F>
void for_each_lane(uint32_t lanes, F f) {
    for (; lanes != 0; lanes &= lanes - 1)
        f(__builtin_ctz(lanes));
}

/// Returns the lanes that read a lane which is not present.
uint32_t shuffle_all(Lanes args, uint32_t present) {
    uint32_t undefined = 0;
    for_each_lane(present, [&](int lane) {
        const int src = args[lane]->src & 31;
        if (present >> src & 1) {
            args[lane]->out = args[src]->in;
        } else {
            args[lane]->out = kUndefined;
            undefined |= 1u << lane;
        }
    });
    return undefined;
}

void set_all(Lanes args, uint32_t present, uint64_t value) {
    for_each_lane(present, [&](int lane) { args[lane]->out = value; });
}

void ballot(Lanes args, uint32_t present) {
    uint32_t votes = 0;
    for_each_lane(present, [&](int lane) {
        if (args[lane]->in) votes |= 1u << lane;
    });
    set_all(args, present, votes);
}

void match_any(Lanes args, uint32_t present) {
    for_each_lane(present, [&](int lane) {
        uint32_t same = 0;
        for_each_lane(present, [&](int other) {
            if (args[other]->in == args[lane]->in) same |= 1u << other;
        });
        args[lane]->out = same;
    });
}

void match_all(Lanes args, uint32_t present) {
    const uint64_t first = args[__builtin_ctz(present)]->in;
    bool same = true;
    for_each_lane(present, [&](int lane) { same = same && args[lane]->in == first; });
    set_all(args, present, same ? present : 0);
}

int64_t combine(WarpOp op, int64_t a, int64_t b) {
    switch (op) {
        case WarpOp::reduce_add:
            return a + b;
        case WarpOp::reduce_min:
            return std::min(a, b);
        case WarpOp::reduce_max:
            return std::max(a, b);
        case WarpOp::reduce_and:
            return a & b;
        case WarpOp::reduce_or:
            return a | b;
        default:
            return a ^ b;
    }
}

void reduce(WarpOp op, Lanes args, uint32_t present) {
    const int first = __builtin_ctz(present);
    auto sum = static_cast<int64_t>(args[first]->in);
    for_each_lane(present & (present - 1), [&](int lane) {
        sum = combine(op, sum, static_cast<int64_t>(args[lane]->in));
    });
    set_all(args, present, static_cast<uint64_t>(sum));
}

void custom(Lanes args, uint32_t present) {
    WarpArg* lanes[32] = {};
    for_each_lane(present, [&](int lane) { lanes[lane] = args[lane]; });
    args[__builtin_ctz(present)]->fn(lanes, present);
}

/// Performs the operation; returns the lanes whose result is undefined.
uint32_t perform(WarpOp op, Lanes args, uint32_t present) {
    switch (op) {
        case WarpOp::sync:
            return 0;
        case WarpOp::shfl:
        case WarpOp::shfl_up:
        case WarpOp::shfl_down:
        case WarpOp::shfl_xor:
            return shuffle_all(args, present);
        case WarpOp::ballot:
            ballot(args, present);
            return 0;
        case WarpOp::match_any:
            match_any(args, present);
            return 0;
        case WarpOp::match_all:
            match_all(args, present);
            return 0;
        case WarpOp::custom:
            custom(args, present);
            return 0;
        default:
            reduce(op, args, present);
            return 0;
    }
}

[[gnu::noinline]] void report_undefined(Worker& w,
                                        const WarpGroup& group,
                                        uint32_t undefined,
                                        const Thread& t,
                                        const WarpArg& arg) {
    const std::string text = format(
        "%s: lane %d reads lane %d, which takes no part in it (mask 0x%08x, "
        "lanes present 0x%08x):\n    the value is undefined. %d lanes do this.",
        t.op,
        __builtin_ctz(undefined),
        arg.src,
        group.mask,
        group.arrived,
        __builtin_popcount(undefined));
    if (observer) {
        auto fault = make_fault(w,
                                cudaErrorLaunchFailure,
                                t.file,
                                t.line,
                                text,
                                FindingKind::missing_lanes);
        fault->thread = const_cast<Thread*>(&t);
        if (observer->tolerated(*w.launch, *fault)) return;
    }
    if (w.launch->strict)
        w.abandon(make_fault(w,
                             cudaErrorLaunchFailure,
                             t.file,
                             t.line,
                             text,
                             FindingKind::missing_lanes));
    if (!w.launch->lenient) warn(*w.launch, t.file, t.line, text);
}

[[noreturn, gnu::noinline]] void report_outsider(Worker& w,
                                                 unsigned lane,
                                                 uint32_t mask,
                                                 const char* op,
                                                 const char* file,
                                                 int line) {
    w.abandon(make_fault(
        w,
        cudaErrorLaunchFailure,
        file,
        line,
        format("lane %u calls %s with mask 0x%08x, which does not name that lane.\n"
               "    A mask names exactly the lanes that make the call.",
               lane,
               op,
               mask),
        FindingKind::missing_lanes));
}

// Out of line, as reports are: what waits in warp_op() is to have a small frame.
[[gnu::noinline]] void complete(
    Worker& w, Block& b, Warp& warp, WarpGroup* group, unsigned warp_index) {
    const uint32_t undefined = perform(group->op, warp.args, group->arrived);
    if (undefined != 0) [[unlikely]] {
        const int lane = __builtin_ctz(undefined);
        report_undefined(w,
                         *group,
                         undefined,
                         b.threads[warp_index * 32 + static_cast<unsigned>(lane)],
                         *warp.args[lane]);
    }
    if (observer) {
        const Thread& last = *w.thread;
        observer->warp_synchronised(
            w, b, warp_index, group->arrived, group->op, last.file, last.line);
    }
    w.make_ready(group->waiting);
    w.note_meeting();
    --warp.num_groups;
    WarpGroup* last = warp.groups + warp.num_groups;
    if (group != last) *group = *last;
}

WarpGroup* find_group(Warp& warp, uint32_t mask, WarpOp op, const WarpArg& arg) {
    for (uint32_t i = 0; i < warp.num_groups; ++i) {
        WarpGroup& g = warp.groups[i];
        if (g.mask == mask && g.op == op && (op != WarpOp::custom || g.fn == arg.fn))
            return &g;
    }
    WarpGroup* g = warp.groups + warp.num_groups++;
    *g = {mask, 0, op, arg.fn, {}};
    return g;
}

}  // namespace

void warp_op(WarpOp kind,
             uint32_t mask,
             WarpArg& arg,
             const char* op,
             const char* file,
             int line) {
    Worker& w = kernel_worker(op, file, line);
    w.in_runtime = true;
    w.leave_row();
    Block& b = *w.block;
    Thread* t = w.thread;
    const unsigned lane = t->rank & 31, warp_index = t->rank / 32;
    Warp& warp = b.warps[warp_index];
    if (!(mask >> lane & 1)) [[unlikely]]
        report_outsider(w, lane, mask, op, file, line);
    t->op = op;
    t->file = file;
    t->line = line;
    t->mask = mask;
    WarpGroup* group = find_group(warp, mask, kind, arg);
    warp.args[lane] = &arg;
    group->arrived |= 1u << lane;
    // The last lane queues up too, so that the lanes go on in the order in which they
    // came, usually that of their numbers. Hardware hides that in `s[t] += s[t + 16];
    // __syncwarp(); s[t] += s[t + 8];` lanes race with their neighbours; so does this.
    t->state = State::in_warp_op;
    group->waiting.push(t);
    if (group->arrived == (mask & warp.alive)) complete(w, b, warp, group, warp_index);
    w.suspend();
    w.in_runtime = false;
}

void complete_warp(Worker& w, Warp& warp) {
    Block& b = *w.block;
    const auto warp_index = static_cast<unsigned>(&warp - b.warps.data());
    for (uint32_t i = 0; i < warp.num_groups;) {
        WarpGroup& g = warp.groups[i];
        if (g.arrived == (g.mask & warp.alive))
            complete(w, b, warp, &g, warp_index);
        else
            ++i;
    }
}

namespace {

/// Waits until the lanes of the warp that stand at `place` can be told; returns them.
uint32_t gather(const char* op, const char* file, int line, const void* place) {
    Worker& w = kernel_worker(op, file, line);
    w.in_runtime = true;
    Thread* t = w.thread;
    t->state = State::in_active_mask;
    t->op = op;
    t->file = file;
    t->line = line;
    t->place = place;
    ++w.block->at_active_mask;
    w.suspend();
    w.in_runtime = false;
    return t->result;
}

}  // namespace

// Where the compiler cannot name a place, the address that the call returns to does;
// two calls that it has merged differ by their line.
__attribute__((noinline)) uint32_t active_mask(const char* file,
                                               int line,
                                               const void* place) {
    if (place == nullptr) place = __builtin_return_address(0);
    return gather("__activemask", file, line, place);
}

__attribute__((noinline)) void lockstep(const char* file, int line, const void* place) {
    if (place == nullptr) place = __builtin_return_address(0);
    gather("lockstep", file, line, place);
}

}  // namespace simt::detail
