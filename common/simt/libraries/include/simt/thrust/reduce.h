/// simt/thrust/reduce.h: algorithms whose result is one value or one position.
#pragma once
#include <utility>

#include "simt/thrust/functional.h"
#include "simt/thrust/iterators.h"
#include "simt/thrust/policy.h"

namespace thrust {
namespace detail {
/// The sum of value(0) … value(n - 1), n > 0, in pairs: as exact as a GPU's, which a
/// sum from left to right is not.
template <class T, class At, class Op>
T reduce_pairs(std::ptrdiff_t begin, std::ptrdiff_t n, At at, Op op) {
    if (n > 64) {
        const std::ptrdiff_t half = n / 2;
        const T left = reduce_pairs<T>(begin, half, at, op);
        return op(left, reduce_pairs<T>(begin + half, n - half, at, op));
    }
    T sum = at(begin);
    for (std::ptrdiff_t i = 1; i < n; ++i)
        sum = op(sum, at(begin + i));
    return sum;
}
}  // namespace detail

namespace steps {
/// init op element op element …, in any order: op must be associative and commutative.
template <class It, class T, class Op>
T reduce(It first, It last, T init, Op op) {
    const std::ptrdiff_t n = last - first;
    if (n == 0) return init;
    return op(init, detail::reduce_pairs<T>(
                        0, n, [&](auto i) { return static_cast<T>(first[i]); }, op));
}
template <class It, class T>
T reduce(It first, It last, T init) {
    return steps::reduce(first, last, init, plus<T>());
}
template <class It>
detail::Value<It> reduce(It first, It last) {
    return steps::reduce(first, last, detail::Value<It>());
}
/// The reduction of f(element).
template <class It, class F, class T, class Op>
T transform_reduce(It first, It last, F f, T init, Op op) {
    const std::ptrdiff_t n = last - first;
    if (n == 0) return init;
    return op(init, detail::reduce_pairs<T>(
                        0, n, [&](auto i) { return static_cast<T>(f(first[i])); }, op));
}
/// init sum product(a, b) sum …
template <class It1, class It2, class T, class Sum, class Product>
T inner_product(It1 first, It1 last, It2 second, T init, Sum sum, Product product) {
    const std::ptrdiff_t n = last - first;
    if (n == 0) return init;
    const auto at = [&](auto i) {
        return static_cast<T>(product(first[i], second[i]));
    };
    return sum(init, detail::reduce_pairs<T>(0, n, at, sum));
}
template <class It1, class It2, class T>
T inner_product(It1 first, It1 last, It2 second, T init) {
    return steps::inner_product(first, last, second, init, plus<T>(), multiplies<T>());
}

template <class It, class Predicate>
std::ptrdiff_t count_if(It first, It last, Predicate predicate) {
    std::ptrdiff_t n = 0;
    for (; first != last; ++first) {
        if (predicate(*first)) ++n;
    }
    return n;
}
template <class It, class T>
std::ptrdiff_t count(It first, It last, const T& value) {
    return steps::count_if(first, last, [&](const auto& x) { return x == value; });
}

/// The first of the smallest elements.
template <class It, class Less>
It min_element(It first, It last, Less less) {
    It best = first;
    for (; first != last; ++first) {
        if (less(*first, *best)) best = first;
    }
    return best;
}
template <class It>
It min_element(It first, It last) {
    return steps::min_element(first, last, std::less<>());
}
/// The first of the largest elements.
template <class It, class Less>
It max_element(It first, It last, Less less) {
    It best = first;
    for (; first != last; ++first) {
        if (less(*best, *first)) best = first;
    }
    return best;
}
template <class It>
It max_element(It first, It last) {
    return steps::max_element(first, last, std::less<>());
}
template <class It, class Less>
std::pair<It, It> minmax_element(It first, It last, Less less) {
    return {steps::min_element(first, last, less),
            steps::max_element(first, last, less)};
}
template <class It>
std::pair<It, It> minmax_element(It first, It last) {
    return steps::minmax_element(first, last, std::less<>());
}

template <class It, class Predicate>
It find_if(It first, It last, Predicate predicate) {
    while (first != last && !predicate(*first))
        ++first;
    return first;
}
template <class It, class Predicate>
It find_if_not(It first, It last, Predicate predicate) {
    return steps::find_if(first, last, [&](const auto& x) { return !predicate(x); });
}
template <class It, class T>
It find(It first, It last, const T& value) {
    return steps::find_if(first, last, [&](const auto& x) { return x == value; });
}
template <class It, class Predicate>
bool all_of(It first, It last, Predicate predicate) {
    return steps::find_if_not(first, last, predicate) == last;
}
template <class It, class Predicate>
bool any_of(It first, It last, Predicate predicate) {
    return steps::find_if(first, last, predicate) != last;
}
template <class It, class Predicate>
bool none_of(It first, It last, Predicate predicate) {
    return !steps::any_of(first, last, predicate);
}
/// The first position where the two sequences differ.
template <class It1, class It2, class Equal>
std::pair<It1, It2> mismatch(It1 first, It1 last, It2 second, Equal equal) {
    for (; first != last && equal(*first, *second); ++first)
        ++second;
    return {first, second};
}
template <class It1, class It2>
std::pair<It1, It2> mismatch(It1 first, It1 last, It2 second) {
    return steps::mismatch(first, last, second, std::equal_to<>());
}
template <class It1, class It2, class Equal>
bool equal(It1 first, It1 last, It2 second, Equal same) {
    return steps::mismatch(first, last, second, same).first == last;
}
template <class It1, class It2>
bool equal(It1 first, It1 last, It2 second) {
    return steps::equal(first, last, second, std::equal_to<>());
}
/// The first element that is less than the one before it.
template <class It, class Less>
It is_sorted_until(It first, It last, Less less) {
    if (first == last) return last;
    for (It next = first + 1; next != last; ++first, ++next) {
        if (less(*next, *first)) return next;
    }
    return last;
}
template <class It>
It is_sorted_until(It first, It last) {
    return steps::is_sorted_until(first, last, std::less<>());
}
template <class It, class Less>
bool is_sorted(It first, It last, Less less) {
    return steps::is_sorted_until(first, last, less) == last;
}
template <class It>
bool is_sorted(It first, It last) {
    return steps::is_sorted(first, last, std::less<>());
}

SIMT_THRUST_ALGORITHM(reduce)
SIMT_THRUST_ALGORITHM(transform_reduce)
SIMT_THRUST_ALGORITHM(inner_product)
SIMT_THRUST_ALGORITHM(count)
SIMT_THRUST_ALGORITHM(count_if)
SIMT_THRUST_ALGORITHM(min_element)
SIMT_THRUST_ALGORITHM(max_element)
SIMT_THRUST_ALGORITHM(minmax_element)
SIMT_THRUST_ALGORITHM(find)
SIMT_THRUST_ALGORITHM(find_if)
SIMT_THRUST_ALGORITHM(find_if_not)
SIMT_THRUST_ALGORITHM(all_of)
SIMT_THRUST_ALGORITHM(any_of)
SIMT_THRUST_ALGORITHM(none_of)
SIMT_THRUST_ALGORITHM(mismatch)
SIMT_THRUST_ALGORITHM(equal)
SIMT_THRUST_ALGORITHM(is_sorted)
SIMT_THRUST_ALGORITHM(is_sorted_until)
}  // namespace steps
}  // namespace thrust
