/// simt/thrust/functional.h: function objects, and the placeholders _1, _2, _3.
#pragma once
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace thrust {
using std::bit_and;
using std::bit_or;
using std::bit_xor;
using std::divides;
using std::equal_to;
using std::greater;
using std::greater_equal;
using std::less;
using std::less_equal;
using std::logical_and;
using std::logical_not;
using std::logical_or;
using std::minus;
using std::modulus;
using std::multiplies;
using std::negate;
using std::not_equal_to;
using std::not_fn;
using std::plus;

/// x
template <class T = void>
struct identity {
    constexpr const T& operator()(const T& x) const { return x; }
};
template <>
struct identity<void> {
    template <class T>
    constexpr T&& operator()(T&& x) const {
        return std::forward<T>(x);
    }
};
/// x * x
template <class T = void>
struct square {
    constexpr T operator()(const T& x) const { return x * x; }
};
/// The larger one, the first if they are equal.
template <class T = void>
struct maximum {
    constexpr T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
/// The smaller one, the first if they are equal.
template <class T = void>
struct minimum {
    constexpr T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
template <>
struct maximum<void> {
    template <class T, class U>
    constexpr auto operator()(const T& a, const U& b) const {
        return a < b ? b : a;
    }
};
template <>
struct minimum<void> {
    template <class T, class U>
    constexpr auto operator()(const T& a, const U& b) const {
        return b < a ? b : a;
    }
};
/// The negation of a predicate.
template <class Predicate>
auto not1(Predicate predicate) {
    return std::not_fn(predicate);
}
template <class T = void, class U = void>
struct project1st {
    constexpr T operator()(const T& a, const U&) const { return a; }
};
template <class T = void, class U = void>
struct project2nd {
    constexpr U operator()(const T&, const U& b) const { return b; }
};

/// Bases of function objects in old programs; they name the types.
template <class Argument, class Result>
struct unary_function {
    using argument_type = Argument;
    using result_type = Result;
};
template <class First, class Second, class Result>
struct binary_function {
    using first_argument_type = First;
    using second_argument_type = Second;
    using result_type = Result;
};

template <class T>
constexpr const T& max(const T& a, const T& b) {
    return a < b ? b : a;
}
template <class T>
constexpr const T& min(const T& a, const T& b) {
    return b < a ? b : a;
}
template <class T, class Less>
constexpr const T& max(const T& a, const T& b, Less less) {
    return less(a, b) ? b : a;
}
template <class T, class Less>
constexpr const T& min(const T& a, const T& b, Less less) {
    return less(b, a) ? b : a;
}

namespace detail {
/// An expression of placeholders: a function object made of `F`, which takes the
/// arguments as a tuple.
template <class F>
struct Expression {
    F f;
    template <class... Args>
    constexpr decltype(auto) operator()(Args&&... args) const {
        return f(std::forward_as_tuple(std::forward<Args>(args)...));
    }
};
template <class T>
struct IsExpression : std::false_type {};
template <class F>
struct IsExpression<Expression<F>> : std::true_type {};
template <class... T>
concept AnyExpression = (IsExpression<std::remove_cvref_t<T>>::value || ...);

/// The I-th argument.
template <size_t I>
struct Argument {
    template <class Tuple>
    constexpr decltype(auto) operator()(Tuple&& args) const {
        return std::get<I>(std::forward<Tuple>(args));
    }
};
/// The value of an operand: of an expression for these arguments, or of a constant.
template <class T, class Tuple>
constexpr decltype(auto) evaluate(const T& operand, Tuple&& args) {
    if constexpr (IsExpression<T>::value)
        return operand.f(std::forward<Tuple>(args));
    else
        return operand;
}
}  // namespace detail

namespace placeholders {
inline constexpr detail::Expression<detail::Argument<0>> _1{};
inline constexpr detail::Expression<detail::Argument<1>> _2{};
inline constexpr detail::Expression<detail::Argument<2>> _3{};
inline constexpr detail::Expression<detail::Argument<3>> _4{};
}  // namespace placeholders

namespace detail {
#define SIMT_THRUST_BINARY(op)                             \
    template <class A, class B>                            \
    requires AnyExpression<A, B>                           \
    constexpr auto operator op(const A& a, const B& b) {   \
        auto f = [a, b](auto&& args) -> decltype(auto) {   \
            return evaluate(a, args) op evaluate(b, args); \
        };                                                 \
        return Expression<decltype(f)>{f};                 \
    }
SIMT_THRUST_BINARY(+)
SIMT_THRUST_BINARY(-)
SIMT_THRUST_BINARY(*)
SIMT_THRUST_BINARY(/)
SIMT_THRUST_BINARY(%)
SIMT_THRUST_BINARY(&)
SIMT_THRUST_BINARY(|)
SIMT_THRUST_BINARY(^)
SIMT_THRUST_BINARY(<<)
SIMT_THRUST_BINARY(>>)
SIMT_THRUST_BINARY(<)
SIMT_THRUST_BINARY(<=)
SIMT_THRUST_BINARY(>)
SIMT_THRUST_BINARY(>=)
SIMT_THRUST_BINARY(==)
SIMT_THRUST_BINARY(!=)
SIMT_THRUST_BINARY(&&)
SIMT_THRUST_BINARY(||)
SIMT_THRUST_BINARY(+=)
SIMT_THRUST_BINARY(-=)
SIMT_THRUST_BINARY(*=)
#undef SIMT_THRUST_BINARY
#define SIMT_THRUST_UNARY(op)                                                         \
    template <class A>                                                                \
    requires AnyExpression<A>                                                         \
    constexpr auto operator op(const A& a) {                                          \
        auto f = [a](auto&& args) -> decltype(auto) { return op evaluate(a, args); }; \
        return Expression<decltype(f)>{f};                                            \
    }
SIMT_THRUST_UNARY(-)
SIMT_THRUST_UNARY(!)
SIMT_THRUST_UNARY(~)
#undef SIMT_THRUST_UNARY
}  // namespace detail
}  // namespace thrust
