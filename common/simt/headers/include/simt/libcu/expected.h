/// simt/libcu/expected.h: cuda::std::expected, a value or the reason why there is none,
/// as C++23 defines it.
#pragma once
#include <type_traits>
#include <utility>
#include <variant>

namespace cuda::std {
using namespace ::std;

template <class Error>
class unexpected {
 public:
    constexpr explicit unexpected(Error error) : error_(::std::move(error)) {}
    constexpr const Error& error() const noexcept { return error_; }
    friend constexpr bool operator==(const unexpected&, const unexpected&) = default;

 private:
    Error error_;
};
template <class Error>
unexpected(Error) -> unexpected<Error>;

struct unexpect_t {
    explicit unexpect_t() = default;
};
inline constexpr unexpect_t unexpect{};

template <class T, class Error>
class expected {
    using Value = ::std::conditional_t<::std::is_void_v<T>, ::std::monostate, T>;

 public:
    using value_type = T;
    using error_type = Error;
    using unexpected_type = unexpected<Error>;

    constexpr expected() = default;
    template <class U = Value>
    requires(!::std::is_void_v<T> && ::std::is_constructible_v<Value, U> &&
             !::std::is_same_v<::std::remove_cvref_t<U>,
                               expected>) constexpr expected(U&& value)
        : state_(::std::in_place_index<0>, ::std::forward<U>(value)) {}
    template <class G>
    constexpr expected(const unexpected<G>& error)
        : state_(::std::in_place_index<1>, error.error()) {}
    template <class... Arguments>
    constexpr explicit expected(unexpect_t, Arguments&&... arguments)
        : state_(::std::in_place_index<1>, ::std::forward<Arguments>(arguments)...) {}

    constexpr bool has_value() const noexcept { return state_.index() == 0; }
    constexpr explicit operator bool() const noexcept { return has_value(); }
    constexpr Value& value() { return *::std::get_if<0>(&state_); }
    constexpr const Value& value() const { return *::std::get_if<0>(&state_); }
    constexpr Value& operator*() { return value(); }
    constexpr const Value& operator*() const { return value(); }
    constexpr Value* operator->() { return ::std::get_if<0>(&state_); }
    constexpr const Value* operator->() const { return ::std::get_if<0>(&state_); }
    constexpr Error& error() { return *::std::get_if<1>(&state_); }
    constexpr const Error& error() const { return *::std::get_if<1>(&state_); }
    template <class U>
    constexpr Value value_or(U&& other) const {
        return has_value() ? value() : static_cast<Value>(::std::forward<U>(other));
    }
    template <class U>
    constexpr Error error_or(U&& other) const {
        return has_value() ? static_cast<Error>(::std::forward<U>(other)) : error();
    }

    /// f(value), which is an expected itself, or the error.
    template <class F>
    constexpr auto and_then(F&& f) const {
        using Result = decltype(call(f));
        return has_value() ? call(f) : Result(unexpect, error());
    }
    /// f(value) in an expected, or the error.
    template <class F>
    constexpr auto transform(F&& f) const {
        using Result = expected<decltype(call(f)), Error>;
        if (!has_value()) return Result(unexpect, error());
        if constexpr (::std::is_void_v<typename Result::value_type>) {
            call(f);
            return Result();
        } else {
            return Result(call(f));
        }
    }
    /// The value, or f(error), which is an expected itself.
    template <class F>
    constexpr expected or_else(F&& f) const {
        return has_value() ? *this : ::std::forward<F>(f)(error());
    }
    template <class F>
    constexpr auto transform_error(F&& f) const {
        using Result = expected<T, decltype(f(error()))>;
        if (!has_value()) return Result(unexpect, ::std::forward<F>(f)(error()));
        if constexpr (::std::is_void_v<T>)
            return Result();
        else
            return Result(value());
    }

    friend constexpr bool operator==(const expected& a, const expected& b) {
        return a.state_ == b.state_;
    }
    template <class U>
    requires(!::std::is_void_v<T> &&
             ::std::is_convertible_v<U, Value>) friend constexpr bool
    operator==(const expected& a, const U& value) {
        return a.has_value() && a.value() == value;
    }

 private:
    template <class F>
    constexpr decltype(auto) call(F&& f) const {
        if constexpr (::std::is_void_v<T>)
            return ::std::forward<F>(f)();
        else
            return ::std::forward<F>(f)(value());
    }
    ::std::variant<Value, Error> state_;
};

}  // namespace cuda::std
