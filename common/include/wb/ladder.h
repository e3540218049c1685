/// wb/ladder.h: a solution lists its rungs, so that tests and benchmarks find them.
///
///     WB_RUNG(vector_add, vector_add_v1, "one thread an element");
///
/// A learner's file has no rungs; its tests then run the contract's function alone.
/// Where the contract has one name for __half and for __nv_bfloat16, see list_rung().
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace wb {

/// One version of an exercise's function, v1 ... vn.
struct Rung {
    std::string exercise;  ///< the contract's function, "vector_add"
    std::string name;      ///< the launcher of this version, "vector_add_v1"
    std::string idea;      ///< the one thing it changes, a few words
    void (*function)();    ///< the launcher, with its type erased
};

/// Adds a rung; called before main() by WB_RUNG. Returns true.
bool register_rung(Rung rung);

/// All rungs of this program, in the order of the source file.
const std::vector<Rung>& rungs();

/// Adds a version that takes q, k, v, o and lse in two types of number, for tests and
/// benchmarks of <exercise>_fp16 and of <exercise>_bf16. Returns true.
///
///     [[maybe_unused]] static const bool rungs_listed =
///         wb::list_rung("attention", "v1", "idea", v1<__half>, v1<__nv_bfloat16>);
///
/// @param version  "v1": the launcher's name is <exercise>_v1
template <class Shape, class Half, class Bfloat16, class Stream>
bool list_rung(
    const std::string& exercise,
    const std::string& version,
    const std::string& idea,
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
    const std::string name = exercise + "_" + version;
    return register_rung(
               {exercise + "_fp16", name, idea, reinterpret_cast<void (*)()>(fp16)}) &&
           register_rung(
               {exercise + "_bf16", name, idea, reinterpret_cast<void (*)()>(bf16)});
}

/// What tests and benchmarks of an exercise run.
template <class Function>
struct Implementation {
    std::string name;
    std::string idea;
    Function* function;
};

/// The rungs of an exercise, or, where there are none, the contract's function.
///
/// @param exercise  its name
/// @param contract  the function that the contract declares
template <class Function>
std::vector<Implementation<Function>> implementations(const std::string& exercise,
                                                      Function* contract) {
    std::vector<Implementation<Function>> result;
    for (const Rung& rung : rungs()) {
        if (rung.exercise != exercise) continue;
        result.push_back(
            {rung.name, rung.idea, reinterpret_cast<Function*>(rung.function)});
    }
    if (result.empty()) result.push_back({exercise, "", contract});
    return result;
}

}  // namespace wb

/// Registers `launcher`, which must have the type of the contract's function.
#define WB_RUNG(exercise, launcher, idea)                                        \
    [[maybe_unused]] static const bool wb_rung_##launcher = ::wb::register_rung( \
        {#exercise,                                                              \
         #launcher,                                                              \
         idea,                                                                   \
         reinterpret_cast<void (*)()>(static_cast<decltype(&exercise)>(&launcher))})
