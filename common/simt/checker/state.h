/// checker/state.h: what the parts of the safety checks share.
#pragma once

#include <unordered_map>
#include <vector>

#include "access.h"
#include "core/scheduler.h"
#include "findings.h"
#include "order.h"

namespace simt::check {

/// An asynchronous copy that has been issued and has not landed.
struct InFlight {
    const char* to;
    int bytes;
    uint32_t thread;
    uint32_t site;
};

/// A read that races with atomic operations only: the start of a compare-and-swap loop,
/// if the thread's next atomic operation is on the same word.
struct DoubtfulRead {
    uint32_t thread;
    const char* address;
    uint32_t bytes;
    uint32_t site;
    Record old;
    Who by;
    uint3 index;
    detail::Block* home;
};

/// An access to the shared memory of a block by another one of its cluster.
struct PeerAccess {
    Record record;
    uint64_t block;
    uint32_t phase;  // of the cluster's barrier: when it is over, so is the access
    Access access;
};

/// What is known of a resident block.
struct BlockState {
    BlockOrder order;
    std::vector<InFlight> copies;
    std::vector<DoubtfulRead> doubtful;
    std::vector<PeerAccess> peers;  // since the cluster's last barrier, one for a line
    std::unordered_map<const void*, Record> barriers;  // mbarriers: who has made them
};

inline BlockState& state_of(const detail::Block& block) {
    return *static_cast<BlockState*>(block.observed);
}

/// A launch that has run; that before the one in progress, if it may not have ended.
struct LaunchBefore {
    const char* name = "";
    const void* address = nullptr;
    const char* file = "";  // where it was launched
    int line = 0;
    dim3 grid;
    dim3 block;
};
extern LaunchBefore launch_before;
LaunchBefore launch_of(const detail::Launch& launch);

/// The shadows of device memory and of the program's static storage.
extern constinit Shadow device_shadow;
extern constinit Shadow static_shadow;

/// Which accesses of a launch may meet in some memory: all, or those of a block.
enum class Reach : uint8_t { device, shared };

/// By Reach: changes whenever memory is allocated or freed, or a block begins.
extern uint64_t memory_generation[2];

/// The last access whose address was wrong: if the launch is stopped by a fault next,
/// this was it.
struct BadAccess {
    uint64_t launch = ~uint64_t{0};
    uint64_t block = 0;
    uint32_t thread = 0;
};
extern BadAccess last_bad_access;

/// Are there writes whose values are to be compared?
extern bool any_overwrites;
/// Two threads have written the same bytes, unordered. If the value is the same, too,
/// that is no mistake. What the second writes is known once it has written: to be
/// called before anything else changes memory.
void settle_overwrites();

/// Reports the doubtful reads: no compare-and-swap has followed.
void flush_doubtful(detail::Worker& worker, BlockState& state);

/// Checks an access to another block's shared memory: has that begun, has it ended?
/// False if it says so.
bool check_peer(const Access& access, detail::Worker& worker);
/// The block ends: is some block of its cluster not ready for that?
void check_peers_done(detail::Block& block, const detail::Worker& worker);

/// Remembers a load through the read-only cache.
/// @param now  who, when and where
void note_read_only(const char* address, size_t bytes, Record now);
/// The launch ends: has it written what it has read through that cache?
void check_read_only(const detail::Launch& launch);

/// Checks an access for races, and remembers it.
void check_race(Shadow& shadow, const Access& access, detail::Worker& worker);

}  // namespace simt::check
