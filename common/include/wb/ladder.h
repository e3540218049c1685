/// wb/ladder.h: a solution lists its rungs, so that tests and benchmarks find them.
///
///     WB_RUNG(vector_add, vector_add_v1, "one thread an element");
///
/// A learner's program runs the contract's function alone, whatever rungs its file
/// lists; but a starter in which several versions are to be written lists them with
/// list_version(), and each is graded. Where the contract has one name for __half and
/// for __nv_bfloat16, see list_rung().
#pragma once

#include <type_traits>

namespace wb {

/// Adds a rung, called before main() by WB_RUNG. The texts are copied; the launcher has
/// its type erased. Returns true.
bool register_rung(const char* exercise,
                   const char* name,
                   const char* idea,
                   void (*function)());

namespace detail {

/// list_rung() without its types.
bool register_rungs(const char* exercise,
                    const char* version,
                    const char* idea,
                    void (*fp16)(),
                    void (*bf16)());

/// list_part() without its types.
bool register_part(const char* name, void (*function)());

/// list_version() without its types.
bool register_versions(const char* exercise,
                       const char* version,
                       void (*fp16)(),
                       void (*bf16)());

}  // namespace detail

/// Adds a version that takes q, k, v, o and lse in two types of number, for tests and
/// benchmarks of <exercise>_fp16 and of <exercise>_bf16. Returns true.
///
///     [[maybe_unused]] static const bool rungs_listed =
///         wb::list_rung("attention", "v1", "idea", v1<__half>, v1<__nv_bfloat16>);
///
/// @param version  "v1": the launcher's name is <exercise>_v1
template <class Shape, class Half, class Bfloat16, class Stream>
bool list_rung(
    const char* exercise,
    const char* version,
    const char* idea,
    void (*fp16)(
        const Shape&, const Half*, const Half*, const Half*, Half*, float*, Stream),
    void (*bf16)(const Shape&,
                 const Bfloat16*,
                 const Bfloat16*,
                 const Bfloat16*,
                 Bfloat16*,
                 float*,
                 Stream)) {
    static_assert(!std::is_same_v<Half, Bfloat16>, "one launcher for each type");
    return detail::register_rungs(exercise,
                                  version,
                                  idea,
                                  reinterpret_cast<void (*)()>(fp16),
                                  reinterpret_cast<void (*)()>(bf16));
}

/// As list_rung(), for a version that a learner writes: it is graded in a learner's
/// program, too, each by its name. Starters call it, solutions do not. Returns true.
template <class Shape, class Half, class Bfloat16, class Stream>
bool list_version(
    const char* exercise,
    const char* version,
    void (*fp16)(
        const Shape&, const Half*, const Half*, const Half*, Half*, float*, Stream),
    void (*bf16)(const Shape&,
                 const Bfloat16*,
                 const Bfloat16*,
                 const Bfloat16*,
                 Bfloat16*,
                 float*,
                 Stream)) {
    static_assert(!std::is_same_v<Half, Bfloat16>, "one launcher for each type");
    return detail::register_versions(exercise,
                                     version,
                                     reinterpret_cast<void (*)()>(fp16),
                                     reinterpret_cast<void (*)()>(bf16));
}

/// Adds a part of an exercise that tests grade by itself, in a learner's program, too:
/// a function on the host that runs it. Returns true.
template <class... Arguments>
bool list_part(const char* name, void (*function)(Arguments...)) {
    return detail::register_part(name, reinterpret_cast<void (*)()>(function));
}

}  // namespace wb

/// Registers `launcher`, which must have the type of the contract's function.
#define WB_RUNG(exercise, launcher, idea)                                        \
    [[maybe_unused]] static const bool wb_rung_##launcher = ::wb::register_rung( \
        #exercise,                                                               \
        #launcher,                                                               \
        idea,                                                                    \
        reinterpret_cast<void (*)()>(static_cast<decltype(&exercise)>(&launcher)))
