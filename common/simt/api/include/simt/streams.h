/// simt/streams.h: what a program can ask for about streams and graphs.
#pragma once

namespace simt {

/// How the work of streams is run. 0: at once, in the order of issue. Otherwise it is
/// queued, and what the dependencies between streams leave open is decided by the seed:
/// work that nothing orders runs in either order. With an even seed nothing runs before
/// the host waits, and then only what it waits for; with an odd one, some work runs
/// whenever more is issued. Below 2^30 one stream runs far ahead of another for a
/// while; from there on they change at any time, and from 2^31 on they go in step: the
/// first work of each, in any order, then the second of each. What is queued is
/// finished first.
/// Default: SIMT_STREAMS, or 0.
void set_stream_seed(unsigned seed);

/// While a seed is set: how many kernels, copies, fills and host functions at most had
/// to run one after the other, since the seed was set. The host that waits is part of
/// the chain. A program whose streams overlap has a short one.
unsigned longest_chain();
/// How many there have been, on all devices: as long a chain is if nothing overlaps.
unsigned chain_links();

/// What has been asked of the runtime since the program began.
struct IssueCounters {
    unsigned long kernels = 0;         // launched into a stream, not captured
    unsigned long captures = 0;        // ended well
    unsigned long instantiations = 0;  // of graphs
    unsigned long graph_launches = 0;
};
IssueCounters issue_counters();

/// What a program has made, and has to destroy: streams, events, graphs, pools,
/// textures, handles of libraries.
struct Objects {
    unsigned long made = 0;   // since the program began
    unsigned long alive = 0;  // of these, and not destroyed yet
};
Objects objects();

/// What host code asks of the runtime.
enum class Issue {
    kernel,     // a launch
    graph,      // the launch of a graph
    operation,  // a copy, a fill or a host function
    host,       // a host function, which is told as an operation, too
    event,      // a record of an event, or a stream's wait for one
    memory,     // an allocation or a release in the order of a stream
    wait,       // for a stream, an event or the device; a copy that returns when done
};

/// Called before each, in the host thread that asks.
///
/// @param stream  its cudaStream_t; null: the default stream, or the whole device
using IssueHook = void (*)(Issue what, const void* stream);

/// Null: nobody wants to know any more.
void on_issue(IssueHook hook);

}  // namespace simt
