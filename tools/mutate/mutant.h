// mutant.h: what the mutants in a woven text mean (tools/learn/mutation/weave.py).
//
// A program is the mutant that the variable WB_MUTANT names. `a < b` with the mutant
// 17, `a <= b`, is woven as
//
//     a < Op<less<-1>, less_equal<17>>{} > b
//
// which C++ reads as (a < Op) > b: the first sign takes hold of a, the second compares.
// Both have the precedence of the one that was there. What is no sign is wrapped in a
// function: `s[one_more<18>(i)]`.
//
// With WB_MUTANT_TRACE=FILE a program is no mutant. It writes a byte for each into the
// file: was the place reached, would its value have differed, does it fit the types?
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#define WB_MUTANT_INLINE [[gnu::always_inline]] __host__ __device__ constexpr inline

namespace wb_mutant {

extern const int chosen;           // -1: none
extern const int version;          // of the solution; -1: the contract's own choice
extern unsigned char* const seen;  // null: nothing is traced

constexpr unsigned char kReached = 1, kDiffers = 2, kDoesNotFit = 4;

/// Notes what has been seen of a mutant.
void note(int id, unsigned char what);

WB_MUTANT_INLINE bool is_chosen(int id) {
    return !std::is_constant_evaluated() && chosen == id;
}

/// Is there something left to see of a mutant? Most differ at once, and cost no more.
WB_MUTANT_INLINE bool is_traced(int id) {
    return !std::is_constant_evaluated() && seen && !(seen[id] & kDiffers);
}

/// Whether it matters what the mutant's value would be.
WB_MUTANT_INLINE bool is_wanted(int id) {
    return is_chosen(id) || is_traced(id);
}

WB_MUTANT_INLINE void trace(int id, bool differs) {
    if (!is_traced(id)) return;
    if (differs || !(seen[id] & kReached))
        note(id, differs ? kReached | kDiffers : kReached);
}

WB_MUTANT_INLINE void trace_misfit(int id) {
    if (!std::is_constant_evaluated() && seen) note(id, kReached | kDoesNotFit);
}

template <class A, class B>
WB_MUTANT_INLINE bool differ(const A& a, const B& b) {
    if constexpr (requires { bool(a != b); }) {
        return bool(a != b);
    } else {
        return true;
    }
}

/// Is the program this mutant? For what is done or left out as a whole.
template <int ID>
WB_MUTANT_INLINE bool is() {
    trace(ID, true);
    return is_chosen(ID);
}

/// One value for another of the same kind.
template <int ID, class A, class B>
WB_MUTANT_INLINE A pick(A value, B other) {
    if constexpr (std::is_convertible_v<B, A> &&
                  std::is_pointer_v<A> == std::is_pointer_v<B>) {
        const A mutated = static_cast<A>(other);
        trace(ID, differ(value, mutated));
        return is_chosen(ID) ? mutated : value;
    } else {
        trace_misfit(ID);
        return value;
    }
}

template <int ID>
WB_MUTANT_INLINE bool always(bool value) {
    return pick<ID>(value, true);
}

template <int ID>
WB_MUTANT_INLINE bool never(bool value) {
    return pick<ID>(value, false);
}

/// Anything that is true or false: pointers, explicit conversions.
template <int ID, class T>
WB_MUTANT_INLINE bool always(const T& value) {
    return pick<ID>(static_cast<bool>(value), true);
}

template <int ID, class T>
WB_MUTANT_INLINE bool never(const T& value) {
    return pick<ID>(static_cast<bool>(value), false);
}

template <int ID, class T>
WB_MUTANT_INLINE T one_more(T value) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        return pick<ID>(value, static_cast<T>(value + 1));
    } else {
        trace_misfit(ID);
        return value;
    }
}

template <int ID, class T>
WB_MUTANT_INLINE T one_less(T value) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        return pick<ID>(value, static_cast<T>(value - 1));
    } else {
        trace_misfit(ID);
        return value;
    }
}

template <int ID, class T>
WB_MUTANT_INLINE T zero(T value) {
    return pick<ID>(value, T(0));
}

template <int ID, class T>
WB_MUTANT_INLINE T other_number(T value) {
    const T other = value == T(0)   ? T(1)
                    : value == T(1) ? T(0)
                                    : static_cast<T>(T(1.01) * value);
    return pick<ID>(value, other);
}

/// Part of a loop's condition: does the loop end here?
template <int ID, class T>
WB_MUTANT_INLINE bool below(T value, int end) {
    if constexpr (std::is_integral_v<T>) {
        return pick<ID>(true, value < static_cast<T>(end));
    } else {
        trace_misfit(ID);
        return true;
    }
}

/// The first value for all times.
template <int ID, class T, class Place>
T kept(T value, Place) {
    static const T first = value;
    return pick<ID>(value, first);
}

template <int ID, class T>
WB_MUTANT_INLINE void round_to_half(T& sum) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        if (!is_wanted(ID)) return;
        const T rounded = static_cast<T>(__half2float(__float2half(float(sum))));
        trace(ID, rounded != sum);
        if (is_chosen(ID)) sum = rounded;
    } else {
        trace_misfit(ID);
    }
}

template <class T, class U>
__device__ inline T plain_add(T* place, U value) {
    const T old = *place;
    *place = old + static_cast<T>(value);
    return old;
}

WB_MUTANT_INLINE float same(float value) {
    return value;
}

template <class... T>
inline cudaError_t nothing(const T&...) {
    return cudaSuccess;
}

// What a sign may mean. ID -1 is what it does mean.
#define WB_MUTANT_SIGN(name, expression)                        \
    template <int ID>                                           \
    struct name {                                               \
        static constexpr int id = ID;                           \
        template <class A, class B>                             \
        WB_MUTANT_INLINE static auto of(const A& a, const B& b) \
            -> decltype(expression) {                           \
            return expression;                                  \
        }                                                       \
    };

WB_MUTANT_SIGN(less, a < b)
WB_MUTANT_SIGN(less_equal, a <= b)
WB_MUTANT_SIGN(greater, a > b)
WB_MUTANT_SIGN(greater_equal, a >= b)
WB_MUTANT_SIGN(equal, a == b)
WB_MUTANT_SIGN(not_equal, a != b)
WB_MUTANT_SIGN(plus, a + b)
WB_MUTANT_SIGN(minus, a - b)
WB_MUTANT_SIGN(times, a* b)
WB_MUTANT_SIGN(bit_and, a& b)
WB_MUTANT_SIGN(bit_or, a | b)
WB_MUTANT_SIGN(shift_left, a << b)
WB_MUTANT_SIGN(shift_right, a >> b)

// A division by zero would end the program that only traces.
template <class B>
WB_MUTANT_INLINE B no_zero(B b) {
    if constexpr (std::is_integral_v<B>) {
        return b == 0 ? B(1) : b;
    } else {
        return b;
    }
}

template <int ID>
struct over {
    static constexpr int id = ID;
    template <class A, class B>
    WB_MUTANT_INLINE static auto of(const A& a, const B& b) -> decltype(a / b) {
        if constexpr (ID < 0) return a / b;
        return a / no_zero(b);
    }
};

template <int ID>
struct modulo {
    static constexpr int id = ID;
    template <class A, class B>
    WB_MUTANT_INLINE static auto of(const A& a, const B& b) -> decltype(a % b) {
        if constexpr (ID < 0) return a % b;
        return a % no_zero(b);
    }
};

// These are given what the sign makes of a and b, too.
template <int ID>
struct narrow {
    static constexpr int id = ID;
    template <class A, class B, class R>
    WB_MUTANT_INLINE static R of(const A&, const B&, R result) requires(
        std::is_integral_v<R> && sizeof(R) == 8) {
        return static_cast<R>(static_cast<int>(result));
    }
};

template <int ID>
struct percent {
    static constexpr int id = ID;
    template <class A, class B, class R>
    WB_MUTANT_INLINE static R of(const A&,
                                 const B&,
                                 R result) requires(std::is_floating_point_v<R>) {
        return static_cast<R>(R(1.01) * result);
    }
};

template <int ID, int Most>
struct cut {
    static constexpr int id = ID;
    template <class A, class B, class R>
    WB_MUTANT_INLINE static R of(const A& a, const B& b, R) requires(
        std::is_integral_v<A>&& std::is_integral_v<B>) {
        return static_cast<R>(a * (b < B(Most) ? b : B(Most)));
    }
};

// A minimum or maximum, and one side of it.
#define WB_MUTANT_BOUND(name, function)                         \
    struct name {                                               \
        template <class A, class B>                             \
        WB_MUTANT_INLINE static auto of(const A& a, const B& b) \
            -> decltype(function(a, b)) {                       \
            return function(a, b);                              \
        }                                                       \
    };

WB_MUTANT_BOUND(Min, ::min)
WB_MUTANT_BOUND(Max, ::max)
WB_MUTANT_BOUND(Fminf, ::fminf)
WB_MUTANT_BOUND(Fmaxf, ::fmaxf)
WB_MUTANT_BOUND(StdMin, std::min)
WB_MUTANT_BOUND(StdMax, std::max)
WB_MUTANT_SIGN(left, (static_cast<void>(b), a))
WB_MUTANT_SIGN(right, (static_cast<void>(a), b))

/// What one of the other meanings makes of a and b.
template <class Meaning, class A, class B, class R>
WB_MUTANT_INLINE void change(R& result, const R& original, const A& a, const B& b) {
    if constexpr (requires { static_cast<R>(Meaning::of(a, b, original)); }) {
        if (!is_wanted(Meaning::id)) return;
        const R other = static_cast<R>(Meaning::of(a, b, original));
        trace(Meaning::id, differ(original, other));
        if (is_chosen(Meaning::id)) result = other;
    } else if constexpr (requires { static_cast<R>(Meaning::of(a, b)); }) {
        if (!is_wanted(Meaning::id)) return;
        const R other = static_cast<R>(Meaning::of(a, b));
        trace(Meaning::id, differ(original, other));
        if (is_chosen(Meaning::id)) result = other;
    } else {
        trace_misfit(Meaning::id);
    }
}

template <class Base, class... Others, class A, class B>
WB_MUTANT_INLINE auto result_of(const A& a, const B& b) {
    const auto original = Base::of(a, b);
    auto result = original;
    (change<Others>(result, original, a, b), ...);
    return result;
}

template <class Base, class... Others>
struct Call {
    template <class A, class B>
    WB_MUTANT_INLINE auto operator()(const A& a, const B& b) const {
        return result_of<Base, Others...>(a, b);
    }
};

template <class Base, class... Others>
struct Op {};

template <class A, class Base, class... Others>
struct Left {
    A value;
};

#define WB_MUTANT_SIGNS(first, second, base)                                     \
    template <class A, class... Others>                                          \
    WB_MUTANT_INLINE Left<A, base<-1>, Others...> operator first(                \
        A a, Op<base<-1>, Others...>) {                                          \
        return {a};                                                              \
    }                                                                            \
    template <class A, class... Others, class B>                                 \
    WB_MUTANT_INLINE auto operator second(Left<A, base<-1>, Others...> a, B b) { \
        return result_of<base<-1>, Others...>(a.value, b);                       \
    }

WB_MUTANT_SIGNS(<, >, less)
WB_MUTANT_SIGNS(>, <, greater)
WB_MUTANT_SIGNS(<=, >=, less_equal)
WB_MUTANT_SIGNS(>=, <=, greater_equal)
WB_MUTANT_SIGNS(==, ==, equal)
WB_MUTANT_SIGNS(!=, !=, not_equal)
WB_MUTANT_SIGNS(+, +, plus)
WB_MUTANT_SIGNS(-, -, minus)
WB_MUTANT_SIGNS(*, *, times)
WB_MUTANT_SIGNS(/, /, over)
WB_MUTANT_SIGNS(%, %, modulo)
WB_MUTANT_SIGNS(&, &, bit_and)
WB_MUTANT_SIGNS(|, |, bit_or)
WB_MUTANT_SIGNS(<<, <<, shift_left)
WB_MUTANT_SIGNS(>>, >>, shift_right)

/// The versions that list_rung() is given, by their numbers; for each type of function.
template <class Function>
Function*& listed(int number) {
    static Function* versions[16] = {};
    return versions[number];
}

/// In place of wb::list_rung: the tests run the contract's function, which calls the
/// version that is asked for. A learner's file has no rungs either.
template <class Half, class Bfloat16>
bool list_rung(const char*, const char* name, const char*, Half* fp16, Bfloat16* bf16) {
    const int number = std::atoi(name + 1);
    listed<Half>(number) = fp16;
    listed<Bfloat16>(number) = bf16;
    return true;
}

/// Runs the version that is chosen, if it is one of the list. Returns whether it did.
///
/// @tparam kDirect  versions that the contract's function itself calls
template <int... kDirect, class Shape, class... Rest>
bool run_listed(const Shape& shape, Rest... rest) {
    if (version < 0 || ((version == kDirect) || ...)) return false;
    const auto function = listed<void(const Shape&, Rest...)>(version);
    if (function) function(shape, rest...);
    return function != nullptr;
}

}  // namespace wb_mutant

/// Part of a woven call of a launcher: does this other version instead, if it is chosen
/// and can be called like that. The call stands in parentheses.
#define WB_MUTANT_RUN(number, call)                      \
    if constexpr (requires { call; }) {                  \
        if (::wb_mutant::version == number) return call; \
    }

#include <wb/ladder.h>
#undef WB_RUNG
#define WB_RUNG(exercise, launcher, idea) \
    [[maybe_unused]] static const auto wb_no_rung_##launcher = &launcher
