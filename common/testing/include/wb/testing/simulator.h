/// wb/testing/simulator.h: the simulator's strict settings, for grading.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wb::testing {

/// Under the simulator: allocations end exactly at an inaccessible page, threads that
/// returned before a barrier are an error, a kernel that makes no progress for ten
/// seconds is stopped. On a GPU: nothing.
void prepare_simulator();

/// The program is built for the simulator's checker, under which all takes some thirty
/// times as long.
bool runs_checked();

/// How often the checker of simt-c++ has seen the finding of this number by now.
std::uint64_t times_found(std::int64_t number);

/// Under the simulator: threads and blocks of all later launches run in another,
/// reproducible order; 0 is the usual one. On a GPU: nothing, the order is never sure.
void shuffle_threads(unsigned seed);

/// Under the simulator: while this lives, streams are asynchronous, and what nothing
/// orders runs in an order that the seed chooses; with an even seed, nothing runs
/// before the host waits. 0 is the usual order. On a GPU: nothing, the order is never
/// sure.
class StreamOrder {
 public:
    explicit StreamOrder(unsigned seed);
    ~StreamOrder();
    StreamOrder(const StreamOrder&) = delete;
    StreamOrder& operator=(const StreamOrder&) = delete;

    /// Whether one lives whose seed is not 0; false on a GPU.
    static bool is_chosen();
    /// How many kernels and copies had to run one after the other; 0 on a GPU.
    static unsigned longest_chain();
    /// How many there were, on all devices; 0 on a GPU.
    static unsigned chain_links();
};

/// While this lives, the GPU has so many multiprocessors, so that few blocks are
/// already more than one each. A real GPU only says so: to a program that asks.
class FewMultiprocessors {
 public:
    explicit FewMultiprocessors(int count);
    ~FewMultiprocessors();
    FewMultiprocessors(const FewMultiprocessors&) = delete;
    FewMultiprocessors& operator=(const FewMultiprocessors&) = delete;

    /// How many there are said to be now.
    static int count();
};

/// Under the simulator: while this lives, no more than so many blocks of a launch have
/// begun and not ended, and the last block begins first, or, if so wanted, the first
/// one (with shuffle_threads(): they begin in any order, and take turns at random). A
/// block that waits for one that cannot begin is a hang, which is found. On a GPU:
/// nothing, the order is never sure.
class FewBlocks {
 public:
    explicit FewBlocks(unsigned resident, bool last_first = true);
    ~FewBlocks();
    FewBlocks(const FewBlocks&) = delete;
    FewBlocks& operator=(const FewBlocks&) = delete;
};

/// While this lives, the GPU says that it is of an older compute capability, so that a
/// launcher refuses it, or takes other kernels. It runs all that it ran (the simulator:
/// but clusters). A real GPU only says so.
class OlderGpu {
 public:
    /// @param compute_capability  times 10; a newer one than the GPU's is not said
    explicit OlderGpu(int compute_capability);
    ~OlderGpu();
    OlderGpu(const OlderGpu&) = delete;
    OlderGpu& operator=(const OlderGpu&) = delete;
};

/// While this lives, a block may have no more than so much shared memory, 48 KB if
/// nothing is said, so that a launch that asks for more is refused, and its fallback is
/// tried. A real GPU says so, and lets no kernel have more that has not got it already.
class LittleSharedMemory {
 public:
    explicit LittleSharedMemory(int bytes = 48 * 1024);
    ~LittleSharedMemory();
    LittleSharedMemory(const LittleSharedMemory&) = delete;
    LittleSharedMemory& operator=(const LittleSharedMemory&) = delete;
};

/// While this lives, the GPU says that its L2 cache has so many bytes, so that little
/// data is already more than fits.
class SmallCache {
 public:
    explicit SmallCache(std::size_t bytes);
    ~SmallCache();
    SmallCache(const SmallCache&) = delete;
    SmallCache& operator=(const SmallCache&) = delete;
};

/// Under the simulator: while this lives, what it finds is not put into the verdict,
/// because a test provokes it. On a GPU: nothing is found.
class WantedFindings {
 public:
    WantedFindings();
    ~WantedFindings();
    WantedFindings(const WantedFindings&) = delete;
    WantedFindings& operator=(const WantedFindings&) = delete;
};

/// Under the simulator: how many graphs the program has instantiated. On a GPU: 0.
unsigned long graphs_instantiated();

}  // namespace wb::testing
