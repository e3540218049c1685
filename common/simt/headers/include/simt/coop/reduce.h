/// simt/coop/reduce.h: cg::reduce. The order of additions is that of CUDA's shuffles,
/// so that floating-point sums round as on the GPU.
#pragma once
#include "simt/coop/block_tiles.h"
#include "simt/coop/functors.h"
#include "simt/coop/scan.h"
#include "simt/coop/tiles.h"

namespace cooperative_groups {

/// op over the values of all threads of the tile; every thread gets the result.
template <unsigned int Size, class Parent, class T, class Op>
auto reduce(const thread_block_tile<Size, Parent>& tile,
            T&& value,
            Op&& op,
            SIMT_SITE) {
    auto result = value;
    for (unsigned int distance = Size / 2; distance > 0; distance /= 2) {
        result = op(result, tile.shfl_xor(result, distance, file, line));
    }
    return result;
}
/// Warps first, then their results: a GPU adds in this order.
template <unsigned int Size, class Parent, class T, class Op>
requires(Size > 32) auto reduce(const thread_block_tile<Size, Parent>& tile,
                                T&& value,
                                Op&& op,
                                SIMT_SITE) {
    constexpr unsigned int kWarps = Size / 32;
    auto result = reduce(simt_detail::warp_of_tile<Size>(), value, op, file, line);
    std::decay_t<T> all[kWarps];
    for (unsigned int w = 0; w < kWarps; ++w)
        all[w] = tile.shfl(result, 32 * w, file, line);
    for (unsigned int distance = kWarps / 2; distance > 0; distance /= 2)
        for (unsigned int w = 0; w < distance; ++w)
            all[w] = op(all[w], all[w + distance]);
    return all[0];
}

/// op over the values of all threads of the group; every thread gets the result.
template <class T, class Op>
auto reduce(const coalesced_group& group, T&& value, Op&& op, SIMT_SITE) {
    if (group.size() == 32) {
        return reduce(thread_block_tile<32>(0, 1), value, op, file, line);
    }
    const auto scanned = inclusive_scan(group, value, op, file, line);
    return group.shfl(scanned, group.size() - 1, file, line);
}

namespace simt_detail {
/// Combines `value` into an atomic with the operation that the functor stands for.
template <class Atomic, class T>
T apply(Atomic& target, T value, const plus<T>&) {
    return target.fetch_add(value);
}
template <class Atomic, class T>
T apply(Atomic& target, T value, const less<T>&) {
    return target.fetch_min(value);
}
template <class Atomic, class T>
T apply(Atomic& target, T value, const greater<T>&) {
    return target.fetch_max(value);
}
template <class Atomic, class T>
T apply(Atomic& target, T value, const bit_and<T>&) {
    return target.fetch_and(value);
}
template <class Atomic, class T>
T apply(Atomic& target, T value, const bit_or<T>&) {
    return target.fetch_or(value);
}
template <class Atomic, class T>
T apply(Atomic& target, T value, const bit_xor<T>&) {
    return target.fetch_xor(value);
}
}  // namespace simt_detail

/// Reduces and combines the result into a cuda::atomic (update) or stores it there
/// (store).
template <class Group, class Atomic, class T, class Op>
void reduce_update_async(
    const Group& group, Atomic& target, T&& value, Op&& op, SIMT_SITE) {
    const auto result = reduce(group, value, op, file, line);
    if (group.thread_rank() == 0) simt_detail::apply(target, result, op);
}
template <class Group, class Atomic, class T, class Op>
void reduce_store_async(
    const Group& group, Atomic& target, T&& value, Op&& op, SIMT_SITE) {
    const auto result = reduce(group, value, op, file, line);
    if (group.thread_rank() == 0) target.store(result);
}

}  // namespace cooperative_groups
