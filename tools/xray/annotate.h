/// annotate.h: the source of a kernel, line by line, with what each line costs.
#pragma once

#include "explain.h"
#include "source.h"

namespace xray {

/// One line of source.
struct LineView {
    int number = 0;
    std::string text;
    std::vector<Cost> costs;

    /// The worst of its costs.
    Heat heat() const;
};

/// One function that the kernel executed: itself, or one that it called.
struct FunctionView {
    std::string file;
    std::vector<LineView> lines;
};

/// The functions of a kernel, its own body first. Lines of the simulator's and of the
/// compiler's own headers are left out.
///
/// @param findings  those of this kernel are marked at their lines
std::vector<FunctionView> annotate(const Kernel& kernel,
                                   const std::vector<Finding>& findings,
                                   Sources& sources);

/// The costs that deserve words, worst first, with their lines.
struct Remark {
    Place place;
    Cost cost;
};
std::vector<Remark> remarks(const std::vector<FunctionView>& functions);

}  // namespace xray
