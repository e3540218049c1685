/// simt/thrust/tuple.h: tuple and pair are those of the C++ standard library.
#pragma once
#include <tuple>
#include <utility>

namespace thrust {
using std::get;
using std::ignore;
using std::make_pair;
using std::make_tuple;
using std::pair;
using std::tie;
using std::tuple;
using std::tuple_element;
using std::tuple_size;

/// Exchanges two values.
template <class T>
constexpr void swap(T& a, T& b) {
    std::swap(a, b);
}
}  // namespace thrust
