/// explain.h: what a line costs, as a figure for the margin and as words.
#pragma once

#include "report.h"

#include <string>

namespace xray {

/// How much of its kernel's traffic a line wastes.
enum class Heat {
    none,  ///< as good as it gets
    mild,  ///< it could be better, and it would not matter much
    warm,  ///< from 10 % of the kernel's traffic on
    hot    ///< from 30 % on
};

/// What one line does to one part of the machine.
struct Cost {
    std::string what;        ///< "load", "shared store", "barrier"
    std::string figure;      ///< "32 of 4 sectors", "32-way"
    std::string efficiency;  ///< "12 %", or ""
    Heat heat = Heat::none;
    std::string sentence;  ///< what happens
    std::string advice;    ///< what to do about it; "" if nothing
};

/// Loads, stores, atomics.
Cost explain(const Access& access, const Kernel& kernel);

/// Lanes that are not active.
Cost explain(const Branch& branch, const Kernel& kernel);

/// The lanes that idle at a line, as a share of all that idle or work in the kernel.
double idle_share(const Branch& branch, const Kernel& kernel);

/// Waiting for the whole block, or the whole warp.
Cost explain(const Barrier& barrier, const Kernel& kernel);

/// Wanted bytes over moved bytes of an access, at most 1.
double efficiency(const Access& access);

/// Passes through shared memory over the fewest possible, at least 1.
double bank_ways(const Access& access);

}  // namespace xray
