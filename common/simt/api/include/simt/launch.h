/// simt/launch.h: launching kernels.
///
/// `k<T><<<grid, block, smem, stream>>>(x, y)` is rewritten to
///
///     simt::kernel("k<T>",
///                  [&](auto use) -> decltype(use(k<T>)) { return use(k<T>); },
///                  [&](auto... a) { k<T>(a...); })(grid, block, smem, stream)(x, y)
///
/// The first lambda yields the kernel's address where `k<T>` names one function. Then
/// the arguments are converted to the parameters' types at the launch, as CUDA does
/// (NULL,
/// {...}, int to size_t). Where `k` is an overloaded name or a template whose arguments
/// the call deduces, the second lambda makes the call.
///
/// A kernel whose type is known is also launched by simt::kernel("k", &k)(...)(x, y),
/// or by simt::kernel("k", &k).with(config)(x, y).
#pragma once

#include <cstring>
#include <tuple>
#include <utility>

#include "simt/config.h"

namespace simt {

/// How many bytes of a kernel's parameter space these parameters take, one behind the
/// other.
template <class... P>
constexpr size_t parameter_bytes() {
    size_t end = 0;
    ((end = (end + alignof(P) - 1) / alignof(P) * alignof(P) + sizeof(P)), ...);
    return end;
}

namespace detail {

/// Runs the kernel, or records it if the stream is being captured. An impossible
/// configuration sets the host thread's last error.
void launch(const Config& config, const Body& body);

/// The value of a pointer argument, null for anything else.
template <class T>
const void* pointer_value(const T& value) {
    if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>)
        return const_cast<const void*>(static_cast<const volatile void*>(value));
    else
        return nullptr;
}

/// Does a function get a T by its address, because copies of it are no mere bytes?
template <class T>
inline constexpr bool kIsObject =
    std::is_class_v<T> &&
    !(std::is_trivially_copy_constructible_v<T> &&
      std::is_trivially_move_constructible_v<T> && std::is_trivially_destructible_v<T>);

/// The bytes of an object. A launch copies them, and a kernel's parameters are neither
/// constructed nor destroyed: that happens once, to the host's argument.
template <class T>
class Image {
 public:
    SIMT_UNSEEN explicit Image(const T& object) {
        std::memcpy(bytes_, std::addressof(object), sizeof(T));
    }
    SIMT_UNSEEN operator T&() { return *reinterpret_cast<T*>(bytes_); }

 private:
    alignas(T) unsigned char bytes_[sizeof(T)];
};

/// How an argument travels to a kernel: as a copy; what a reference refers to stays
/// where it is, and must be memory that a kernel can use.
template <class P>
using Travelling =
    std::conditional_t<std::is_lvalue_reference_v<P>, P,
                       std::conditional_t<kIsObject<std::decay_t<P>>,
                                          Image<std::decay_t<P>>, std::decay_t<P>>>;

/// Bit i: P number i is an lvalue reference.
template <class... P>
constexpr uint64_t reference_bits() {
    uint64_t result = 0, bit = 1;
    ((result |= std::is_lvalue_reference_v<P> ? bit : 0, bit <<= 1), ...);
    return result;
}

/// Arguments of types A&&, for parameters whose types only the call knows: copies, and
/// references where kReferences says that the parameter is one.
template <uint64_t kReferences, class... A, size_t... kIndex>
auto packed(std::index_sequence<kIndex...>, std::remove_reference_t<A>&... args) {
    return std::tuple<std::conditional_t<
        (kReferences >> kIndex & 1), std::remove_reference_t<A>&, std::decay_t<A>>...>(
        args...);
}

/// How the compiler hands it over.
template <class P>
using HandedOver = std::conditional_t<kIsObject<P>, P&, P>;

/// The address that argument A brings, null if it brings none.
template <class A, class T>
const void* address_in(const T& value) {
    if constexpr (std::is_lvalue_reference_v<A>)
        return std::addressof(value);
    else
        return pointer_value(value);
}

/// Calls a kernel with copies of the arguments: its parameters are variables. That they
/// are handed over is no access of the program. Not inlined: threadIdx is a constant,
/// and the loop that calls the kernel for thread after thread would read it only once.
template <class F, class Args, size_t... kIndex>
[[gnu::noinline]] SIMT_UNSEEN void call_kernel(const F& function, const Args& args,
                                               std::index_sequence<kIndex...>) {
    function(std::get<kIndex>(args)...);
}

template <class... P, class Args, size_t... kIndex>
SIMT_UNSEEN void call_kernel(void (*function)(P...), const Args& args,
                             std::index_sequence<kIndex...>) {
    using Function = void (*)(HandedOver<P>...);
    reinterpret_cast<Function>(function)(
        std::tuple_element_t<kIndex, Args>(std::get<kIndex>(args))...);
}

/// Launches `function`, called with copies of the arguments by each thread.
template <class F, class... A>
void launch_call(const char* name, const void* address, const Config& config,
                 F function, std::tuple<A...> args) {
    struct Call {
        F function;
        std::tuple<A...> args;
    };
    const Call call{std::move(function), std::move(args)};
    const auto with_pointers = [&](const auto&... value) {
        const void* const pointers[] = {address_in<A>(value)..., nullptr};
        launch(config, Body{name, address,
                            [](const void* context) SIMT_UNSEEN {
                                const auto& c = *static_cast<const Call*>(context);
                                do
                                    call_kernel(c.function, c.args,
                                                std::index_sequence_for<A...>());
                                while (begin_next_in_row());
                            },
                            &call, sizeof call,
                            [](const void* context) -> const void* {
                                return new Call(*static_cast<const Call*>(context));
                            },
                            [](const void* context) {
                                delete static_cast<const Call*>(context);
                            },
                            pointers, sizeof...(A)});
    };
    std::apply(with_pointers, call.args);
}

/// Passed to the rewriter's first lambda: finds a kernel's only address and type.
struct AnyFunction {
    template <class... P>
    auto operator()(void (*function)(P...)) const -> void (*)(P...) {
        return function;
    }
};

/// The same for a kernel whose parameters are exactly A: picks one of several.
template <class... A>
struct ExactFunction {
    using Pointer = void (*)(A...);
    Pointer operator()(Pointer function) const { return function; }
};

}  // namespace detail

/// A kernel of known type with its configuration: call it with the arguments.
///
/// @tparam Call  calls the kernel by name: needed for default arguments
/// @tparam P     the kernel's parameters
template <class Call, class... P>
struct TypedLaunch {
    const char* name;
    void (*function)(P...);
    Call call;
    Config config;

    void operator()(P... args) const { launch(args...); }
    /// The same without copies of the arguments that are objects.
    void launch(std::remove_reference_t<P>&... args) const {
        detail::launch_call(name, reinterpret_cast<const void*>(function), config,
                            function, std::tuple<detail::Travelling<P>...>(args...));
    }
    /// Fewer arguments than parameters: the others have defaults.
    template <class... A>
    requires(sizeof...(A) < sizeof...(P) &&
             !(std::is_lvalue_reference_v<P> || ...)) void
    operator()(A... args) const {
        detail::launch_call(name, reinterpret_cast<const void*>(function), config, call,
                            std::tuple<A...>(std::move(args)...));
    }
    /// The same where a parameter is a reference.
    template <class... A>
    requires(sizeof...(A) < sizeof...(P) && (std::is_lvalue_reference_v<P> || ...)) void
    operator()(A&&... args) const {
        constexpr uint64_t kReferences = detail::reference_bits<P...>();
        detail::launch_call(name, reinterpret_cast<const void*>(function), config, call,
                            detail::packed<kReferences, A...>(
                                std::index_sequence_for<A...>(), args...));
    }
};

/// A kernel of known type: call it with grid, block, shared memory and stream.
template <class Call, class... P>
struct TypedKernel {
    const char* name;
    void (*function)(P...);
    Call call;

    TypedLaunch<Call, P...> operator()(dim3 grid, dim3 block = 1, size_t smem = 0,
                                       cudaStream_t stream = nullptr, SIMT_SITE) const {
        return with(Config(grid, block, smem, stream, file, line));
    }
    TypedLaunch<Call, P...> with(const Config& config) const {
        return {name, function, call, config};
    }
};

/// A kernel that only its call's arguments choose, with its configuration.
///
/// @tparam kReferences  bit i: argument i is for a parameter that is a reference
template <class Find, class Call, uint64_t kReferences>
struct DeducedLaunch {
    const char* name;
    Find find;
    Call call;
    Config config;

    template <class... A>
    requires(kReferences == 0) void operator()(A... args) const {
        launch(std::tuple<A...>(std::move(args)...));
    }
    template <class... A>
    requires(kReferences != 0) void operator()(A&&... args) const {
        launch(detail::packed<kReferences, A...>(std::index_sequence_for<A...>(),
                                                 args...));
    }

 private:
    template <class... A>
    void launch(std::tuple<A...> args) const {
        using Exact = detail::ExactFunction<A...>;
        if constexpr (std::is_invocable_v<const Find&, Exact>) {
            const auto function = find(Exact());
            const auto* address = reinterpret_cast<const void*>(function);
            if constexpr ((detail::kIsObject<A> || ...))
                detail::launch_call(name, address, config, function,
                                    std::tuple<detail::Travelling<A>...>(args));
            else
                detail::launch_call(name, address, config, call, std::move(args));
        } else {
            detail::launch_call(name, nullptr, config, call, std::move(args));
        }
    }
};

/// A kernel that only its call's arguments choose.
template <class Find, class Call, uint64_t kReferences>
struct DeducedKernel {
    const char* name;
    Find find;
    Call call;

    DeducedLaunch<Find, Call, kReferences> operator()(dim3 grid, dim3 block = 1,
                                                      size_t smem = 0,
                                                      cudaStream_t stream = nullptr,
                                                      SIMT_SITE) const {
        return {name, find, call, Config(grid, block, smem, stream, file, line)};
    }
};

namespace detail {
template <class Call, class... P>
TypedKernel<Call, P...> typed_kernel(const char* name, void (*function)(P...),
                                     Call call) {
    return {name, function, call};
}
}  // namespace detail

/// What the rewriter makes of the left side of <<<>>>; see the top of this file.
template <uint64_t kReferences = 0, class Find, class Call>
auto kernel(const char* name, Find find, Call call) {
    if constexpr (std::is_invocable_v<const Find&, detail::AnyFunction>)
        return detail::typed_kernel(name, find(detail::AnyFunction()), call);
    else
        return DeducedKernel<Find, Call, kReferences>{name, find, call};
}

/// The same for a template of whose arguments the call deduces some, even if they have
/// defaults.
template <uint64_t kReferences = 0, class Find, class Call>
auto deduced_kernel(const char* name, Find find, Call call) {
    return DeducedKernel<Find, Call, kReferences>{name, find, call};
}

/// What the rewriter makes of a kernel that is a single function or a pointer.
template <class... P>
auto kernel(const char* name, void (*function)(P...)) {
    return detail::typed_kernel(name, function, function);
}

/// The same where only the call is known.
template <class Call>
auto kernel(const char* name, Call call) {
    return DeducedKernel<int, Call, 0>{name, 0, call};
}

}  // namespace simt
