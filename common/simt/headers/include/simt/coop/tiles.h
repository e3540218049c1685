/// simt/coop/tiles.h: cooperative groups within a warp: tiles of 1 to 32 threads,
/// coalesced groups, and the partitions that make them. Larger tiles: block_tiles.h.
#pragma once
#include <type_traits>

#include "simt/coop/groups.h"

namespace cooperative_groups {

namespace simt_detail {
/// A value of any size for the exchange between lanes: 8 bytes at a time.
template <class T, class Shuffle>
T exchange(const T& value, Shuffle shuffle) {
    static_assert(std::is_trivially_copyable_v<T>,
                  "lanes exchange trivially copyable types");
    if constexpr (sizeof(T) <= 8) {
        return shuffle(value);
    } else {
        constexpr int kWords = (sizeof(T) + 7) / 8;
        uint64_t words[kWords] = {};
        __builtin_memcpy(words, &value, sizeof value);
        for (uint64_t& word : words) {
            word = shuffle(word);
        }
        T result = value;
        __builtin_memcpy(static_cast<void*>(&result), words, sizeof result);
        return result;
    }
}

/// A group of lanes of one warp: what tiles and coalesced groups have in common.
class lane_group : public thread_group {
 public:
    void sync(SIMT_SITE) const { __syncwarp(mask_, file, line); }

    /// Whether the predicate holds for any or for all threads of the group.
    int any(int predicate, SIMT_SITE) const {
        return __any_sync(mask_, predicate, file, line);
    }
    int all(int predicate, SIMT_SITE) const {
        return __all_sync(mask_, predicate, file, line);
    }
    /// The group's number among those that the same partition made, and how many it
    /// made.
    unsigned long long meta_group_rank() const { return meta_rank_; }
    unsigned long long meta_group_size() const { return meta_size_; }

 protected:
    lane_group(unsigned mask, unsigned meta_rank, unsigned meta_size)
        : thread_group(Kind::lanes, mask),
          meta_rank_(meta_rank),
          meta_size_(meta_size) {}

    unsigned meta_rank_;
    unsigned meta_size_;
};
}  // namespace simt_detail

/// A tile of `Size` consecutive threads of a warp; its parent's type is of no
/// consequence.
template <unsigned int Size, class Parent = void>
class thread_block_tile;

template <unsigned int Size>
requires(Size <= 32) class thread_block_tile<Size, void>
    : public simt_detail::lane_group {
    static_assert(Size >= 1 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16, 32, 64, 128, 256 or 512 threads");

 public:
    static constexpr unsigned int size() { return Size; }
    static constexpr unsigned int num_threads() { return Size; }
    static unsigned int thread_rank() {
        return static_cast<unsigned>(simt::detail::lane()) % Size;
    }

    /// The value of another thread of the tile: of number `rank`, of the one `delta`
    /// below or above, of the one whose number differs in the bits of `mask`.
    template <class T>
    T shfl(const T& value, int rank, SIMT_SITE) const {
        return simt_detail::exchange(value, [&](auto part) {
            return __shfl_sync(mask_, part, rank, int(Size), file, line);
        });
    }
    template <class T>
    T shfl_up(const T& value, unsigned int delta, SIMT_SITE) const {
        return simt_detail::exchange(value, [&](auto part) {
            return __shfl_up_sync(mask_, part, delta, int(Size), file, line);
        });
    }
    template <class T>
    T shfl_down(const T& value, unsigned int delta, SIMT_SITE) const {
        return simt_detail::exchange(value, [&](auto part) {
            return __shfl_down_sync(mask_, part, delta, int(Size), file, line);
        });
    }
    template <class T>
    T shfl_xor(const T& value, unsigned int mask, SIMT_SITE) const {
        return simt_detail::exchange(value, [&](auto part) {
            return __shfl_xor_sync(mask_, part, int(mask), int(Size), file, line);
        });
    }

    /// One bit per thread of the tile: those whose predicate is not 0, those with the
    /// same value; match_all gives none unless all values are equal.
    unsigned int ballot(int predicate, SIMT_SITE) const {
        return __ballot_sync(mask_, predicate, file, line) >> first_lane();
    }
    template <class T>
    unsigned int match_any(T value, SIMT_SITE) const {
        return __match_any_sync(mask_, value, file, line) >> first_lane();
    }
    template <class T>
    unsigned int match_all(T value, int& all_equal, SIMT_SITE) const {
        return __match_all_sync(mask_, value, &all_equal, file, line) >> first_lane();
    }

    /// The tile that the calling thread belongs to.
    thread_block_tile(unsigned meta_rank, unsigned meta_size)
        : lane_group(own_mask(), meta_rank, meta_size) {}

 private:
    static int first_lane() { return simt::detail::lane() & ~int(Size - 1); }
    static unsigned own_mask() {
        return (Size == 32 ? 0xffffffffu : (1u << (Size & 31)) - 1u) << first_lane();
    }
};

template <unsigned int Size, class Parent>
class thread_block_tile : public thread_block_tile<Size, void> {
 public:
    using thread_block_tile<Size, void>::thread_block_tile;
};

/// Some lanes of a warp, numbered in the order of lanes.
class coalesced_group : public simt_detail::lane_group {
 public:
    unsigned int size() const {
        return static_cast<unsigned>(__builtin_popcount(mask_));
    }
    unsigned int num_threads() const { return size(); }
    unsigned int thread_rank() const {
        return simt_detail::lanes_below(mask_, simt::detail::lane());
    }

    /// The value of another thread of the group, as in thread_block_tile. A thread
    /// without such a partner gets its own.
    template <class T>
    T shfl(const T& value, unsigned int rank, SIMT_SITE) const {
        return from_lane(value, lane_of(rank), file, line);
    }
    template <class T>
    T shfl_up(const T& value, int delta, SIMT_SITE) const {
        const int rank = static_cast<int>(thread_rank());
        return from_lane(
            value, lane_of(rank < delta ? rank : rank - delta), file, line);
    }
    template <class T>
    T shfl_down(const T& value, int delta, SIMT_SITE) const {
        const int rank = static_cast<int>(thread_rank());
        const bool inside = rank + delta < static_cast<int>(size());
        return from_lane(value, lane_of(inside ? rank + delta : rank), file, line);
    }

    /// As in thread_block_tile: bit i stands for the thread of rank i.
    unsigned int ballot(int predicate, SIMT_SITE) const {
        return packed(__ballot_sync(mask_, predicate, file, line));
    }
    template <class T>
    unsigned int match_any(T value, SIMT_SITE) const {
        return packed(__match_any_sync(mask_, value, file, line));
    }
    template <class T>
    unsigned int match_all(T value, int& all_equal, SIMT_SITE) const {
        return packed(__match_all_sync(mask_, value, &all_equal, file, line));
    }

    /// The group of the given lanes.
    explicit coalesced_group(unsigned mask,
                             unsigned meta_rank = 0,
                             unsigned meta_size = 1)
        : lane_group(mask, meta_rank, meta_size) {}
    /// A whole tile is a coalesced group, too.
    template <unsigned int Size>
    requires(Size <= 32) coalesced_group(const thread_block_tile<Size, void>& tile)
        : lane_group(group_access::mask(tile),
                     static_cast<unsigned>(tile.meta_group_rank()),
                     static_cast<unsigned>(tile.meta_group_size())) {}

 private:
    /// The lane of the thread of this rank.
    int lane_of(unsigned int rank) const {
        unsigned rest = mask_;
        for (; rank > 0 && rest != 0; --rank) {
            rest &= rest - 1;
        }
        return rest == 0 ? simt::detail::lane() : __builtin_ctz(rest);
    }
    template <class T>
    T from_lane(const T& value,
                int lane,
                const simt::SourceFile& file,
                int line) const {
        return simt_detail::exchange(value, [&](auto part) {
            return __shfl_sync(mask_, part, lane, 32, file, line);
        });
    }
    /// The bits of the group's lanes moved together.
    unsigned int packed(unsigned int bits) const {
        unsigned int result = 0;
        unsigned int next = 1;
        for (unsigned rest = mask_; rest != 0; rest &= rest - 1) {
            if (bits & rest & -rest) result |= next;
            next <<= 1;
        }
        return result;
    }
};

/// The threads of the warp that have come to this call together.
inline coalesced_group coalesced_threads(SIMT_SITE) {
    return coalesced_group(simt::detail::active_mask(file, line));
}

/// The calling thread alone.
inline thread_block_tile<1> this_thread() {
    return thread_block_tile<1>(0, 1);
}

/// Tiles of `Size` threads of a block or of a larger tile.
template <unsigned int Size>
thread_block_tile<Size, thread_block> tiled_partition(const thread_block& block) {
    return {block.thread_rank() / Size, (block.size() + Size - 1) / Size};
}
template <unsigned int Size, unsigned int ParentSize, class Grandparent>
thread_block_tile<Size, thread_block_tile<ParentSize, Grandparent>> tiled_partition(
    const thread_block_tile<ParentSize, Grandparent>& parent) {
    static_assert(Size <= ParentSize, "a tile is not larger than what it is a part of");
    return {parent.thread_rank() / Size, ParentSize / Size};
}

namespace simt_detail {
inline void check_tile_size(unsigned int size, const char* file, int line) {
    if (size >= 1 && size <= 32 && (size & (size - 1)) == 0) return;
    simt::detail::fault(719,  // cudaErrorLaunchFailure: CUDA traps
                        file,
                        line,
                        "tiled_partition into tiles of %u threads: the size must be a "
                        "power of two up to 32",
                        size);
}
}  // namespace simt_detail

/// Groups of `size` consecutive ranks of a coalesced group.
inline coalesced_group tiled_partition(const coalesced_group& parent,
                                       unsigned int size,
                                       SIMT_SITE) {
    simt_detail::check_tile_size(size, file, line);
    const unsigned mine = parent.thread_rank() / size;
    unsigned mask = 0;
    unsigned rank = 0;
    for (unsigned rest = group_access::mask(parent); rest != 0;
         rest &= rest - 1, ++rank) {
        if (rank / size == mine) mask |= rest & -rest;
    }
    return coalesced_group(mask, mine, (parent.size() + size - 1) / size);
}
/// Tiles whose size is known at run time only.
inline thread_group tiled_partition(const thread_group& parent,
                                    unsigned int size,
                                    SIMT_SITE) {
    if (!group_access::is_block(parent)) {
        return tiled_partition(
            coalesced_group(group_access::mask(parent)), size, file, line);
    }
    simt_detail::check_tile_size(size, file, line);
    const int first = simt::detail::lane() & ~static_cast<int>(size - 1);
    const unsigned mask = size == 32 ? 0xffffffffu : ((1u << size) - 1u) << first;
    return coalesced_group(mask);
}

/// The threads of the group that agree with the caller on the predicate.
inline coalesced_group binary_partition(const coalesced_group& group,
                                        bool predicate,
                                        SIMT_SITE) {
    const unsigned mask = group_access::mask(group);
    const unsigned yes = __ballot_sync(mask, predicate, file, line);
    if (yes == 0 || yes == mask) return coalesced_group(mask);
    return coalesced_group(predicate ? yes : mask & ~yes, predicate, 2);
}
/// The threads of the group that agree with the caller on the label.
template <class Label>
coalesced_group labeled_partition(const coalesced_group& group,
                                  Label label,
                                  SIMT_SITE) {
    static_assert(std::is_integral_v<Label> || std::is_pointer_v<Label>,
                  "a label is an integer or a pointer");
    if constexpr (std::is_same_v<Label, bool>) {
        return binary_partition(group, label, file, line);
    } else {
        const unsigned mask = group_access::mask(group);
        const unsigned same = __match_any_sync(mask, label, file, line);
        const int leader = __builtin_ctz(same);
        const unsigned leaders =
            __ballot_sync(mask, simt::detail::lane() == leader, file, line);
        return coalesced_group(same,
                               simt_detail::lanes_below(leaders, leader),
                               static_cast<unsigned>(__builtin_popcount(leaders)));
    }
}

/// Runs f(arguments...) in one thread of the group and gives its result to all.
template <class Group, class F, class... A>
auto invoke_one_broadcast(const Group& group, F&& f, A&&... arguments) {
    using Result = decltype(f(static_cast<A&&>(arguments)...));
    Result result{};
    if (group.thread_rank() == 0) result = f(static_cast<A&&>(arguments)...);
    return group.shfl(result, 0);
}

}  // namespace cooperative_groups
