/// wb/implementations.h: what tests and benchmarks of an exercise run: the rungs that a
/// solution lists (<wb/ladder.h>), or the contract's function.
#pragma once

#include <wb/ladder.h>

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

/// All rungs of this program, in the order of the source file. Of a learner's program
/// these are the versions that its starter lists, see list_version(). Other rungs are
/// left out, as in a copy of a solution: what is graded and measured there is the
/// contract's function, which may be wrong where no rung is.
const std::vector<Rung>& rungs();

/// From now on, rungs() has nothing but versions that a starter lists. Returns true.
bool leave_out_rungs();

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
