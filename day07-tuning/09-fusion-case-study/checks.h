/// checks.h: given with this exercise: what the contract refuses. There is nothing to
/// write here.
#pragma once

#include <wb/arguments.h>

#include "fusion_case_study.h"

/// The most numbers of a token.
inline constexpr int64_t kMostWidth = 8192;

/// Refuses wrong arguments of diagnose().
inline void check_steps(const StepInfo* steps, int count, int first, int second) {
    const wb::Arguments arguments("diagnose");
    arguments.require(first >= 0, "first", first, "must be >= 0")
        .require(second > first, "second", second, "must be above first")
        .require(second < count, "second", second, "must be below count")
        .require(steps != nullptr, "steps", 0, "must not be null");
    for (int i = 0; i < count; ++i) {
        const auto spread = static_cast<int64_t>(steps[i].spread);
        arguments.require(
            spread >= 0 && spread <= 3, "spread", spread, "must be 0 to 3");
    }
}

/// Whether step b hangs on an earlier step that reads and writes these arrays.
inline bool hangs_on(const StepInfo& b, uint32_t reads, uint32_t writes) {
    return (b.reads & writes) != 0 || (b.writes & (reads | writes)) != 0;
}

/// Refuses wrong arguments of add_norm().
inline void check_add_norm(const AddNorm& a) {
    const wb::Arguments arguments("add_norm");
    arguments
        .require(a.width >= 1 && a.width <= kMostWidth,
                 "width",
                 a.width,
                 "must be 1 to 8192")
        .not_negative("eps", double{a.eps})
        .device("x", a.x, a.width)
        .device("delta", a.delta, a.width)
        .device("gamma", a.gamma, a.width)
        .device("beta", a.beta, a.width)
        .device("n", a.n, a.width)
        .device("calls", a.calls, a.calls == nullptr ? 0 : 1);
    const int64_t bytes = a.width * 4;
    arguments.apart({{"x", a.x, bytes, true},
                     {"delta", a.delta, bytes, false},
                     {"gamma", a.gamma, bytes, false},
                     {"beta", a.beta, bytes, false},
                     {"n", a.n, bytes, true},
                     {"calls", a.calls, a.calls == nullptr ? 0 : 4, true}});
}
