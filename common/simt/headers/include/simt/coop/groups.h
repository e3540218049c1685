/// simt/coop/groups.h: cooperative groups larger than a warp (thread block, grid,
/// cluster) and the type thread_group, which can hold any group.
#pragma once
#include "simt/cluster.h"
#include "simt/hopper/block_tile.h"
#include "simt/intrinsics.h"
#include "simt/sync.h"
#include "simt/vector_types.h"
#include "simt/warp.h"

namespace cooperative_groups {

class thread_block;
class grid_group;

/// Any group: what functions take that work on blocks and tiles alike.
class thread_group {
 public:
    /// Number of threads in the group.
    unsigned long long size() const;
    unsigned long long num_threads() const { return size(); }
    /// The calling thread's number in the group, from 0.
    unsigned long long thread_rank() const;
    /// Waits for all threads of the group; orders their memory accesses.
    void sync(SIMT_SITE) const;

 protected:
    enum class Kind : unsigned char { block, lanes, grid, cluster, block_tile };

    explicit constexpr thread_group(Kind kind, unsigned mask = 0)
        : kind_(kind), mask_(mask) {}

    Kind kind_;
    unsigned mask_;  // lanes of a group of kind `lanes`; of a block_tile, its size

    friend struct group_access;
};

/// What the functions in this library may know about any group.
struct group_access {
    static bool is_block(const thread_group& g) {
        return g.kind_ == thread_group::Kind::block;
    }
    static unsigned mask(const thread_group& g) { return g.mask_; }
};

namespace simt_detail {
/// A thread's number among those of a block of shape `dim`.
inline unsigned volume(dim3 dim) {
    return dim.x * dim.y * dim.z;
}
inline unsigned lanes_below(unsigned mask, int lane) {
    return static_cast<unsigned>(__builtin_popcount(mask & ((1u << lane) - 1u)));
}
}  // namespace simt_detail

/// All threads of the calling thread's block.
class thread_block : public thread_group {
 public:
    /// What barrier_arrive leaves for barrier_wait.
    struct arrival_token {};

    thread_block() : thread_group(Kind::block) {}

    static void sync(SIMT_SITE) {
        simt::detail::block_barrier(0, "thread_block::sync", file, line);
    }
    static unsigned int thread_rank() { return simt::detail::thread_rank; }
    static dim3 group_index() { return dim3(blockIdx); }
    static dim3 thread_index() { return dim3(threadIdx); }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
    static unsigned int size() { return simt_detail::volume(blockDim); }
    static unsigned int num_threads() { return size(); }

    /// A barrier in two halves; all the waiting is done in the second.
    static arrival_token barrier_arrive() { return {}; }
    static void barrier_wait(arrival_token&&, SIMT_SITE) {
        simt::detail::block_barrier(0, "thread_block::barrier_wait", file, line);
    }
};
/// The group of all threads of the block.
inline thread_block this_thread_block() {
    return thread_block();
}

/// All threads of the grid. sync() needs a cooperative launch.
class grid_group : public thread_group {
 public:
    struct arrival_token {};

    grid_group() : thread_group(Kind::grid) {}

    /// Whether sync() may be called.
    bool is_valid() const { return simt::detail::is_cooperative(); }
    void sync(SIMT_SITE) const { simt::detail::grid_barrier(file, line); }
    arrival_token barrier_arrive() const { return {}; }
    void barrier_wait(arrival_token&&, SIMT_SITE) const {
        simt::detail::grid_barrier(file, line);
    }
    static unsigned long long size() {
        return 1ull * simt_detail::volume(gridDim) * simt_detail::volume(blockDim);
    }
    static unsigned long long num_threads() { return size(); }
    static unsigned long long thread_rank() {
        return block_rank() * simt_detail::volume(blockDim) + simt::detail::thread_rank;
    }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 block_index() { return dim3(blockIdx); }
    static unsigned long long num_blocks() { return simt_detail::volume(gridDim); }
    static dim3 dim_clusters() {
        const dim3 d = simt::detail::cluster_dim();
        return dim3(gridDim.x / d.x, gridDim.y / d.y, gridDim.z / d.z);
    }
    static unsigned long long num_clusters() {
        return simt_detail::volume(dim_clusters());
    }
    static dim3 cluster_index() { return dim3(simt::detail::cluster_index()); }
    static unsigned long long cluster_rank() {
        const dim3 i = cluster_index(), d = dim_clusters();
        return (1ull * i.z * d.y + i.y) * d.x + i.x;
    }
    static unsigned long long block_rank() {
        return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
};
/// The group of all threads of the grid.
inline grid_group this_grid() {
    return grid_group();
}

/// All threads of the calling block's cluster.
class cluster_group : public thread_group {
 public:
    struct arrival_token {};

    cluster_group() : thread_group(Kind::cluster) {}

    static void sync(SIMT_SITE) {
        simt::detail::cluster_barrier("cluster_group::sync", file, line);
    }
    /// The barrier in two halves.
    static arrival_token barrier_arrive(SIMT_SITE) {
        simt::detail::cluster_arrive(true, "cluster_group::barrier_arrive", file, line);
        return {};
    }
    static void barrier_wait(SIMT_SITE) {
        simt::detail::cluster_wait("cluster_group::barrier_wait", file, line);
    }
    static void barrier_wait(arrival_token&&, SIMT_SITE) { barrier_wait(file, line); }
    static unsigned int thread_rank() {
        return block_rank() * simt_detail::volume(blockDim) + simt::detail::thread_rank;
    }
    static unsigned int size() { return num_blocks() * simt_detail::volume(blockDim); }
    static unsigned int num_threads() { return size(); }
    static unsigned int block_rank() { return simt::detail::cluster_block_rank(); }
    static unsigned int num_blocks() {
        return simt_detail::volume(simt::detail::cluster_dim());
    }
    static dim3 block_index() { return dim3(simt::detail::cluster_block_index()); }
    static dim3 thread_index() {
        const dim3 b = block_index();
        return dim3(b.x * blockDim.x + threadIdx.x,
                    b.y * blockDim.y + threadIdx.y,
                    b.z * blockDim.z + threadIdx.z);
    }
    static dim3 dim_blocks() { return simt::detail::cluster_dim(); }
    static dim3 dim_threads() {
        const dim3 d = dim_blocks();
        return dim3(d.x * blockDim.x, d.y * blockDim.y, d.z * blockDim.z);
    }
    /// The rank of the block in whose shared memory the address lies.
    static unsigned int query_shared_rank(const void* address) {
        return simt::detail::shared_rank(address);
    }
    /// The address of the same variable in the shared memory of block `rank`.
    template <class T>
    static T* map_shared_rank(T* address, int rank, SIMT_SITE) {
        return static_cast<T*>(simt::detail::map_shared(
            (const void*)address, static_cast<unsigned>(rank), file, line));
    }
};
inline cluster_group this_cluster() {
    return cluster_group();
}

inline unsigned long long thread_group::size() const {
    if (kind_ == Kind::block) return thread_block::size();
    if (kind_ == Kind::grid) return grid_group::size();
    if (kind_ == Kind::cluster) return cluster_group::size();
    if (kind_ == Kind::block_tile) return mask_;
    return static_cast<unsigned>(__builtin_popcount(mask_));
}
inline unsigned long long thread_group::thread_rank() const {
    if (kind_ == Kind::block) return thread_block::thread_rank();
    if (kind_ == Kind::grid) return grid_group::thread_rank();
    if (kind_ == Kind::cluster) return cluster_group::thread_rank();
    if (kind_ == Kind::block_tile) return simt::detail::thread_rank % mask_;
    return simt_detail::lanes_below(mask_, simt::detail::lane());
}
inline void thread_group::sync(const simt::SourceFile& file, int line) const {
    if (kind_ == Kind::block) {
        thread_block::sync(file, line);
    } else if (kind_ == Kind::grid) {
        simt::detail::grid_barrier(file, line);
    } else if (kind_ == Kind::cluster) {
        cluster_group::sync(file, line);
    } else if (kind_ == Kind::block_tile) {
        simt::detail::tile_barrier(mask_, file, line);
    } else {
        __syncwarp(mask_, file, line);
    }
}

/// The group's operations as functions.
template <class Group>
void sync(const Group& group, SIMT_SITE) {
    group.sync(file, line);
}
template <class Group>
void synchronize(const Group& group, SIMT_SITE) {
    group.sync(file, line);
}
template <class Group>
auto thread_rank(const Group& group) {
    return group.thread_rank();
}
template <class Group>
auto group_size(const Group& group) {
    return group.size();
}

/// Runs f(arguments...) in one thread of the group.
template <class Group, class F, class... A>
void invoke_one(const Group& group, F&& f, A&&... arguments) {
    if (group.thread_rank() == 0) f(static_cast<A&&>(arguments)...);
}

}  // namespace cooperative_groups
