/// simt/thrust/algorithms.h: thrust's algorithms, run by the host over the elements in
/// order.
///
/// Each takes an execution policy as its first argument or does without. Most are those
/// of the standard library; what follows below is thrust's own.
#pragma once
#include <algorithm>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

#include "simt/thrust/iterators.h"
#include "simt/thrust/policy.h"

namespace thrust {

namespace simt_detail {
template <class I>
using value_of = typename std::iterator_traits<I>::value_type;

/// Whether two keys are equal, unless the program says when.
struct same {
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
        return a == b;
    }
};
struct sum {
    template <class A, class B>
    auto operator()(const A& a, const B& b) const {
        return a + b;
    }
};
struct less_than {
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
        return a < b;
    }
};

// An implementation's first parameter is a tag that keeps it from being found by
// accident.
struct tag {};

template <class I, class T = value_of<I>, class Op = sum>
T reduce(tag, I first, I last, T init = T(), Op op = Op()) {
    for (; first != last; ++first) {
        init = op(init, *first);
    }
    return init;
}
template <class I, class F, class T, class Op>
T transform_reduce(tag, I first, I last, F f, T init, Op op) {
    for (; first != last; ++first) {
        init = op(init, f(*first));
    }
    return init;
}
template <class I, class J, class T, class Plus = sum, class Times = std::multiplies<>>
T inner_product(tag, I a, I last, J b, T init, Plus plus = {}, Times times = {}) {
    for (; a != last; ++a, ++b) {
        init = plus(init, times(*a, *b));
    }
    return init;
}
template <class I, class T = value_of<I>>
void sequence(tag, I first, I last, T init = T(0), T step = T(1)) {
    for (T value = init; first != last; ++first, value = value + step) {
        *first = value;
    }
}
template <class I, class F>
void tabulate(tag, I first, I last, F f) {
    for (std::ptrdiff_t i = 0; first != last; ++first, ++i) {
        *first = f(i);
    }
}
template <class I, class F>
I for_each(tag, I first, I last, F f) {
    for (; first != last; ++first) {
        f(*first);
    }
    return first;
}
template <class I, class N, class F>
I for_each_n(tag, I first, N count, F f) {
    return for_each(tag(), first, first + count, f);
}

template <class I, class O, class Op = sum>
O inclusive_scan(tag, I first, I last, O out, Op op = {}) {
    if (first == last) return out;
    value_of<I> total = *first;
    *out = total;
    for (++first, ++out; first != last; ++first, ++out) {
        total = op(total, *first);
        *out = total;
    }
    return out;
}
template <class I, class O, class T = value_of<I>, class Op = sum>
O exclusive_scan(tag, I first, I last, O out, T init = T(), Op op = {}) {
    for (; first != last; ++first, ++out) {
        const value_of<I> value = *first;  // out may be the same range
        *out = init;
        init = op(init, value);
    }
    return out;
}
template <class I, class O, class F, class Op>
O transform_inclusive_scan(tag, I first, I last, O out, F f, Op op) {
    return inclusive_scan(tag(),
                          make_transform_iterator(first, f),
                          make_transform_iterator(last, f),
                          out,
                          op);
}
template <class I, class O, class F, class T, class Op>
O transform_exclusive_scan(tag, I first, I last, O out, F f, T init, Op op) {
    return exclusive_scan(tag(),
                          make_transform_iterator(first, f),
                          make_transform_iterator(last, f),
                          out,
                          init,
                          op);
}
template <class K, class I, class O, class Same = same, class Op = sum>
O inclusive_scan_by_key(tag, K keys, K last, I in, O out, Same equal = {}, Op op = {}) {
    if (keys == last) return out;
    value_of<I> total = *in;
    *out++ = total;
    for (K next = keys; ++next != last; ++keys) {
        ++in;
        total = equal(*keys, *next) ? op(total, *in) : *in;
        *out++ = total;
    }
    return out;
}
template <class K,
          class I,
          class O,
          class T = value_of<I>,
          class Same = same,
          class Op = sum>
O exclusive_scan_by_key(
    tag, K keys, K last, I in, O out, T init = T(), Same equal = {}, Op op = {}) {
    T total = init;
    for (K before = keys; keys != last; ++keys, ++in) {
        if (!equal(*before, *keys)) total = init;
        const value_of<I> value = *in;
        *out++ = total;
        total = op(total, value);
        before = keys;
    }
    return out;
}
template <class K, class I, class KO, class O, class Same = same, class Op = sum>
std::pair<KO, O> reduce_by_key(
    tag, K keys, K last, I in, KO keys_out, O out, Same equal = {}, Op op = {}) {
    while (keys != last) {
        const value_of<K> key = *keys;
        value_of<I> total = *in;
        for (++keys, ++in; keys != last && equal(key, *keys); ++keys, ++in) {
            total = op(total, *in);
        }
        *keys_out++ = key;
        *out++ = total;
    }
    return {keys_out, out};
}

template <class M, class I, class O>
O gather(tag, M map, M last, I in, O out) {
    for (; map != last; ++map, ++out) {
        *out = in[*map];
    }
    return out;
}
template <class I, class M, class O>
void scatter(tag, I first, I last, M map, O out) {
    for (; first != last; ++first, ++map) {
        out[*map] = *first;
    }
}
template <class I, class M, class S, class O>
void scatter_if(tag, I first, I last, M map, S stencil, O out) {
    for (; first != last; ++first, ++map, ++stencil) {
        if (*stencil) out[*map] = *first;
    }
}
template <class I, class S, class O, class Predicate>
O copy_if(tag, I first, I last, S stencil, O out, Predicate predicate) {
    for (; first != last; ++first, ++stencil) {
        if (predicate(*stencil)) *out++ = *first;
    }
    return out;
}
template <class I, class O, class Predicate>
O copy_if(tag, I first, I last, O out, Predicate predicate) {
    return std::copy_if(first, last, out, predicate);
}
template <class I, class O, class F, class Predicate>
O transform_if(tag, I first, I last, O out, F f, Predicate predicate) {
    for (; first != last; ++first, ++out) {
        if (predicate(*first)) *out = f(*first);
    }
    return out;
}

template <class K, class V, class Less = less_than>
void stable_sort_by_key(tag, K keys, K last, V values, Less less = {}) {
    const std::vector<value_of<K>> old_keys(keys, last);
    const std::vector<value_of<V>> old_values(values, values + (last - keys));
    std::vector<size_t> order(old_keys.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return less(old_keys[a], old_keys[b]);
    });
    for (const size_t from : order) {
        *keys++ = old_keys[from];
        *values++ = old_values[from];
    }
}
template <class K, class V, class Less = less_than>
void sort_by_key(tag, K keys, K last, V values, Less less = {}) {
    stable_sort_by_key(tag(), keys, last, values, less);
}
template <class K, class V, class Same = same>
std::pair<K, V> unique_by_key(tag, K keys, K last, V values, Same equal = {}) {
    if (keys == last) return {keys, values};
    K kept = keys;
    V kept_value = values;
    while (++keys != last) {
        ++values;
        if (equal(*kept, *keys)) continue;
        *++kept = *keys;
        *++kept_value = *values;
    }
    return {++kept, ++kept_value};
}

// Searches for one value, or for each of a range of values.
#define SIMT_THRUST_SEARCH(NAME, RESULT)                                \
    template <class I, class T>                                         \
    auto NAME(tag, I first, I last, const T& value) {                   \
        return std::NAME(first, last, value);                           \
    }                                                                   \
    template <class I, class T, class Less>                             \
    requires(!std::input_iterator<T>) auto NAME(                        \
        tag, I first, I last, const T& value, Less less) {              \
        return std::NAME(first, last, value, less);                     \
    }                                                                   \
    template <class I, class V, class O, class Less = less_than>        \
    requires(std::input_iterator<V>) O NAME(                            \
        tag, I first, I last, V values, V end, O out, Less less = {}) { \
        for (; values != end; ++values, ++out) {                        \
            *out = RESULT;                                              \
        }                                                               \
        return out;                                                     \
    }
SIMT_THRUST_SEARCH(lower_bound, std::lower_bound(first, last, *values, less) - first)
SIMT_THRUST_SEARCH(upper_bound, std::upper_bound(first, last, *values, less) - first)
SIMT_THRUST_SEARCH(binary_search, std::binary_search(first, last, *values, less))
#undef SIMT_THRUST_SEARCH
}  // namespace simt_detail

/// Declares thrust::NAME, which drops a policy and calls FUNCTION with the other
/// arguments.
#define SIMT_THRUST_ALGORITHM(NAME, FUNCTION, ...)                      \
    template <class First, class... Rest>                               \
    auto NAME(const First& first, const Rest&... rest) {                \
        if constexpr (simt_detail::is_policy<First>) {                  \
            return FUNCTION(__VA_ARGS__ __VA_OPT__(, ) rest...);        \
        } else {                                                        \
            return FUNCTION(__VA_ARGS__ __VA_OPT__(, ) first, rest...); \
        }                                                               \
    }
#define SIMT_THRUST_OWN(NAME) \
    SIMT_THRUST_ALGORITHM(NAME, simt_detail::NAME, simt_detail::tag())
#define SIMT_THRUST_STD(NAME) SIMT_THRUST_ALGORITHM(NAME, std::NAME)

SIMT_THRUST_OWN(reduce)
SIMT_THRUST_OWN(transform_reduce)
SIMT_THRUST_OWN(inner_product)
SIMT_THRUST_OWN(sequence)
SIMT_THRUST_OWN(tabulate)
SIMT_THRUST_OWN(for_each)
SIMT_THRUST_OWN(for_each_n)
SIMT_THRUST_OWN(inclusive_scan)
SIMT_THRUST_OWN(exclusive_scan)
SIMT_THRUST_OWN(transform_inclusive_scan)
SIMT_THRUST_OWN(transform_exclusive_scan)
SIMT_THRUST_OWN(inclusive_scan_by_key)
SIMT_THRUST_OWN(exclusive_scan_by_key)
SIMT_THRUST_OWN(reduce_by_key)
SIMT_THRUST_OWN(gather)
SIMT_THRUST_OWN(scatter)
SIMT_THRUST_OWN(scatter_if)
SIMT_THRUST_OWN(copy_if)
SIMT_THRUST_OWN(transform_if)
SIMT_THRUST_OWN(sort_by_key)
SIMT_THRUST_OWN(stable_sort_by_key)
SIMT_THRUST_OWN(unique_by_key)
SIMT_THRUST_OWN(lower_bound)
SIMT_THRUST_OWN(upper_bound)
SIMT_THRUST_OWN(binary_search)
SIMT_THRUST_STD(adjacent_difference)
SIMT_THRUST_STD(all_of)
SIMT_THRUST_STD(any_of)
SIMT_THRUST_STD(copy)
SIMT_THRUST_STD(copy_n)
SIMT_THRUST_STD(count)
SIMT_THRUST_STD(count_if)
SIMT_THRUST_STD(equal)
SIMT_THRUST_STD(fill)
SIMT_THRUST_STD(fill_n)
SIMT_THRUST_STD(find)
SIMT_THRUST_STD(find_if)
SIMT_THRUST_STD(find_if_not)
SIMT_THRUST_STD(generate)
SIMT_THRUST_STD(generate_n)
SIMT_THRUST_STD(is_partitioned)
SIMT_THRUST_STD(is_sorted)
SIMT_THRUST_STD(is_sorted_until)
SIMT_THRUST_STD(max_element)
SIMT_THRUST_STD(merge)
SIMT_THRUST_STD(min_element)
SIMT_THRUST_STD(minmax_element)
SIMT_THRUST_STD(mismatch)
SIMT_THRUST_STD(none_of)
SIMT_THRUST_STD(partition)
SIMT_THRUST_STD(partition_copy)
SIMT_THRUST_STD(remove)
SIMT_THRUST_STD(remove_copy)
SIMT_THRUST_STD(remove_copy_if)
SIMT_THRUST_STD(remove_if)
SIMT_THRUST_STD(replace)
SIMT_THRUST_STD(replace_if)
SIMT_THRUST_STD(reverse)
SIMT_THRUST_STD(reverse_copy)
SIMT_THRUST_STD(set_difference)
SIMT_THRUST_STD(set_intersection)
SIMT_THRUST_STD(set_symmetric_difference)
SIMT_THRUST_STD(set_union)
SIMT_THRUST_STD(sort)
SIMT_THRUST_STD(stable_partition)
SIMT_THRUST_STD(stable_sort)
SIMT_THRUST_STD(swap_ranges)
SIMT_THRUST_STD(transform)
SIMT_THRUST_STD(uninitialized_copy)
SIMT_THRUST_STD(uninitialized_fill)
SIMT_THRUST_STD(unique)
SIMT_THRUST_STD(unique_copy)

#undef SIMT_THRUST_STD
#undef SIMT_THRUST_OWN
#undef SIMT_THRUST_ALGORITHM

}  // namespace thrust
