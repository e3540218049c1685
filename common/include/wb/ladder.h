/// wb/ladder.h: a solution lists its rungs, so that tests and benchmarks find them.
///
///     WB_RUNG(vector_add, vector_add_v1, "one thread an element");
///
/// A learner's file has no rungs; its tests then run the contract's function alone.
#pragma once

#include <string>
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
