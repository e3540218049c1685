/// simt/coop/scan.h: cg::inclusive_scan and cg::exclusive_scan over the ranks of a
/// group.
#pragma once
#include <type_traits>

#include "simt/coop/block_tiles.h"
#include "simt/coop/functors.h"
#include "simt/coop/tiles.h"

namespace cooperative_groups {

/// op over the values of the threads up to and including the caller.
template <class Group, class T, class Op>
auto inclusive_scan(const Group& group, T&& value, Op&& op, SIMT_SITE) {
    auto result = value;
    const unsigned int rank = group.thread_rank();
    for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
        const auto below = group.shfl_up(result, distance, file, line);
        if (rank >= distance) result = op(result, below);
    }
    return result;
}
template <class Group, class T>
auto inclusive_scan(const Group& group, T&& value, SIMT_SITE) {
    return inclusive_scan(group, value, plus<std::decay_t<T>>(), file, line);
}

/// op over the values of the threads before the caller; T() for the first.
template <class Group, class T, class Op>
auto exclusive_scan(const Group& group, T&& value, Op&& op, SIMT_SITE) {
    const auto inclusive = inclusive_scan(group, value, op, file, line);
    const auto before = group.shfl_up(inclusive, 1, file, line);
    return group.thread_rank() == 0 ? std::decay_t<T>() : before;
}
template <class Group, class T>
auto exclusive_scan(const Group& group, T&& value, SIMT_SITE) {
    return exclusive_scan(group, value, plus<std::decay_t<T>>(), file, line);
}

/// Tiles of more than a warp: the warps, then what the warps before have.
template <unsigned int Size, class Parent, class T, class Op>
requires(Size > 32) auto inclusive_scan(const thread_block_tile<Size, Parent>& tile,
                                        T&& value,
                                        Op&& op,
                                        SIMT_SITE) {
    const auto warp = simt_detail::warp_of_tile<Size>();
    auto result = inclusive_scan(warp, value, op, file, line);
    std::decay_t<T> before{};
    const unsigned int mine = tile.thread_rank() / 32;
    for (unsigned int w = 0; w + 1 < Size / 32; ++w) {
        const auto sum = tile.shfl(result, 32 * w + 31, file, line);
        if (w < mine) before = w == 0 ? sum : op(before, sum);
    }
    return mine == 0 ? result : op(before, result);
}
template <unsigned int Size, class Parent, class T, class Op>
requires(Size > 32) auto exclusive_scan(const thread_block_tile<Size, Parent>& tile,
                                        T&& value,
                                        Op&& op,
                                        SIMT_SITE) {
    const auto inclusive = inclusive_scan(tile, value, op, file, line);
    const auto last = [&](unsigned int w) {
        return tile.shfl(inclusive, 32 * w + 31, file, line);
    };
    std::decay_t<T> before =
        simt_detail::warp_of_tile<Size>().shfl_up(inclusive, 1, file, line);
    for (unsigned int w = 0; w + 1 < Size / 32; ++w) {
        const auto sum = last(w);
        if (tile.thread_rank() == 32 * (w + 1)) before = sum;
    }
    return tile.thread_rank() == 0 ? std::decay_t<T>() : before;
}

}  // namespace cooperative_groups
