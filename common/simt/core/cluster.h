/// core/cluster.h: the blocks of a thread block cluster, and their barrier.
///
/// The blocks of a cluster run on one worker, which opens them together: each has its
/// shared memory before any begins, and keeps it until all have ended.
#pragma once

#include <vector>

#include "scheduler.h"

namespace simt::detail {

struct Cluster {
    /// Where the threads of a block have arrived in the current phase.
    struct Arrivals {
        unsigned count = 0;
        const char* op = nullptr;
        const char* file = nullptr;
        int line = 0;
    };
    enum class At : uint8_t {
        none,
        arrived,  // a wait has to follow
        whole,    // waits, in a barrier whose halves are one call
    };
    struct Member {
        At at = At::none;
        uint32_t phase = 0;   // of its last arrival
        bool passed = false;  // the barrier at least once: all blocks have begun
    };

    Cluster(const Launch& launch, uint64_t number);
    /// The block's number in the grid.
    uint64_t linear_of(unsigned rank) const;
    uint3 position(unsigned rank) const;
    /// The block that an address of shared memory belongs to, or null.
    Block* owner_of(const void* address) const;
    Member& member(const Block& block, unsigned thread) {
        return members[block.cluster_rank * block_size + thread];
    }

    dim3 dim;
    dim3 grid;
    uint3 index;  // among the clusters of the grid
    unsigned block_size;
    std::vector<Block*> blocks;  // by rank
    unsigned running;            // blocks that have not ended

    unsigned alive;  // threads that have not returned
    unsigned arrived = 0;
    unsigned whole = 0;  // of those that have arrived
    uint32_t phase = 0;
    bool last_whole = false;  // all threads came whole to the last phase
    std::vector<Member> members;
    std::vector<Arrivals> arrivals;  // by rank
    ThreadList waiting;
};

inline unsigned volume(dim3 d) {
    return d.x * d.y * d.z;
}

/// A thread of the block has returned: perhaps the others waited for it alone.
void cluster_thread_ends(Worker& w, Block& block, unsigned thread);

/// The clusters of a launch: given with it, or by the kernel; 1 x 1 x 1 without.
dim3 cluster_of(const Config& config, const void* kernel);
/// Whether the device can run such clusters; if not, says why.
bool has_clusters(const Config& config, const Body& body);

/// What the kernel's __cluster_dims__ say; x = 0 without.
dim3 required_cluster(const void* kernel);
/// cudaFuncAttributeRequiredClusterWidth and its like: directions 0 to 2. False if the
/// kernel has __cluster_dims__.
bool require_cluster_later(const void* kernel, int direction, unsigned blocks);
/// Whether the device has clusters.
bool knows_clusters();
/// The most blocks that a cluster of the kernel may have.
unsigned max_cluster_size(const void* kernel);
/// cudaFuncAttributeNonPortableClusterSizeAllowed.
void allow_non_portable_cluster(const void* kernel, bool allowed);
bool allows_non_portable_cluster(const void* kernel);

}  // namespace simt::detail
