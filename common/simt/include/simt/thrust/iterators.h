/// simt/thrust/iterators.h: thrust's fancy iterators: counting, constant, transform,
/// zip, permutation, discard, reverse.
#pragma once
#include <iterator>
#include <tuple>
#include <type_traits>

namespace thrust {

using std::advance;
using std::distance;
using std::make_reverse_iterator;
using std::next;
using std::prev;
using std::reverse_iterator;
template <class Iterator>
using iterator_value_t = typename std::iterator_traits<Iterator>::value_type;

namespace simt_detail {
/// A random access iterator whose place is a number counted from its start;
/// Derived::at(n) gives the element.
template <class Derived, class Value, class Reference>
class indexed_iterator {
 public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Reference;

    Reference operator*() const { return self().at(index_); }
    Reference operator[](difference_type n) const { return self().at(index_ + n); }
    Derived& operator++() { return *this += 1; }
    Derived& operator--() { return *this -= 1; }
    Derived operator++(int) {
        Derived before = self();
        ++index_;
        return before;
    }
    Derived operator--(int) {
        Derived before = self();
        --index_;
        return before;
    }
    Derived& operator+=(difference_type n) {
        index_ += n;
        return static_cast<Derived&>(*this);
    }
    Derived& operator-=(difference_type n) { return *this += -n; }
    friend Derived operator+(Derived i, difference_type n) { return i += n; }
    friend Derived operator+(difference_type n, Derived i) { return i += n; }
    friend Derived operator-(Derived i, difference_type n) { return i -= n; }
    friend difference_type operator-(const Derived& a, const Derived& b) {
        return a.ahead_of(b) + a.index_ - b.index_;
    }
    friend bool operator==(const Derived& a, const Derived& b) { return a - b == 0; }
    friend auto operator<=>(const Derived& a, const Derived& b) { return a - b <=> 0; }

    /// How far this iterator's start is ahead of the other's.
    difference_type ahead_of(const Derived&) const { return 0; }

 private:
    const Derived& self() const { return static_cast<const Derived&>(*this); }
    difference_type index_ = 0;
};
}  // namespace simt_detail

/// first, first + 1, ...
template <class T>
class counting_iterator
    : public simt_detail::indexed_iterator<counting_iterator<T>, T, T> {
 public:
    counting_iterator() : first_() {}
    explicit counting_iterator(T first) : first_(first) {}
    T at(std::ptrdiff_t n) const { return static_cast<T>(first_ + static_cast<T>(n)); }
    std::ptrdiff_t ahead_of(const counting_iterator& other) const {
        return static_cast<std::ptrdiff_t>(first_) -
               static_cast<std::ptrdiff_t>(other.first_);
    }

 private:
    T first_;
};
template <class T>
counting_iterator<T> make_counting_iterator(T first) {
    return counting_iterator<T>(first);
}

/// value, value, ...
template <class T>
class constant_iterator
    : public simt_detail::indexed_iterator<constant_iterator<T>, T, T> {
 public:
    explicit constant_iterator(T value, std::ptrdiff_t index = 0) : value_(value) {
        *this += index;
    }
    T at(std::ptrdiff_t) const { return value_; }

 private:
    T value_;
};
template <class T>
constant_iterator<T> make_constant_iterator(T value) {
    return constant_iterator<T>(value);
}

/// f(*i), f(*(i + 1)), ...
template <class F, class Iterator>
class transform_iterator
    : public simt_detail::indexed_iterator<
          transform_iterator<F, Iterator>,
          std::decay_t<decltype(std::declval<F>()(*std::declval<Iterator>()))>,
          decltype(std::declval<F>()(*std::declval<Iterator>()))> {
 public:
    transform_iterator(Iterator first, F f) : first_(first), f_(f) {}
    decltype(auto) at(std::ptrdiff_t n) const { return f_(first_[n]); }
    std::ptrdiff_t ahead_of(const transform_iterator& other) const {
        return first_ - other.first_;
    }

 private:
    Iterator first_;
    F f_;
};
template <class Iterator, class F>
transform_iterator<F, Iterator> make_transform_iterator(Iterator first, F f) {
    return {first, f};
}

/// values[*i], values[*(i + 1)], ...
template <class Values, class Indices>
class permutation_iterator : public simt_detail::indexed_iterator<
                                 permutation_iterator<Values, Indices>,
                                 typename std::iterator_traits<Values>::value_type,
                                 typename std::iterator_traits<Values>::reference> {
 public:
    permutation_iterator(Values values, Indices indices)
        : values_(values), indices_(indices) {}
    decltype(auto) at(std::ptrdiff_t n) const {
        return values_[static_cast<std::ptrdiff_t>(indices_[n])];
    }
    std::ptrdiff_t ahead_of(const permutation_iterator& other) const {
        return indices_ - other.indices_;
    }

 private:
    Values values_;
    Indices indices_;
};
template <class Values, class Indices>
permutation_iterator<Values, Indices> make_permutation_iterator(Values values,
                                                                Indices indices) {
    return {values, indices};
}

template <class Tuple>
class zip_iterator;
/// Tuples of references to the elements of several ranges.
template <class... I>
class zip_iterator<std::tuple<I...>>
    : public simt_detail::indexed_iterator<
          zip_iterator<std::tuple<I...>>,
          std::tuple<typename std::iterator_traits<I>::value_type...>,
          std::tuple<typename std::iterator_traits<I>::reference...>> {
 public:
    explicit zip_iterator(std::tuple<I...> firsts) : firsts_(firsts) {}
    std::tuple<typename std::iterator_traits<I>::reference...> at(
        std::ptrdiff_t n) const {
        return std::apply(
            [n](const I&... first) {
                return std::tuple<typename std::iterator_traits<I>::reference...>(
                    first[n]...);
            },
            firsts_);
    }
    std::ptrdiff_t ahead_of(const zip_iterator& other) const {
        return std::get<0>(firsts_) - std::get<0>(other.firsts_);
    }

 private:
    std::tuple<I...> firsts_;
};
template <class... I>
zip_iterator<std::tuple<I...>> make_zip_iterator(std::tuple<I...> firsts) {
    return zip_iterator<std::tuple<I...>>(firsts);
}
template <class First, class Second, class... I>
auto make_zip_iterator(First first, Second second, I... others) {
    return make_zip_iterator(std::make_tuple(first, second, others...));
}

/// Swallows what is assigned.
class discard_iterator
    : public simt_detail::indexed_iterator<discard_iterator, int, int&> {
 public:
    int& at(std::ptrdiff_t) const {
        static thread_local int nowhere;
        return nowhere;
    }
};
inline discard_iterator make_discard_iterator() {
    return {};
}

}  // namespace thrust
