/// simt/thrust/elementwise.h: algorithms that treat each element by itself.
#pragma once
#include <iterator>
#include <utility>

#include "simt/thrust/iterators.h"
#include "simt/thrust/policy.h"

namespace thrust {
namespace steps {
/// Copies [first, last) to out, ascending; returns the end of what was written.
template <class In, class Out>
Out copy(In first, In last, Out out) {
    for (; first != last; ++first, ++out)
        *out = *first;
    return out;
}
template <class In, class Size, class Out>
Out copy_n(In first, Size n, Out out) {
    for (Size i = 0; i < n; ++i, ++first, ++out)
        *out = *first;
    return out;
}
template <class It, class T>
void fill(It first, It last, const T& value) {
    for (; first != last; ++first)
        *first = value;
}
template <class It, class Size, class T>
It fill_n(It first, Size n, const T& value) {
    for (Size i = 0; i < n; ++i, ++first)
        *first = value;
    return first;
}
template <class In, class Out>
Out uninitialized_copy(In first, In last, Out out) {
    return steps::copy(first, last, out);
}
template <class It, class T>
void uninitialized_fill(It first, It last, const T& value) {
    steps::fill(first, last, value);
}
/// start, start + step, start + 2 * step, …
template <class It, class T>
void sequence(It first, It last, T start, T step) {
    for (detail::Value<It> i = 0; first != last; ++first, ++i)
        *first = static_cast<detail::Value<It>>(start + i * step);
}
template <class It, class T>
void sequence(It first, It last, T start) {
    steps::sequence(first, last, start, T(1));
}
template <class It>
void sequence(It first, It last) {
    steps::sequence(first, last, detail::Value<It>(0));
}
/// f(0), f(1), f(2), …
template <class It, class F>
void tabulate(It first, It last, F f) {
    for (std::ptrdiff_t i = 0; first != last; ++first, ++i)
        *first = f(i);
}
template <class It, class F>
void generate(It first, It last, F f) {
    for (; first != last; ++first)
        *first = f();
}
template <class It, class Size, class F>
It generate_n(It first, Size n, F f) {
    for (Size i = 0; i < n; ++i, ++first)
        *first = f();
    return first;
}
template <class It, class F>
It for_each(It first, It last, F f) {
    for (; first != last; ++first)
        f(*first);
    return first;
}
template <class It, class Size, class F>
It for_each_n(It first, Size n, F f) {
    for (Size i = 0; i < n; ++i, ++first)
        f(*first);
    return first;
}

template <class In, class Out, class F>
Out transform(In first, In last, Out out, F f) {
    for (; first != last; ++first, ++out)
        *out = f(*first);
    return out;
}
template <class In1, class In2, class Out, class F>
Out transform(In1 first, In1 last, In2 second, Out out, F f) {
    for (; first != last; ++first, ++second, ++out)
        *out = f(*first, *second);
    return out;
}
/// Transforms where predicate(element) holds; the rest of out stays.
template <class In, class Out, class F, class Predicate>
Out transform_if(In first, In last, Out out, F f, Predicate predicate) {
    for (; first != last; ++first, ++out) {
        if (predicate(*first)) *out = f(*first);
    }
    return out;
}
/// Transforms where predicate(stencil element) holds.
template <class In, class Stencil, class Out, class F, class Predicate>
Out transform_if(In first, In last, Stencil stencil, Out out, F f,
                 Predicate predicate) {
    for (; first != last; ++first, ++stencil, ++out) {
        if (predicate(*stencil)) *out = f(*first);
    }
    return out;
}
template <class In1, class In2, class Stencil, class Out, class F, class Predicate>
Out transform_if(In1 first, In1 last, In2 second, Stencil stencil, Out out, F f,
                 Predicate predicate) {
    for (; first != last; ++first, ++second, ++stencil, ++out) {
        if (predicate(*stencil)) *out = f(*first, *second);
    }
    return out;
}

/// out[i] = in[map[i]]
template <class Map, class In, class Out>
Out gather(Map first, Map last, In in, Out out) {
    for (; first != last; ++first, ++out)
        *out = in[static_cast<std::ptrdiff_t>(*first)];
    return out;
}
/// out[i] = in[map[i]] where predicate(stencil[i])
template <class Map, class Stencil, class In, class Out, class Predicate>
Out gather_if(Map first, Map last, Stencil stencil, In in, Out out,
              Predicate predicate) {
    for (; first != last; ++first, ++stencil, ++out) {
        if (predicate(*stencil)) *out = in[static_cast<std::ptrdiff_t>(*first)];
    }
    return out;
}
/// out[map[i]] = in[i]
template <class In, class Map, class Out>
void scatter(In first, In last, Map map, Out out) {
    for (; first != last; ++first, ++map)
        out[static_cast<std::ptrdiff_t>(*map)] = *first;
}
/// out[map[i]] = in[i] where predicate(stencil[i])
template <class In, class Map, class Stencil, class Out, class Predicate>
void scatter_if(In first, In last, Map map, Stencil stencil, Out out,
                Predicate predicate) {
    for (; first != last; ++first, ++map, ++stencil) {
        if (predicate(*stencil)) out[static_cast<std::ptrdiff_t>(*map)] = *first;
    }
}
template <class In, class Map, class Stencil, class Out>
void scatter_if(In first, In last, Map map, Stencil stencil, Out out) {
    steps::scatter_if(first, last, map, stencil, out,
                      [](const auto& x) { return bool(x); });
}

template <class It, class T>
void replace(It first, It last, const T& old, const T& value) {
    for (; first != last; ++first) {
        if (*first == old) *first = value;
    }
}
template <class In, class Stencil, class Out, class Predicate, class T>
Out replace_copy_if(In first, In last, Stencil stencil, Out out, Predicate predicate,
                    const T& value) {
    for (; first != last; ++first, ++stencil, ++out) {
        if (predicate(*stencil))
            *out = value;
        else
            *out = *first;
    }
    return out;
}
template <class In, class Out, class Predicate, class T>
Out replace_copy_if(In first, In last, Out out, Predicate predicate, const T& value) {
    return steps::replace_copy_if(first, last, first, out, predicate, value);
}
template <class It, class Predicate, class T>
void replace_if(It first, It last, Predicate predicate, const T& value) {
    steps::replace_copy_if(first, last, first, predicate, value);
}
template <class It, class Stencil, class Predicate, class T>
void replace_if(It first, It last, Stencil stencil, Predicate predicate,
                const T& value) {
    steps::replace_copy_if(first, last, stencil, first, predicate, value);
}
template <class In, class Out, class T>
Out replace_copy(In first, In last, Out out, const T& old_value, const T& value) {
    return steps::replace_copy_if(
        first, last, out, [&](const auto& x) { return x == old_value; }, value);
}
template <class It1, class It2>
It2 swap_ranges(It1 first, It1 last, It2 second) {
    for (; first != last; ++first, ++second) {
        detail::Value<It1> kept = *first;
        *first = *second;
        *second = kept;
    }
    return second;
}
template <class It>
void reverse(It first, It last) {
    for (auto n = last - first; n > 1; n -= 2, ++first) {
        --last;
        detail::Value<It> kept = *first;
        *first = *last;
        *last = kept;
    }
}
template <class In, class Out>
Out reverse_copy(In first, In last, Out out) {
    for (; first != last; ++out)
        *out = *--last;
    return out;
}

SIMT_THRUST_ALGORITHM(copy)
SIMT_THRUST_ALGORITHM(copy_n)
SIMT_THRUST_ALGORITHM(fill)
SIMT_THRUST_ALGORITHM(fill_n)
SIMT_THRUST_ALGORITHM(uninitialized_copy)
SIMT_THRUST_ALGORITHM(uninitialized_fill)
SIMT_THRUST_ALGORITHM(sequence)
SIMT_THRUST_ALGORITHM(tabulate)
SIMT_THRUST_ALGORITHM(generate)
SIMT_THRUST_ALGORITHM(generate_n)
SIMT_THRUST_ALGORITHM(for_each)
SIMT_THRUST_ALGORITHM(for_each_n)
SIMT_THRUST_ALGORITHM(transform)
SIMT_THRUST_ALGORITHM(transform_if)
SIMT_THRUST_ALGORITHM(gather)
SIMT_THRUST_ALGORITHM(gather_if)
SIMT_THRUST_ALGORITHM(scatter)
SIMT_THRUST_ALGORITHM(scatter_if)
SIMT_THRUST_ALGORITHM(replace)
SIMT_THRUST_ALGORITHM(replace_copy)
SIMT_THRUST_ALGORITHM(replace_copy_if)
SIMT_THRUST_ALGORITHM(replace_if)
SIMT_THRUST_ALGORITHM(swap_ranges)
SIMT_THRUST_ALGORITHM(reverse)
SIMT_THRUST_ALGORITHM(reverse_copy)
}  // namespace steps
}  // namespace thrust
