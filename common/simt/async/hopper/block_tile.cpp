// Tiles of more than one warp: a barrier for each of them, and what their threads show.

#include "simt/hopper/block_tile.h"

#include <cstring>

#include "core/observer.h"
#include "simt/sync.h"
#include "state.h"

namespace simt::detail {
namespace {

/// The barrier of the caller's tile: 16 of 64 threads, then 8 of 128, and so on.
NamedBarrier& barrier_of(Worker& w, unsigned size) {
    std::vector<NamedBarrier>& barriers = hopper_state(w).tile_barriers;
    if (barriers.empty()) barriers.resize(16 + 8 + 4 + 2 + 1);
    unsigned first = 0;
    for (unsigned smaller = 64; smaller < size; smaller *= 2)
        first += 1024 / smaller;
    return barriers[first + w.thread->rank / size];
}

/// What each thread of the block shows at present.
std::vector<const void*>& shown(Worker& w) {
    std::vector<const void*>& values = hopper_state(w).tile_values;
    values.resize(w.block->size);
    return values;
}

/// Shows a value to the tile and waits until all threads have.
std::vector<const void*>& show(unsigned size,
                               const void* mine,
                               const char* file,
                               int line) {
    Worker& w = kernel_worker("thread_block_tile", file, line);
    {
        const InRuntime guard(w);
        shown(w)[w.thread->rank] = mine;
    }
    tile_barrier(size, file, line);
    return shown(kernel_worker("thread_block_tile", file, line));
}

}  // namespace

void tile_barrier(unsigned size, const char* file, int line) {
    Worker& w = kernel_worker("thread_block_tile::sync", file, line);
    const InRuntime guard(w);
    if (w.block->size % size != 0)
        hopper_fault(w,
                     file,
                     line,
                     "tiles of %u threads in a block of %u: the last tile is not whole",
                     size,
                     w.block->size);
    NamedBarrier& barrier = barrier_of(w, size);
    // Two objects in turn, so that a fast thread's next phase does not leak into this.
    const char* const object =
        reinterpret_cast<const char*>(&barrier) + barrier.phase % 2;
    if (observer) observer->synchronises(object, false, true);
    barrier.waiting.push(w.thread);
    if (++barrier.arrived == size) {
        barrier.arrived = 0;
        ++barrier.phase;
        w.make_ready(barrier.waiting);
        w.note_progress();
    }
    hopper_suspend(w, "thread_block_tile::sync", file, line);
    w.in_runtime = true;
    if (observer) observer->synchronises(object, true, false);
}

void tile_exchange(unsigned size,
                   const void* mine,
                   void* theirs,
                   size_t bytes,
                   unsigned rank,
                   const char* file,
                   int line) {
    const auto& values = show(size, mine, file, line);
    Worker& w = kernel_worker("thread_block_tile::shfl", file, line);
    {
        const InRuntime guard(w);
        const unsigned first = w.thread->rank / size * size;
        std::memcpy(theirs, values[first + rank % size], bytes);
    }
    tile_barrier(size, file, line);
}

unsigned tile_count(unsigned size, int predicate, const char* file, int line) {
    const auto& values = show(size, &predicate, file, line);
    Worker& w = kernel_worker("thread_block_tile::any", file, line);
    unsigned count = 0;
    {
        const InRuntime guard(w);
        const unsigned first = w.thread->rank / size * size;
        for (unsigned i = first; i < first + size; ++i)
            count += *static_cast<const int*>(values[i]) != 0;
    }
    tile_barrier(size, file, line);
    return count;
}

}  // namespace simt::detail
