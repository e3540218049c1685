/// simt/thrust/iterators.h: iterators that compute what they point to.
#pragma once
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include "simt/thrust/pointer.h"
#include "simt/thrust/tuple.h"

namespace thrust {
namespace detail {
/// Gives `Self` the operators of a random access iterator, made from its advance(n),
/// dereference() and distance_to(other).
template <class Self, class Value, class Reference>
class RandomAccess {
 public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = Value;
    using reference = Reference;
    using pointer = void;
    using difference_type = std::ptrdiff_t;

    Reference operator*() const { return self().dereference(); }
    template <class Index>
    Reference operator[](Index i) const {
        return *(self() + static_cast<difference_type>(i));
    }
    Self& operator+=(difference_type n) {
        self().advance(n);
        return self();
    }
    Self& operator-=(difference_type n) { return self() += -n; }
    Self& operator++() { return self() += 1; }
    Self& operator--() { return self() += -1; }
    Self operator++(int) {
        Self old = self();
        ++*this;
        return old;
    }
    Self operator--(int) {
        Self old = self();
        --*this;
        return old;
    }
    friend Self operator+(Self it, difference_type n) { return it += n; }
    friend Self operator+(difference_type n, Self it) { return it += n; }
    friend Self operator-(Self it, difference_type n) { return it += -n; }
    friend difference_type operator-(const Self& a, const Self& b) {
        return b.distance_to(a);
    }
    friend bool operator==(const Self& a, const Self& b) {
        return a.distance_to(b) == 0;
    }
    friend auto operator<=>(const Self& a, const Self& b) {
        return b.distance_to(a) <=> difference_type(0);
    }

 private:
    Self& self() { return static_cast<Self&>(*this); }
    const Self& self() const { return static_cast<const Self&>(*this); }
};

/// An iterator that wraps another one.
template <class Self, class Base, class Value, class Reference>
class Adaptor : public RandomAccess<Self, Value, Reference> {
 public:
    Adaptor() = default;
    explicit Adaptor(Base base) : base_(base) {}
    const Base& base() const { return base_; }
    void advance(std::ptrdiff_t n) { base_ += n; }
    std::ptrdiff_t distance_to(const Self& other) const { return other.base_ - base_; }

 protected:
    Base base_{};
};

template <class It>
using Value = typename std::iterator_traits<It>::value_type;
template <class It>
using Reference = typename std::iterator_traits<It>::reference;
}  // namespace detail

template <class It>
using iterator_value_t = detail::Value<It>;
template <class It>
using iterator_reference_t = detail::Reference<It>;
template <class It>
using iterator_traits = std::iterator_traits<It>;
template <class It>
struct iterator_value {
    using type = detail::Value<It>;
};
template <class It>
struct iterator_reference {
    using type = detail::Reference<It>;
};
template <class It>
struct iterator_difference {
    using type = typename std::iterator_traits<It>::difference_type;
};
using std::advance;
using std::distance;
using std::next;
using std::prev;

/// start, start + 1, start + 2, …
///
/// @tparam System  host_system_tag, device_system_tag: where it is used
template <class T, class System = use_default, class... Rest>
class counting_iterator
    : public detail::RandomAccess<counting_iterator<T, System, Rest...>, T, T> {
 public:
    counting_iterator() = default;
    explicit counting_iterator(T start) : value_(start) {}
    T base() const { return value_; }
    T dereference() const { return value_; }
    void advance(std::ptrdiff_t n) {
        value_ = static_cast<T>(value_ + static_cast<T>(n));
    }
    std::ptrdiff_t distance_to(const counting_iterator& other) const {
        return static_cast<std::ptrdiff_t>(other.value_) -
               static_cast<std::ptrdiff_t>(value_);
    }

 private:
    T value_{};
};
template <class T>
counting_iterator<T> make_counting_iterator(T start) {
    return counting_iterator<T>(start);
}

/// The same value at every position.
template <class T, class Index = use_default, class System = use_default>
class constant_iterator
    : public detail::RandomAccess<constant_iterator<T, Index, System>, T, T> {
 public:
    constant_iterator() = default;
    explicit constant_iterator(T value, std::ptrdiff_t position = 0)
        : value_(value), position_(position) {}
    T dereference() const { return value_; }
    void advance(std::ptrdiff_t n) { position_ += n; }
    std::ptrdiff_t distance_to(const constant_iterator& other) const {
        return other.position_ - position_;
    }

 private:
    T value_{};
    std::ptrdiff_t position_ = 0;
};
template <class T>
constant_iterator<T> make_constant_iterator(T value, std::ptrdiff_t position = 0) {
    return constant_iterator<T>(value, position);
}

namespace detail {
template <class T, class Default>
using Or = std::conditional_t<std::is_same_v<T, use_default>, Default, T>;
template <class F, class Base, class Given>
using Transformed = Or<Given, std::invoke_result_t<F&, Reference<Base>>>;
}  // namespace detail

/// function(*base)
template <class F, class Base, class Result = use_default, class Value = use_default>
class transform_iterator
    : public detail::Adaptor<
          transform_iterator<F, Base, Result, Value>, Base,
          detail::Or<Value, std::remove_cvref_t<detail::Transformed<F, Base, Result>>>,
          detail::Transformed<F, Base, Result>> {
    using Reference = detail::Transformed<F, Base, Result>;
    using Super =
        detail::Adaptor<transform_iterator, Base,
                        detail::Or<Value, std::remove_cvref_t<Reference>>, Reference>;

 public:
    transform_iterator(Base base, F function) : Super(base), function_(function) {}
    explicit transform_iterator(Base base) : Super(base) {}
    transform_iterator(const transform_iterator&) = default;
    /// Assigns the position; functions such as lambdas cannot be assigned.
    transform_iterator& operator=(const transform_iterator& other) {
        this->base_ = other.base_;
        if constexpr (std::is_copy_assignable_v<F>) function_ = other.function_;
        return *this;
    }
    F functor() const { return function_; }
    Reference dereference() const { return function_(*this->base_); }

 private:
    mutable F function_{};  // its operator() need not be const
};
template <class F, class Base>
transform_iterator<F, Base> make_transform_iterator(Base base, F function) {
    return transform_iterator<F, Base>(base, function);
}

/// elements[*index]
template <class Elements, class Index>
class permutation_iterator
    : public detail::Adaptor<permutation_iterator<Elements, Index>, Index,
                             detail::Value<Elements>, detail::Reference<Elements>> {
    using Super = detail::Adaptor<permutation_iterator, Index, detail::Value<Elements>,
                                  detail::Reference<Elements>>;

 public:
    permutation_iterator() = default;
    permutation_iterator(Elements elements, Index index)
        : Super(index), elements_(elements) {}
    detail::Reference<Elements> dereference() const {
        return elements_[static_cast<std::ptrdiff_t>(*this->base_)];
    }

 private:
    Elements elements_{};
};
template <class Elements, class Index>
permutation_iterator<Elements, Index> make_permutation_iterator(Elements elements,
                                                                Index index) {
    return {elements, index};
}

/// A tuple of references to what several iterators point to.
template <class Tuple>
class zip_iterator;
template <class... It>
class zip_iterator<std::tuple<It...>>
    : public detail::RandomAccess<zip_iterator<std::tuple<It...>>,
                                  std::tuple<detail::Value<It>...>,
                                  std::tuple<detail::Reference<It>...>> {
 public:
    zip_iterator() = default;
    zip_iterator(std::tuple<It...> iterators) : iterators_(iterators) {}
    const std::tuple<It...>& get_iterator_tuple() const { return iterators_; }
    std::tuple<detail::Reference<It>...> dereference() const {
        return std::apply(
            [](const It&... it) {
                return std::tuple<detail::Reference<It>...>(*it...);
            },
            iterators_);
    }
    void advance(std::ptrdiff_t n) {
        std::apply([n](It&... it) { ((it += n), ...); }, iterators_);
    }
    std::ptrdiff_t distance_to(const zip_iterator& other) const {
        return std::get<0>(other.iterators_) - std::get<0>(iterators_);
    }

 private:
    std::tuple<It...> iterators_;
};
template <class... It>
zip_iterator<std::tuple<It...>> make_zip_iterator(std::tuple<It...> iterators) {
    return iterators;
}
template <class... It>
zip_iterator<std::tuple<It...>> make_zip_iterator(It... iterators) {
    return std::tuple<It...>(iterators...);
}

/// Calls a function with the elements of a tuple as its arguments.
template <class F>
class zip_function {
 public:
    zip_function(F function) : function_(function) {}
    template <class Tuple>
    decltype(auto) operator()(Tuple&& values) const {
        return std::apply(function_, std::forward<Tuple>(values));
    }

 private:
    F function_;
};
template <class F>
zip_function<F> make_zip_function(F function) {
    return zip_function<F>(function);
}

template <class Base>
using reverse_iterator = std::reverse_iterator<Base>;
template <class Base>
reverse_iterator<Base> make_reverse_iterator(Base base) {
    return reverse_iterator<Base>(base);
}

namespace detail {
/// Accepts any value; passes it to `store`.
template <class Store>
struct Sink {
    Store store;
    template <class T>
    const Sink& operator=(T&& value) const {
        store(std::forward<T>(value));
        return *this;
    }
};
}  // namespace detail

namespace detail {
/// An element that is read and written by functions.
template <class Input, class Output, class Base>
class Transforming {
 public:
    using Value = std::invoke_result_t<Input&, detail::Value<Base>>;
    Transforming(Base base, Input input, Output output)
        : base_(base), input_(input), output_(output) {}
    operator Value() const { return input_(*base_); }
    template <class T>
    const Transforming& operator=(const T& value) const {
        *base_ = output_(value);
        return *this;
    }

 private:
    Base base_;
    mutable Input input_;
    mutable Output output_;
};
}  // namespace detail

/// An output iterator that writes nothing.
template <class System = use_default>
class discard_iterator : public detail::RandomAccess<discard_iterator<System>, int,
                                                     decltype(std::ignore)> {
 public:
    explicit discard_iterator(std::ptrdiff_t position = 0) : position_(position) {}
    auto dereference() const { return std::ignore; }
    void advance(std::ptrdiff_t n) { position_ += n; }
    std::ptrdiff_t distance_to(const discard_iterator& other) const {
        return other.position_ - position_;
    }

 private:
    std::ptrdiff_t position_;
};
inline discard_iterator<> make_discard_iterator(std::ptrdiff_t position = 0) {
    return discard_iterator<>(position);
}

/// An output iterator that writes function(value).
template <class F, class Base>
class transform_output_iterator {
 public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = void;
    using reference = void;
    using pointer = void;
    using difference_type = std::ptrdiff_t;

    transform_output_iterator(Base base, F function)
        : base_(base), function_(function) {}
    auto operator*() const {
        auto store = [it = base_, f = function_](auto&& value) {
            *it = f(std::forward<decltype(value)>(value));
        };
        return detail::Sink<decltype(store)>{store};
    }
    transform_output_iterator& operator++() {
        ++base_;
        return *this;
    }
    friend transform_output_iterator operator+(const transform_output_iterator& it,
                                               std::ptrdiff_t n) {
        return {it.base_ + n, it.function_};
    }

 private:
    Base base_;
    F function_;
};
template <class F, class Base>
transform_output_iterator<F, Base> make_transform_output_iterator(Base base,
                                                                  F function) {
    return {base, function};
}

/// Reads input(*base), writes output(value).
template <class Input, class Output, class Base>
class transform_input_output_iterator
    : public detail::Adaptor<
          transform_input_output_iterator<Input, Output, Base>, Base,
          std::remove_cvref_t<std::invoke_result_t<Input&, detail::Value<Base>>>,
          detail::Transforming<Input, Output, Base>> {
    using Reference = detail::Transforming<Input, Output, Base>;
    using Super =
        detail::Adaptor<transform_input_output_iterator, Base,
                        std::remove_cvref_t<typename Reference::Value>, Reference>;

 public:
    transform_input_output_iterator(Base base, Input input, Output output)
        : Super(base), input_(input), output_(output) {}
    Reference dereference() const { return {this->base_, input_, output_}; }

 private:
    Input input_;
    Output output_;
};
template <class Input, class Output, class Base>
transform_input_output_iterator<Input, Output, Base>
make_transform_input_output_iterator(Base base, Input input, Output output) {
    return {base, input, output};
}

namespace detail {
template <class T, class System, class... Rest>
inline constexpr Place place_of<counting_iterator<T, System, Rest...>> =
    place_of_system<System>;
template <class T, class Index, class System>
inline constexpr Place place_of<constant_iterator<T, Index, System>> =
    place_of_system<System>;
template <class Input, class Output, class Base>
inline constexpr Place place_of<transform_input_output_iterator<Input, Output, Base>> =
    place_of<Base>;
template <class System>
inline constexpr Place place_of<discard_iterator<System>> = place_of_system<System>;
template <class F, class Base, class Result, class Value>
inline constexpr Place place_of<transform_iterator<F, Base, Result, Value>> =
    place_of<Base>;
template <class Elements, class Index>
inline constexpr Place place_of<permutation_iterator<Elements, Index>> =
    place_of_all<Elements, Index>;
template <class... It>
inline constexpr Place place_of<zip_iterator<std::tuple<It...>>> = place_of_all<It...>;
template <class F, class Base>
inline constexpr Place place_of<transform_output_iterator<F, Base>> = place_of<Base>;
}  // namespace detail
}  // namespace thrust
