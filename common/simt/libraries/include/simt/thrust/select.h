/// simt/thrust/select.h: algorithms that keep, drop or join elements.
#pragma once
#include <utility>
#include <vector>

#include "simt/thrust/elementwise.h"
#include "simt/thrust/functional.h"

namespace thrust {
namespace steps {
/// Copies the elements for which predicate(stencil element) holds, in their order.
template <class In, class Stencil, class Out, class Predicate>
Out copy_if(In first, In last, Stencil stencil, Out out, Predicate predicate) {
    for (; first != last; ++first, ++stencil) {
        if (!predicate(*stencil)) continue;
        *out = *first;
        ++out;
    }
    return out;
}
template <class In, class Out, class Predicate>
Out copy_if(In first, In last, Out out, Predicate predicate) {
    return steps::copy_if(first, last, first, out, predicate);
}
/// Copies the elements for which the predicate does not hold.
template <class In, class Stencil, class Out, class Predicate>
Out remove_copy_if(In first, In last, Stencil stencil, Out out, Predicate predicate) {
    return steps::copy_if(first, last, stencil, out,
                          [&](const auto& x) { return !predicate(x); });
}
template <class In, class Out, class Predicate>
Out remove_copy_if(In first, In last, Out out, Predicate predicate) {
    return steps::remove_copy_if(first, last, first, out, predicate);
}
/// Moves the elements that stay to the front; returns their end.
template <class It, class Predicate>
It remove_if(It first, It last, Predicate predicate) {
    return steps::remove_copy_if(first, last, first, predicate);
}
template <class It, class Stencil, class Predicate>
It remove_if(It first, It last, Stencil stencil, Predicate predicate) {
    return steps::remove_copy_if(first, last, stencil, first, predicate);
}
template <class It, class T>
It remove(It first, It last, const T& value) {
    return steps::remove_if(first, last, [&](const auto& x) { return x == value; });
}
template <class In, class Out, class T>
Out remove_copy(In first, In last, Out out, const T& value) {
    return steps::remove_copy_if(first, last, out,
                                 [&](const auto& x) { return x == value; });
}

/// Elements for which the predicate holds go to one output, the others to another.
template <class In, class Out1, class Out2, class Predicate>
std::pair<Out1, Out2> stable_partition_copy(In first, In last, Out1 yes, Out2 no,
                                            Predicate predicate) {
    for (; first != last; ++first) {
        if (predicate(*first)) {
            *yes = *first;
            ++yes;
        } else {
            *no = *first;
            ++no;
        }
    }
    return {yes, no};
}
template <class In, class Out1, class Out2, class Predicate>
std::pair<Out1, Out2> partition_copy(In first, In last, Out1 yes, Out2 no,
                                     Predicate predicate) {
    return steps::stable_partition_copy(first, last, yes, no, predicate);
}
/// Brings the elements for which the predicate holds to the front; returns their end.
template <class It, class Stencil, class Predicate>
It stable_partition(It first, It last, Stencil stencil, Predicate predicate) {
    std::vector<detail::Value<It>> rest;
    It out = first;
    for (; first != last; ++first, ++stencil) {
        if (predicate(*stencil)) {
            *out = *first;
            ++out;
        } else {
            rest.push_back(*first);
        }
    }
    steps::copy(rest.begin(), rest.end(), out);
    return out;
}
template <class It, class Predicate>
It stable_partition(It first, It last, Predicate predicate) {
    return steps::stable_partition(first, last, first, predicate);
}
template <class It, class Stencil, class Predicate>
It partition(It first, It last, Stencil stencil, Predicate predicate) {
    return steps::stable_partition(first, last, stencil, predicate);
}
template <class It, class Predicate>
It partition(It first, It last, Predicate predicate) {
    return steps::stable_partition(first, last, predicate);
}

/// Copies the first of each run of equal keys, with its value.
template <class Keys, class In, class KeysOut, class Out, class Equal>
std::pair<KeysOut, Out> unique_by_key_copy(Keys first, Keys last, In in, KeysOut keys,
                                           Out out, Equal equal) {
    while (first != last) {
        const detail::Value<Keys> key = *first;
        *keys = key;
        *out = *in;
        ++keys;
        ++out;
        do {
            ++first;
            ++in;
        } while (first != last && equal(key, *first));
    }
    return {keys, out};
}
template <class Keys, class In, class KeysOut, class Out>
std::pair<KeysOut, Out> unique_by_key_copy(Keys first, Keys last, In in, KeysOut keys,
                                           Out out) {
    return steps::unique_by_key_copy(first, last, in, keys, out, equal_to<>());
}
template <class Keys, class Values>
std::pair<Keys, Values> unique_by_key(Keys first, Keys last, Values values) {
    return steps::unique_by_key_copy(first, last, values, first, values);
}
template <class Keys, class Values, class Equal>
std::pair<Keys, Values> unique_by_key(Keys first, Keys last, Values values,
                                      Equal equal) {
    return steps::unique_by_key_copy(first, last, values, first, values, equal);
}
template <class In, class Out, class Equal>
Out unique_copy(In first, In last, Out out, Equal equal) {
    return steps::unique_by_key_copy(first, last, first, out, make_discard_iterator(),
                                     equal)
        .first;
}
template <class In, class Out>
Out unique_copy(In first, In last, Out out) {
    return steps::unique_copy(first, last, out, equal_to<>());
}
template <class It, class Equal>
It unique(It first, It last, Equal equal) {
    return steps::unique_copy(first, last, first, equal);
}
template <class It>
It unique(It first, It last) {
    return steps::unique_copy(first, last, first);
}
/// The number of runs of equal elements.
template <class It>
std::ptrdiff_t unique_count(It first, It last) {
    return steps::unique_copy(first, last, make_discard_iterator()) -
           make_discard_iterator();
}

/// The reduction of the values of each run of equal keys.
template <class Keys, class In, class KeysOut, class Out, class Equal, class Op>
std::pair<KeysOut, Out> reduce_by_key(Keys first, Keys last, In in, KeysOut keys,
                                      Out out, Equal equal, Op op) {
    while (first != last) {
        const detail::Value<Keys> key = *first;
        detail::Value<In> sum = *in;
        for (++first, ++in; first != last && equal(key, *first); ++first, ++in)
            sum = op(sum, *in);
        *keys = key;
        *out = sum;
        ++keys;
        ++out;
    }
    return {keys, out};
}
template <class Keys, class In, class KeysOut, class Out, class Equal>
std::pair<KeysOut, Out> reduce_by_key(Keys first, Keys last, In in, KeysOut keys,
                                      Out out, Equal equal) {
    return steps::reduce_by_key(first, last, in, keys, out, equal, plus<>());
}
template <class Keys, class In, class KeysOut, class Out>
std::pair<KeysOut, Out> reduce_by_key(Keys first, Keys last, In in, KeysOut keys,
                                      Out out) {
    return steps::reduce_by_key(first, last, in, keys, out, equal_to<>());
}

SIMT_THRUST_ALGORITHM(copy_if)
SIMT_THRUST_ALGORITHM(remove)
SIMT_THRUST_ALGORITHM(remove_if)
SIMT_THRUST_ALGORITHM(remove_copy)
SIMT_THRUST_ALGORITHM(remove_copy_if)
SIMT_THRUST_ALGORITHM(partition)
SIMT_THRUST_ALGORITHM(partition_copy)
SIMT_THRUST_ALGORITHM(stable_partition)
SIMT_THRUST_ALGORITHM(stable_partition_copy)
SIMT_THRUST_ALGORITHM(unique)
SIMT_THRUST_ALGORITHM(unique_copy)
SIMT_THRUST_ALGORITHM(unique_count)
SIMT_THRUST_ALGORITHM(unique_by_key)
SIMT_THRUST_ALGORITHM(unique_by_key_copy)
SIMT_THRUST_ALGORITHM(reduce_by_key)
}  // namespace steps
}  // namespace thrust
