// The life of a block on its worker, and its waiting for the grid.

#include <algorithm>

#include "cluster.h"
#include "observer.h"
#include "pool.h"
#include "scheduler.h"

namespace simt::detail {
namespace {

// A launch that has taken this long so far is worth waking other OS threads for.
constexpr double kWorthSharing = 20e-6;

/// Gives the threads their indices, unless they have them from an earlier launch.
void number_threads(Block& b, const dim3& shape) {
    if (b.shape.x == shape.x && b.shape.y == shape.y && b.shape.z == shape.z) return;
    b.shape = shape;
    if (b.threads.size() < b.size) b.threads.resize(b.size);
    Thread* t = b.threads.data();
    uint32_t rank = 0;
    for (uint3 i = {0, 0, 0}; i.z < shape.z; ++i.z)
        for (i.y = 0; i.y < shape.y; ++i.y)
            for (i.x = 0; i.x < shape.x; ++i.x, ++t) {
                t->block = &b;
                t->index = i;
                t->rank = static_cast<uint16_t>(rank++);
            }
}

uint32_t lanes_of_warp(unsigned block_size, unsigned warp) {
    const unsigned left = block_size - warp * 32;
    return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

}  // namespace

bool Worker::open_block() {
    Launch& l = *launch;
    if (l.cluster_size > 1) return open_cluster();
    const uint64_t i = l.next_block.fetch_add(1, std::memory_order_relaxed);
    if (i >= l.num_blocks) return false;
    if (i != 0 && i + 1 < l.num_blocks && !l.shared.load(std::memory_order_relaxed) &&
        now() - l.started > kWorthSharing)
        call_workers(l);
    starting_ = prepare_block(l.order.empty() ? i : l.order[i]);
    return true;
}

/// A block with all its threads before their start.
Block* Worker::prepare_block(uint64_t linear) {
    Launch& l = *launch;
    if (free_blocks_.empty()) free_blocks_.push_back(new Block{});
    Block* b = free_blocks_.back();
    free_blocks_.pop_back();
    const dim3& grid = l.config->grid;
    b->linear = linear;
    b->index = {static_cast<unsigned>(linear % grid.x),
                static_cast<unsigned>(linear / grid.x % grid.y),
                static_cast<unsigned>(linear / grid.x / grid.y)};
    b->size = b->alive = l.block_size;
    b->next_unstarted = 0;
    b->arrived = b->predicates = b->result = 0;
    b->waiting = {};
    b->at_grid_barrier = 0;
    b->at_active_mask = 0;
    number_threads(*b, l.config->block);
    const unsigned num_warps = (b->size + 31) / 32;
    if (b->warps.size() < num_warps) b->warps.resize(num_warps);
    for (unsigned w = 0; w < num_warps; ++w) {
        b->warps[w].alive = lanes_of_warp(b->size, w);
        b->warps[w].num_groups = 0;
    }
    b->order.clear();
    if (l.seed != 0) {
        Random& rng = ready_.rng();
        rng.seed(l.seed, l.number, linear);
        if (l.seed % 2 == 0 && num_warps > 1)
            ready_.set_late_warp(rng.below(num_warps));
        b->order.resize(b->size);
        for (unsigned k = 0; k < b->size; ++k)
            b->order[k] = static_cast<uint16_t>(k);
        for (unsigned k = b->size; k > 1; --k)
            std::swap(b->order[k - 1], b->order[rng.below(k)]);
    }
    open_shared(*b);
    if (observer) observer->block_begins(*this, *b);
    resident_.push_back(b);
    return b;
}

/// The same for the next cluster: all of its blocks are there before one begins.
bool Worker::open_cluster() {
    Launch& l = *launch;
    const uint64_t count = l.num_blocks / l.cluster_size;
    const uint64_t i = l.next_block.fetch_add(1, std::memory_order_relaxed);
    if (i >= count) return false;
    if (i != 0 && i + 1 < count && !l.shared.load(std::memory_order_relaxed) &&
        now() - l.started > kWorthSharing)
        call_workers(l);
    const auto cluster = std::make_shared<Cluster>(l, l.order.empty() ? i : l.order[i]);
    for (unsigned rank = 0; rank < l.cluster_size; ++rank) {
        Block* b = prepare_block(cluster->linear_of(rank));
        b->cluster = cluster;
        b->cluster_rank = rank;
        cluster->blocks.push_back(b);
    }
    if (observer) observer->cluster_begins(*this, *cluster);
    unstarted_.assign(cluster->blocks.rbegin(), cluster->blocks.rend());
    if (l.seed != 0)
        for (unsigned k = l.cluster_size; k > 1; --k)
            std::swap(unstarted_[k - 1], unstarted_[ready_.rng().below(k)]);
    return go_on_with_cluster();
}

/// The next block of the cluster begins; false if all have.
bool Worker::go_on_with_cluster() {
    if (unstarted_.empty()) return false;
    starting_ = unstarted_.back();
    unstarted_.pop_back();
    return true;
}

void Worker::finish_thread() {
    leave_row();
    Thread* t = thread;
    Block& b = *t->block;
    t->state = State::done;
    if (t->extension) t->extension->discard();
    if (b.extension) b.extension->thread_ends(*this);
    note_progress();
    Warp& warp = b.warps[t->rank / 32];
    warp.alive &= ~(1u << (t->rank & 31));
    --b.alive;
    if (warp.num_groups != 0) complete_warp(*this, warp);
    if (b.cluster) [[unlikely]]
        cluster_thread_ends(*this, b, t->rank);
    if (b.alive == 0)
        close_block(&b);
    else if (b.arrived != 0 || b.at_grid_barrier != 0)
        complete_barriers_after_exit(*this, b);
}

void Worker::close_block(Block* b) {
    note_finished();
    if (observer) observer->block_ends(*this, *b);
    if (b->extension) b->extension->block_ends(*this);
    b->extension = nullptr;
    check_shared(*this, *b);
    for (Fiber* f : retired_)
        fibers_.put(f);
    retired_.clear();
    if (starting_ == b) starting_ = nullptr;
    block = nullptr;
    if (!b->cluster) return release_block(b);
    const std::shared_ptr<Cluster> cluster = b->cluster;
    if (--cluster->running != 0) return poison_shared(*this, *b);
    for (Block* member : cluster->blocks)
        release_block(member);
}

/// The block may be used again.
void Worker::release_block(Block* b) {
    ready_.forget_late_block(b);
    resident_.erase(std::find(resident_.begin(), resident_.end(), b));
    b->cluster = nullptr;
    free_blocks_.push_back(b);
}

/// Waits until all blocks of the grid have come to the grid barrier. False if that
/// cannot happen, or no thread of this worker waits for it.
bool Worker::wait_for_grid() {
    if (at_grid_.empty()) return false;
    Launch& l = *launch;
    {
        std::unique_lock lock(l.mutex);
        bool counted = false;
        while (l.grid_generation == grid_seen_) {
            if (l.aborted) return true;
            if (!counted) ++l.workers_idle, counted = true;
            if (l.workers_idle >= l.workers_active) {
                --l.workers_idle;
                return false;
            }
            l.grid_changed.wait(lock);
        }
        grid_seen_ = l.grid_generation;
    }
    for (Block* b : resident_)
        b->at_grid_barrier = 0;
    make_ready(at_grid_);
    note_progress();
    return true;
}

}  // namespace simt::detail
