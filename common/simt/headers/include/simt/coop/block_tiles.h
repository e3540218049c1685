/// simt/coop/block_tiles.h: tiles of 64 to 512 threads, which are several warps of a
/// block, and the memory that a program may set aside for them.
#pragma once
#include <type_traits>

#include "simt/coop/tiles.h"
#include "simt/hopper/block_tile.h"

namespace cooperative_groups {

/// Shared memory for tiles of more than a warp. None is needed here, nor on a GPU from
/// sm_80 on.
template <unsigned int MaxBlockSize = 1024>
struct alignas(8) block_tile_memory {};

template <unsigned int MaxBlockSize>
thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) {
    return thread_block();
}

/// Several whole warps. Lanes of different warps exchange no values but by shfl.
template <unsigned int Size>
requires(Size > 32) class thread_block_tile<Size, void> : public thread_group {
    static_assert(Size <= 512 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16, 32, 64, 128, 256 or 512 threads");

 public:
    static constexpr unsigned int size() { return Size; }
    static constexpr unsigned int num_threads() { return Size; }
    static unsigned int thread_rank() { return simt::detail::thread_rank % Size; }
    unsigned long long meta_group_rank() const { return meta_rank_; }
    unsigned long long meta_group_size() const { return meta_size_; }

    void sync(SIMT_SITE) const { simt::detail::tile_barrier(Size, file, line); }
    int any(int predicate, SIMT_SITE) const {
        return simt::detail::tile_count(Size, predicate, file, line) != 0;
    }
    int all(int predicate, SIMT_SITE) const {
        return simt::detail::tile_count(Size, predicate, file, line) == Size;
    }
    /// The value of thread number `rank`.
    template <class T>
    T shfl(const T& value, unsigned int rank, SIMT_SITE) const {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8,
                      "tiles of more than a warp exchange at most 8 bytes");
        T result = value;
        simt::detail::tile_exchange(Size, &value, &result, sizeof(T), rank, file, line);
        return result;
    }

    thread_block_tile(unsigned meta_rank, unsigned meta_size)
        : thread_group(Kind::block_tile, Size),
          meta_rank_(meta_rank),
          meta_size_(meta_size) {}

 private:
    unsigned meta_rank_;
    unsigned meta_size_;
};

namespace simt_detail {
/// The warp of a large tile that the caller belongs to.
template <unsigned int Size>
thread_block_tile<32> warp_of_tile() {
    return {thread_block_tile<Size, void>::thread_rank() / 32, Size / 32};
}
}  // namespace simt_detail

}  // namespace cooperative_groups
