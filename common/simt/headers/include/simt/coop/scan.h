/// simt/coop/scan.h: cg::inclusive_scan and cg::exclusive_scan over the ranks of a
/// group.
#pragma once
#include <type_traits>

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

}  // namespace cooperative_groups
