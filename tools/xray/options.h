/// options.h: what ./learn xray asks of the renderer.
#pragma once

#include "model.h"
#include "resources.h"
#include "source.h"

#include <optional>
#include <string>
#include <vector>

namespace xray {

/// What is shown, and how.
struct Report {
    Run run;
    std::string title;    ///< "day01/05-dot-product"
    std::string root;     ///< paths are shown relative to it
    std::string program;  ///< how to start it on a GPU, for Nsight Compute
    std::optional<Gpu> gpu;
    std::vector<Resources> resources;
    std::string resources_note;  ///< why there are none, "install nvcc to see ..."
    Sources sources;
    bool colour = false;
    int width = 0;  ///< columns of the terminal; 0: unknown, so that lines stay whole

    /// What ptxas says of a kernel: the one of its name with the most registers.
    const Resources* resources_of(const Kernel& kernel) const;
};

/// Leaves only kernels whose name contains `kernel`, and sections whose name is
/// `section` or ends with "_section" ("v3"); "" is no wish. If sections were named at
/// all, launches outside of them are preparations and are left out.
///
/// Throws std::runtime_error, with the names there are, when nothing is left.
void select(Run& run, const std::string& kernel, const std::string& section);

/// Prints the report for a terminal to stdout.
void print_report(Report& report);

/// The report as one HTML file that needs nothing else.
std::string html_report(Report& report);

}  // namespace xray
