/// simt/thrust/functional.h: thrust's function objects, and placeholders such as 2 * _1
/// + _2.
#pragma once
#include <functional>
#include <tuple>
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
using std::plus;

using std::get;
using std::make_pair;
using std::make_tuple;
using std::pair;
using std::swap;
using std::tie;
using std::tuple;
using std::tuple_element;
using std::tuple_size;

#define SIMT_THRUST_FUNCTOR(NAME, PARAMETERS, EXPRESSION)              \
    template <class T = void>                                          \
    struct NAME {                                                      \
        constexpr T operator() PARAMETERS const { return EXPRESSION; } \
    };                                                                 \
    template <>                                                        \
    struct NAME<void>;
SIMT_THRUST_FUNCTOR(identity, (const T& a), a)
SIMT_THRUST_FUNCTOR(square, (const T& a), a* a)
SIMT_THRUST_FUNCTOR(maximum, (const T& a, const T& b), a < b ? b : a)
SIMT_THRUST_FUNCTOR(minimum, (const T& a, const T& b), b < a ? b : a)
SIMT_THRUST_FUNCTOR(project1st, (const T& a, const T&), a)
SIMT_THRUST_FUNCTOR(project2nd, (const T&, const T& b), b)
#undef SIMT_THRUST_FUNCTOR
template <>
struct identity<void> {
    template <class T>
    constexpr T operator()(T a) const {
        return a;
    }
};
template <>
struct maximum<void> {
    template <class T>
    constexpr T operator()(const T& a, const T& b) const {
        return a < b ? b : a;
    }
};
template <>
struct minimum<void> {
    template <class T>
    constexpr T operator()(const T& a, const T& b) const {
        return b < a ? b : a;
    }
};

/// The negation of a predicate.
template <class Predicate>
auto not_fn(Predicate predicate) {
    return std::not_fn(predicate);
}
template <class Predicate>
auto not1(Predicate predicate) {
    return std::not_fn(predicate);
}

namespace placeholders {
/// A function of the arguments of an algorithm's functor.
template <class F>
struct expression {
    F function;
    template <class... A>
    constexpr auto operator()(const A&... arguments) const {
        return function(arguments...);
    }
};
template <class F>
expression(F) -> expression<F>;

template <size_t kIndex>
struct argument {
    template <class... A>
    constexpr auto operator()(const A&... arguments) const {
        return std::get<kIndex>(std::tie(arguments...));
    }
};
inline constexpr expression<argument<0>> _1{};
inline constexpr expression<argument<1>> _2{};
inline constexpr expression<argument<2>> _3{};

/// The value of an operand, an expression or a constant, for the given arguments.
template <class F, class... A>
constexpr auto value_of(const expression<F>& operand, const A&... arguments) {
    return operand(arguments...);
}
template <class T, class... A>
constexpr T value_of(const T& operand, const A&...) {
    return operand;
}
template <class T>
inline constexpr bool is_expression = false;
template <class F>
inline constexpr bool is_expression<expression<F>> = true;

#define SIMT_PLACEHOLDER_OPERATOR(OP)                                                \
    template <class A, class B>                                                      \
    requires(is_expression<A> || is_expression<B>) constexpr auto operator OP(A a,   \
                                                                              B b) { \
        return expression{[a, b](const auto&... arguments) {                         \
            return value_of(a, arguments...) OP value_of(b, arguments...);           \
        }};                                                                          \
    }
SIMT_PLACEHOLDER_OPERATOR(+)
SIMT_PLACEHOLDER_OPERATOR(-)
SIMT_PLACEHOLDER_OPERATOR(*)
SIMT_PLACEHOLDER_OPERATOR(/)
SIMT_PLACEHOLDER_OPERATOR(%)
SIMT_PLACEHOLDER_OPERATOR(<)
SIMT_PLACEHOLDER_OPERATOR(<=)
SIMT_PLACEHOLDER_OPERATOR(>)
SIMT_PLACEHOLDER_OPERATOR(>=)
SIMT_PLACEHOLDER_OPERATOR(==)
SIMT_PLACEHOLDER_OPERATOR(!=)
SIMT_PLACEHOLDER_OPERATOR(&&)
SIMT_PLACEHOLDER_OPERATOR(||)
SIMT_PLACEHOLDER_OPERATOR(&)
SIMT_PLACEHOLDER_OPERATOR(|)
SIMT_PLACEHOLDER_OPERATOR(^)
#undef SIMT_PLACEHOLDER_OPERATOR
}  // namespace placeholders

}  // namespace thrust
