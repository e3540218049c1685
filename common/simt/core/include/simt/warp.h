/// simt/warp.h: warp-level operations. Each is a rendezvous of the lanes in `mask` that
/// have not returned: the last to arrive performs the operation for all of them.
#pragma once

#include "core.h"

// Tells calls apart that stand on one line. The address that a call returns to would
// do, if compilers did not duplicate calls for lanes that they treat differently.
#ifdef __clang__
#define SIMT_PLACE const void* place = nullptr
#define SIMT_ONE_CALL __attribute__((noduplicate))
#else
#include <source_location>
#define SIMT_PLACE const void* place = __builtin_source_location()
#define SIMT_ONE_CALL
#endif

namespace simt::detail {

enum class WarpOp : uint8_t {
    sync,
    shfl,
    shfl_up,
    shfl_down,
    shfl_xor,
    ballot,
    match_any,
    match_all,
    reduce_add,
    reduce_min,
    reduce_max,
    reduce_and,
    reduce_or,
    reduce_xor,
    custom,
};

/// What one lane brings to a warp operation and takes away.
///
/// in   the value: bits of a shuffle, predicate of a vote, operand of a reduction
/// src  the lane to read from, for shuffles
/// out  the result
/// p    for `custom`: the lane's data
/// fn   for `custom`: called once with the lanes' arguments (null for lanes outside the
///      mask or returned) and the mask of the lanes present
struct WarpArg {
    uint64_t in;
    int src;
    uint64_t out;
    void* p;
    void (*fn)(WarpArg* const* lanes, uint32_t mask);
};

/// Performs a warp operation of the lanes in `mask`.
void warp_op(WarpOp kind,
             uint32_t mask,
             WarpArg& arg,
             const char* op,
             const char* file,
             int line);

/// The lanes of the warp that have come to this very place in the program together.
SIMT_ONE_CALL uint32_t active_mask(const char* file, int line, SIMT_PLACE);

/// Waits for the lanes that come to this very place together; they go on in ascending
/// order. What the rewriter puts into code that relies on lanes running in lockstep.
SIMT_ONE_CALL void lockstep(SIMT_OWN_SITE, SIMT_PLACE);

template <class T>
uint64_t to_bits(T value) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>,
                  "warp operations exchange values of at most 8 bytes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class T>
T from_bits(uint64_t bits) {
    T value;
    __builtin_memcpy(static_cast<void*>(&value), &bits, sizeof value);
    return value;
}

template <class T>
T shuffle(WarpOp kind,
          uint32_t mask,
          T value,
          int src,
          const char* op,
          const char* file,
          int line) {
    WarpArg arg{to_bits(value), src, 0, nullptr, nullptr};
    warp_op(kind, mask, arg, op, file, line);
    return from_bits<T>(arg.out);
}

template <class T>
T reduce(
    WarpOp kind, uint32_t mask, T value, const char* op, const char* file, int line) {
    static_assert(std::is_same_v<T, int> || std::is_same_v<T, unsigned>,
                  "CUDA reduces int and unsigned");
    // Sign or zero extension keeps the order of both types in 64 signed bits.
    WarpArg arg{
        static_cast<uint64_t>(static_cast<int64_t>(value)), 0, 0, nullptr, nullptr};
    warp_op(kind, mask, arg, op, file, line);
    return static_cast<T>(arg.out);
}

}  // namespace simt::detail

/// The value of lane `src` of the same `width`-wide segment.
template <class T>
T __shfl_sync(unsigned mask, T value, int src, int width = 32, SIMT_SITE) {
    const int lane = simt::detail::lane();
    const int from = (lane & ~(width - 1)) | (src & (width - 1));
    return simt::detail::shuffle(
        simt::detail::WarpOp::shfl, mask, value, from, "__shfl_sync", file, line);
}

/// The value of the lane `delta` below; the first `delta` lanes keep their own.
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, SIMT_SITE) {
    const int lane = simt::detail::lane();
    const bool inside = delta <= static_cast<unsigned>(lane & (width - 1));
    const int from = inside ? lane - static_cast<int>(delta) : lane;
    return simt::detail::shuffle(
        simt::detail::WarpOp::shfl_up, mask, value, from, "__shfl_up_sync", file, line);
}

/// The value of the lane `delta` above; the last `delta` lanes keep their own.
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, SIMT_SITE) {
    const int lane = simt::detail::lane();
    const int last = lane | (width - 1);
    const bool inside = delta <= static_cast<unsigned>(last - lane);
    const int from = inside ? lane + static_cast<int>(delta) : lane;
    return simt::detail::shuffle(simt::detail::WarpOp::shfl_down,
                                 mask,
                                 value,
                                 from,
                                 "__shfl_down_sync",
                                 file,
                                 line);
}

/// The value of the lane whose number is `lane ^ lane_mask`; the own value if that lies
/// in a later segment.
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, SIMT_SITE) {
    const int lane = simt::detail::lane();
    const int other = lane ^ lane_mask;
    const int from = other > (lane | (width - 1)) ? lane : other;
    return simt::detail::shuffle(simt::detail::WarpOp::shfl_xor,
                                 mask,
                                 value,
                                 from,
                                 "__shfl_xor_sync",
                                 file,
                                 line);
}

/// Waits for the lanes in `mask`; orders their memory accesses.
inline void __syncwarp(unsigned mask = 0xffffffffu, SIMT_SITE) {
    simt::detail::WarpArg arg{};
    simt::detail::warp_op(
        simt::detail::WarpOp::sync, mask, arg, "__syncwarp", file, line);
}

namespace simt::detail {
/// A vote of the lanes in `mask`, under the name of the function that asks for it.
inline unsigned vote(unsigned mask, bool yes, const char* name, SIMT_SITE) {
    WarpArg arg{yes, 0, 0, nullptr, nullptr};
    warp_op(WarpOp::ballot, mask, arg, name, file, line);
    return static_cast<unsigned>(arg.out);
}
}  // namespace simt::detail

/// One bit for each lane in `mask` whose predicate is not 0.
inline unsigned __ballot_sync(unsigned mask, int predicate, SIMT_SITE) {
    return simt::detail::vote(mask, predicate != 0, "__ballot_sync", file, line);
}
/// Whether any lane's predicate is not 0.
inline int __any_sync(unsigned mask, int predicate, SIMT_SITE) {
    return simt::detail::vote(mask, predicate != 0, "__any_sync", file, line) != 0;
}
/// Whether every lane's predicate is not 0.
inline int __all_sync(unsigned mask, int predicate, SIMT_SITE) {
    return simt::detail::vote(mask, predicate == 0, "__all_sync", file, line) == 0;
}

/// The lanes that execute this call together.
SIMT_ONE_CALL inline unsigned __activemask(SIMT_SITE, SIMT_PLACE) {
    return simt::detail::active_mask(file, line, place);
}

/// The lanes in `mask` that hold the same value.
template <class T>
unsigned __match_any_sync(unsigned mask, T value, SIMT_SITE) {
    simt::detail::WarpArg arg{simt::detail::to_bits(value), 0, 0, nullptr, nullptr};
    simt::detail::warp_op(
        simt::detail::WarpOp::match_any, mask, arg, "__match_any_sync", file, line);
    return static_cast<unsigned>(arg.out);
}
/// `mask` if all its lanes hold the same value, else 0; *all says which.
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* all, SIMT_SITE) {
    simt::detail::WarpArg arg{simt::detail::to_bits(value), 0, 0, nullptr, nullptr};
    simt::detail::warp_op(
        simt::detail::WarpOp::match_all, mask, arg, "__match_all_sync", file, line);
    *all = arg.out != 0;
    return static_cast<unsigned>(arg.out);
}

#define SIMT_REDUCE(NAME, KIND)                                          \
    inline unsigned NAME(unsigned mask, unsigned value, SIMT_SITE) {     \
        return simt::detail::reduce(                                     \
            simt::detail::WarpOp::KIND, mask, value, #NAME, file, line); \
    }                                                                    \
    inline int NAME(unsigned mask, int value, SIMT_SITE) {               \
        return simt::detail::reduce(                                     \
            simt::detail::WarpOp::KIND, mask, value, #NAME, file, line); \
    }
/// The sum, smallest, largest value over the lanes in `mask`; `and`, `or`, `xor` of
/// bits.
SIMT_REDUCE(__reduce_add_sync, reduce_add)
SIMT_REDUCE(__reduce_min_sync, reduce_min)
SIMT_REDUCE(__reduce_max_sync, reduce_max)
#undef SIMT_REDUCE
#define SIMT_REDUCE(NAME, KIND)                                          \
    inline unsigned NAME(unsigned mask, unsigned value, SIMT_SITE) {     \
        return simt::detail::reduce(                                     \
            simt::detail::WarpOp::KIND, mask, value, #NAME, file, line); \
    }
SIMT_REDUCE(__reduce_and_sync, reduce_and)
SIMT_REDUCE(__reduce_or_sync, reduce_or)
SIMT_REDUCE(__reduce_xor_sync, reduce_xor)
#undef SIMT_REDUCE
