/// simt/thrust/scan.h: prefix sums, of whole sequences and of segments with equal keys.
///
/// Output may be the input: each element is read before its place is written.
#pragma once
#include <utility>

#include "simt/thrust/functional.h"
#include "simt/thrust/iterators.h"
#include "simt/thrust/policy.h"

namespace thrust {
namespace steps {
/// out[i] = f(in[0]) op … op f(in[i])
template <class In, class Out, class F, class Op>
Out transform_inclusive_scan(In first, In last, Out out, F f, Op op) {
    if (first == last) return out;
    auto sum = f(detail::Value<In>(*first));
    *out = sum;
    for (++first, ++out; first != last; ++first, ++out) {
        sum = op(sum, f(*first));
        *out = sum;
    }
    return out;
}
/// out[i] = init op f(in[0]) op … op f(in[i - 1])
template <class In, class Out, class F, class T, class Op>
Out transform_exclusive_scan(In first, In last, Out out, F f, T init, Op op) {
    T sum = init;
    for (; first != last; ++first, ++out) {
        T next = op(sum, f(*first));
        *out = sum;
        sum = next;
    }
    return out;
}
template <class In, class Out, class Op>
Out inclusive_scan(In first, In last, Out out, Op op) {
    using T = detail::Value<In>;
    return steps::transform_inclusive_scan(first, last, out, identity<T>(), op);
}
template <class In, class Out>
Out inclusive_scan(In first, In last, Out out) {
    return steps::inclusive_scan(first, last, out, plus<>());
}
template <class In, class Out, class T, class Op>
Out exclusive_scan(In first, In last, Out out, T init, Op op) {
    using V = detail::Value<In>;
    return steps::transform_exclusive_scan(first, last, out, identity<V>(), init, op);
}
template <class In, class Out, class T>
Out exclusive_scan(In first, In last, Out out, T init) {
    return steps::exclusive_scan(first, last, out, init, plus<>());
}
template <class In, class Out>
Out exclusive_scan(In first, In last, Out out) {
    return steps::exclusive_scan(first, last, out, detail::Value<In>());
}

/// An inclusive scan that starts anew where the key differs from the one before.
template <class Keys, class In, class Out, class Equal, class Op>
Out inclusive_scan_by_key(Keys first, Keys last, In in, Out out, Equal equal, Op op) {
    if (first == last) return out;
    detail::Value<Keys> key = *first;
    detail::Value<In> sum = *in;
    *out = sum;
    for (++first, ++in, ++out; first != last; ++first, ++in, ++out) {
        const detail::Value<Keys> next = *first;
        if (equal(key, next))
            sum = op(sum, *in);
        else
            sum = *in;
        key = next;
        *out = sum;
    }
    return out;
}
template <class Keys, class In, class Out, class Equal>
Out inclusive_scan_by_key(Keys first, Keys last, In in, Out out, Equal equal) {
    return steps::inclusive_scan_by_key(first, last, in, out, equal, plus<>());
}
template <class Keys, class In, class Out>
Out inclusive_scan_by_key(Keys first, Keys last, In in, Out out) {
    return steps::inclusive_scan_by_key(first, last, in, out, equal_to<>());
}
/// An exclusive scan that starts anew, with init, where the key changes.
template <class Keys, class In, class Out, class T, class Equal, class Op>
Out exclusive_scan_by_key(Keys first, Keys last, In in, Out out, T init, Equal equal,
                          Op op) {
    if (first == last) return out;
    detail::Value<Keys> key = *first;
    T sum = init;
    for (; first != last; ++first, ++in, ++out) {
        const detail::Value<Keys> next = *first;
        if (!equal(key, next)) sum = init;
        key = next;
        T after = op(sum, *in);
        *out = sum;
        sum = after;
    }
    return out;
}
template <class Keys, class In, class Out, class T, class Equal>
Out exclusive_scan_by_key(Keys first, Keys last, In in, Out out, T init, Equal equal) {
    return steps::exclusive_scan_by_key(first, last, in, out, init, equal, plus<>());
}
template <class Keys, class In, class Out, class T>
Out exclusive_scan_by_key(Keys first, Keys last, In in, Out out, T init) {
    return steps::exclusive_scan_by_key(first, last, in, out, init, equal_to<>());
}
template <class Keys, class In, class Out>
Out exclusive_scan_by_key(Keys first, Keys last, In in, Out out) {
    return steps::exclusive_scan_by_key(first, last, in, out, detail::Value<In>());
}

/// out[0] = in[0], out[i] = op(in[i], in[i - 1])
template <class In, class Out, class Op>
Out adjacent_difference(In first, In last, Out out, Op op) {
    if (first == last) return out;
    detail::Value<In> before = *first;
    *out = before;
    for (++first, ++out; first != last; ++first, ++out) {
        const detail::Value<In> here = *first;
        *out = op(here, before);
        before = here;
    }
    return out;
}
template <class In, class Out>
Out adjacent_difference(In first, In last, Out out) {
    return steps::adjacent_difference(first, last, out, minus<>());
}

SIMT_THRUST_ALGORITHM(transform_inclusive_scan)
SIMT_THRUST_ALGORITHM(transform_exclusive_scan)
SIMT_THRUST_ALGORITHM(inclusive_scan)
SIMT_THRUST_ALGORITHM(exclusive_scan)
SIMT_THRUST_ALGORITHM(inclusive_scan_by_key)
SIMT_THRUST_ALGORITHM(exclusive_scan_by_key)
SIMT_THRUST_ALGORITHM(adjacent_difference)
}  // namespace steps
}  // namespace thrust
