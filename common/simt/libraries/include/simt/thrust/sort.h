/// simt/thrust/sort.h: sorting, merging, searching sorted sequences, set operations.
///
/// Every sort is stable.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "simt/thrust/elementwise.h"
#include "simt/thrust/functional.h"

namespace thrust {
namespace detail {
template <class It>
std::vector<Value<It>> values(It first, It last) {
    std::vector<Value<It>> copy;
    copy.reserve(static_cast<size_t>(last - first));
    for (; first != last; ++first)
        copy.push_back(*first);
    return copy;
}
template <class It, class Less>
void sort(It first, It last, Less less) {
    auto sorted = values(first, last);
    std::stable_sort(sorted.begin(), sorted.end(), less);
    steps::copy(sorted.begin(), sorted.end(), first);
}
template <class Keys, class Values, class Less>
void sort_by_key(Keys first, Keys last, Values second, Less less) {
    const auto keys = values(first, last);
    const auto items = values(second, second + (last - first));
    std::vector<size_t> order(keys.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return less(keys[a], keys[b]); });
    for (const size_t from : order) {
        *first++ = keys[from];
        *second++ = items[from];
    }
}
}  // namespace detail

namespace steps {
#define SIMT_THRUST_SORT(name)                                            \
    template <class It, class Less>                                       \
    void name(It first, It last, Less less) {                             \
        detail::sort(first, last, less);                                  \
    }                                                                     \
    template <class It>                                                   \
    void name(It first, It last) {                                        \
        detail::sort(first, last, std::less<>());                         \
    }                                                                     \
    template <class Keys, class Values, class Less>                       \
    void name##_by_key(Keys first, Keys last, Values second, Less less) { \
        detail::sort_by_key(first, last, second, less);                   \
    }                                                                     \
    template <class Keys, class Values>                                   \
    void name##_by_key(Keys first, Keys last, Values second) {            \
        detail::sort_by_key(first, last, second, std::less<>());          \
    }                                                                     \
    SIMT_THRUST_ALGORITHM(name)                                           \
    SIMT_THRUST_ALGORITHM(name##_by_key)
SIMT_THRUST_SORT(sort)
SIMT_THRUST_SORT(stable_sort)
#undef SIMT_THRUST_SORT

/// Merges two sorted sequences; of equal elements those of the first come first.
template <class In1, class In2, class Out, class Less>
Out merge(In1 a, In1 a_end, In2 b, In2 b_end, Out out, Less less) {
    for (; a != a_end && b != b_end; ++out) {
        if (less(*b, *a))
            *out = *b++;
        else
            *out = *a++;
    }
    return steps::copy(b, b_end, steps::copy(a, a_end, out));
}
template <class In1, class In2, class Out>
Out merge(In1 a, In1 a_end, In2 b, In2 b_end, Out out) {
    return steps::merge(a, a_end, b, b_end, out, std::less<>());
}
template <class K1, class K2, class V1, class V2, class KOut, class VOut, class Less>
std::pair<KOut, VOut> merge_by_key(K1 a, K1 a_end, K2 b, K2 b_end, V1 a_value,
                                   V2 b_value, KOut keys, VOut items, Less less) {
    for (; a != a_end || b != b_end; ++keys, ++items) {
        if (a == a_end || (b != b_end && less(*b, *a))) {
            *keys = *b++;
            *items = *b_value++;
        } else {
            *keys = *a++;
            *items = *a_value++;
        }
    }
    return {keys, items};
}
template <class K1, class K2, class V1, class V2, class KOut, class VOut>
std::pair<KOut, VOut> merge_by_key(K1 a, K1 a_end, K2 b, K2 b_end, V1 a_value,
                                   V2 b_value, KOut keys, VOut items) {
    return steps::merge_by_key(a, a_end, b, b_end, a_value, b_value, keys, items,
                               std::less<>());
}

// Searches in the sorted sequence [first, last): of one value, which gives a position,
// and of many values, which writes a number (or bool) for each of them.
#define SIMT_THRUST_SEARCH(name, result)                                 \
    template <class It, class T, class Less>                             \
    requires std::invocable<Less, detail::Value<It>, T>                  \
    auto name(It first, It last, const T& value, Less less) {            \
        return std::name(first, last, value, less);                      \
    }                                                                    \
    template <class It, class In, class Out, class Less>                 \
    Out name(It first, It last, In in, In in_end, Out out, Less less) {  \
        for (; in != in_end; ++in, ++out) {                              \
            const auto found = std::name(first, last, *in, less);        \
            *out = result;                                               \
        }                                                                \
        return out;                                                      \
    }                                                                    \
    template <class It, class T>                                         \
    auto name(It first, It last, const T& value) {                       \
        return std::name(first, last, value);                            \
    }                                                                    \
    template <class It, class In, class Out>                             \
    Out name(It first, It last, In in, In in_end, Out out) {             \
        return steps::name(first, last, in, in_end, out, std::less<>()); \
    }                                                                    \
    SIMT_THRUST_ALGORITHM(name)
SIMT_THRUST_SEARCH(lower_bound, found - first)
SIMT_THRUST_SEARCH(upper_bound, found - first)
SIMT_THRUST_SEARCH(binary_search, found)
#undef SIMT_THRUST_SEARCH
template <class It, class T>
std::pair<It, It> equal_range(It first, It last, const T& value) {
    return {std::lower_bound(first, last, value), std::upper_bound(first, last, value)};
}

// Operations on sorted sequences, as in the standard library.
#define SIMT_THRUST_SET(name)                                                    \
    template <class In1, class In2, class Out, class Less>                       \
    Out name(In1 a, In1 a_end, In2 b, In2 b_end, Out out, Less less) {           \
        const auto x = detail::values(a, a_end);                                 \
        const auto y = detail::values(b, b_end);                                 \
        std::vector<detail::Value<In1>> z;                                       \
        std::name(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(z), \
                  less);                                                         \
        return steps::copy(z.begin(), z.end(), out);                             \
    }                                                                            \
    template <class In1, class In2, class Out>                                   \
    Out name(In1 a, In1 a_end, In2 b, In2 b_end, Out out) {                      \
        return steps::name(a, a_end, b, b_end, out, std::less<>());              \
    }                                                                            \
    SIMT_THRUST_ALGORITHM(name)
SIMT_THRUST_SET(set_union)
SIMT_THRUST_SET(set_intersection)
SIMT_THRUST_SET(set_difference)
SIMT_THRUST_SET(set_symmetric_difference)
#undef SIMT_THRUST_SET

// The same of keys with values: those of the first sequence, of the second, of both.
#define SIMT_THRUST_SET_BY_KEY(name, in_first, in_second, in_both)                     \
    template <class K1, class K2, class V1, class V2, class KOut, class VOut,          \
              class Less>                                                              \
    std::pair<KOut, VOut> name##_by_key(K1 a, K1 a_end, K2 b, K2 b_end, V1 a_value,    \
                                        V2 b_value, KOut keys, VOut items,             \
                                        Less less) {                                   \
        const auto put = [&](auto key, auto value) {                                   \
            *keys = *key, *items = *value;                                             \
            ++keys, ++items;                                                           \
        };                                                                             \
        while (a != a_end || b != b_end) {                                             \
            const bool first = b == b_end || (a != a_end && less(*a, *b));             \
            const bool second = !first && (a == a_end || less(*b, *a));                \
            if (first && in_first) put(a, a_value);                                    \
            if (second && in_second) put(b, b_value);                                  \
            if (!first && !second && in_both) put(a, a_value);                         \
            if (!second) ++a, ++a_value;                                               \
            if (!first) ++b, ++b_value;                                                \
        }                                                                              \
        return {keys, items};                                                          \
    }                                                                                  \
    template <class K1, class K2, class V1, class V2, class KOut, class VOut>          \
    std::pair<KOut, VOut> name##_by_key(K1 a, K1 a_end, K2 b, K2 b_end, V1 a_value,    \
                                        V2 b_value, KOut keys, VOut items) {           \
        return steps::name##_by_key(a, a_end, b, b_end, a_value, b_value, keys, items, \
                                    std::less<>());                                    \
    }
SIMT_THRUST_SET_BY_KEY(set_union, true, true, true)
SIMT_THRUST_SET_BY_KEY(set_difference, true, false, false)
SIMT_THRUST_SET_BY_KEY(set_symmetric_difference, true, true, false)
SIMT_THRUST_SET_BY_KEY(common, false, false, true)
#undef SIMT_THRUST_SET_BY_KEY
/// Here the second sequence has no values.
template <class K1, class K2, class V, class KOut, class VOut, class Less>
std::pair<KOut, VOut> set_intersection_by_key(K1 a, K1 a_end, K2 b, K2 b_end, V value,
                                              KOut keys, VOut items, Less less) {
    return steps::common_by_key(a, a_end, b, b_end, value, b, keys, items, less);
}
template <class K1, class K2, class V, class KOut, class VOut>
std::pair<KOut, VOut> set_intersection_by_key(K1 a, K1 a_end, K2 b, K2 b_end, V value,
                                              KOut keys, VOut items) {
    return steps::set_intersection_by_key(a, a_end, b, b_end, value, keys, items,
                                          std::less<>());
}

SIMT_THRUST_ALGORITHM(set_union_by_key)
SIMT_THRUST_ALGORITHM(set_intersection_by_key)
SIMT_THRUST_ALGORITHM(set_difference_by_key)
SIMT_THRUST_ALGORITHM(set_symmetric_difference_by_key)
SIMT_THRUST_ALGORITHM(merge)
SIMT_THRUST_ALGORITHM(merge_by_key)
SIMT_THRUST_ALGORITHM(equal_range)
}  // namespace steps
}  // namespace thrust
