/// pieces.cuh: where a token, a head and a pair lie. Given to both stages.
#pragma once

#include <wb/elements.h>

#include <cstdint>
#include <type_traits>

#include "rope_and_kv_append.h"

// #region slot
/// The place of a token in the cache.
struct Slot {
    int64_t page;  ///< -1: there is none
    int64_t slot;  ///< in the page
    int64_t position;
};

/// Looks it up, and reports a token that has none.
template <class T, class Stored>
__device__ __forceinline__ Slot slot_of(const RopeAppend<T, Stored>& call,
                                        int64_t token,
                                        wb::PagedStatus* status) {
    const auto& cache = call.cache;
    const int32_t sequence = call.sequences[token];
    const int32_t position = call.positions[token];
    if (!wb::checked_place(cache, sequence, position, token, status)) return {-1, 0, 0};
    const int64_t index = position / cache.page_size;
    return {wb::checked_page(cache, sequence, index, status),
            position % cache.page_size,
            position};
}
// #endregion slot

// #region heads
/// Heads of a token are counted from 0: first those of q, then k's, then v's.
template <class T, class Stored>
__device__ __forceinline__ bool is_query(const RopeAppend<T, Stored>& call, int head) {
    return head < call.query_heads;
}
template <class T, class Stored>
__device__ __forceinline__ bool is_value(const RopeAppend<T, Stored>& call, int head) {
    return head >= call.query_heads + call.kv_heads();
}

/// Where the numbers of a head begin, in q, k or v.
template <class T, class Stored>
__device__ __forceinline__ const T* head_of(const RopeAppend<T, Stored>& call,
                                            int64_t token,
                                            int head) {
    const int64_t D = call.cache.head_dim;
    const int64_t Hq = call.query_heads;
    if (is_query(call, head)) return call.q + token * call.q_stride + head * D;
    if (!is_value(call, head)) return call.k + token * call.k_stride + (head - Hq) * D;
    return call.v + token * call.v_stride + (head - Hq - call.kv_heads()) * D;
}

/// Where a head of k or v is to be stored, and what it is multiplied by.
template <class Stored>
struct Target {
    Stored* row;
    float factor;
};
template <class T, class Stored>
__device__ __forceinline__ Target<Stored> target_of(const RopeAppend<T, Stored>& call,
                                                    const Slot& slot,
                                                    int head) {
    const bool value = is_value(call, head);
    const auto h =
        static_cast<int>(head - call.query_heads - (value ? call.kv_heads() : 0));
    Stored* const pool = value ? call.cache.v : call.cache.k;
    float factor = 1.0f;
    if constexpr (std::is_same_v<Stored, __nv_fp8_e4m3>)
        factor = 1.0f / (value ? call.v_scale : call.k_scale)[h];
    return {pool + call.cache.row(slot.page, h, slot.slot), factor};
}
// #endregion heads

// #region places
/// Where kWidth pairs of a head lie, from pair `pair` on: kWidth numbers from `first`
/// on, and kWidth from `second` on. In halves, the first number of each pair is among
/// the former, the second one among the latter. Neighbours lie in one row of 2 kWidth
/// numbers. Numbers behind the rotary ones lie so, too.
struct Places {
    int first;
    int second;
    bool rotates;
};
template <int kWidth, class T, class Stored>
__device__ __forceinline__ Places places_of(const RopeAppend<T, Stored>& call,
                                            int pair) {
    const int half = static_cast<int>(call.rotary_dim / 2);
    const bool rotates = pair < half;
    if (rotates && call.pairs == RopePairs::halves) return {pair, pair + half, true};
    return {2 * pair, 2 * pair + kWidth, rotates};
}
// #endregion places

// #region stored
/// Rounds kWidth numbers, 1 or 8, and stores them.
template <int kWidth, class Stored>
__device__ __forceinline__ void store_numbers(Stored* to,
                                              const float (&numbers)[kWidth]) {
    if constexpr (!std::is_same_v<Stored, __nv_fp8_e4m3>) {
        wb::Elements<Stored, kWidth>::pack(numbers).store(to);
    } else if constexpr (kWidth == 1) {
        *to = __nv_fp8_e4m3(numbers[0]);
    } else {
        uint32_t words[2] = {};
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
            const __nv_fp8_storage_t byte =
                __nv_cvt_float_to_fp8(numbers[i], __NV_SATFINITE, __NV_E4M3);
            words[i / 4] |= uint32_t{byte} << i % 4 * 8;
        }
        *reinterpret_cast<uint2*>(to) = make_uint2(words[0], words[1]);
    }
}
// #endregion stored

// #region pairs
/// kWidth pairs of a head, as they lie in memory.
template <class T, int kWidth>
struct Loaded {
    using Vector = wb::Elements<T, kWidth>;
    Vector first;
    Vector second;

    __device__ __forceinline__ void load(const T* head, const Places& at) {
        first = Vector::load(head + at.first);
        second = Vector::load(head + at.second);
    }
};

/// The same as floats: a[i] and b[i] are a pair.
template <int kWidth>
struct Pairs {
    float a[kWidth];
    float b[kWidth];

    /// @param side_by_side  a pair's numbers are neighbours
    template <class T>
    __device__ __forceinline__ Pairs(const Loaded<T, kWidth>& loaded,
                                     bool side_by_side) {
        loaded.first.unpack(a);
        loaded.second.unpack(b);
        if (kWidth > 1 && side_by_side) {
            const Pairs row = *this;
#pragma unroll
            for (int i = 0; i < kWidth; ++i) {
                a[i] = 2 * i < kWidth ? row.a[2 * i] : row.b[2 * i - kWidth];
                b[i] = 2 * i < kWidth ? row.a[2 * i + 1] : row.b[2 * i + 1 - kWidth];
            }
        }
    }

    /// Times a factor, where they belong in a head.
    template <class Stored>
    __device__ __forceinline__ void store(Stored* head,
                                          const Places& at,
                                          bool side_by_side,
                                          float factor) const {
        float low[kWidth];
        float high[kWidth];
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
            if (kWidth > 1 && side_by_side) {
                low[i] = i % 2 == 0 ? a[i / 2] : b[i / 2];
                high[i] = i % 2 == 0 ? a[(kWidth + i) / 2] : b[(kWidth + i) / 2];
            } else {
                low[i] = a[i];
                high[i] = b[i];
            }
            low[i] *= factor;
            high[i] *= factor;
        }
        store_numbers(head + at.first, low);
        store_numbers(head + at.second, high);
    }
};

/// Whether eight pairs at a time are whole vectors.
template <class T, class Stored>
bool has_vectors(const RopeAppend<T, Stored>& call) {
    return call.rotary_dim % 16 == 0;
}
// #endregion pairs
