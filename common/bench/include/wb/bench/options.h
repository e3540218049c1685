/// wb/bench/options.h: the command line of every benchmark program.
#pragma once

#include <string>
#include <vector>

namespace wb::bench {

/// How large the problems are.
enum class Sizes {
    tiny,   ///< seconds in the simulator: does it run at all?
    small,  ///< a first look
    full,   ///< from fits-in-the-cache to larger than 2 GiB, for the book
    grid    ///< many shapes, the last rung only; chapters without a grid do nothing
};

/// What the user asked for.
struct Options {
    Sizes sizes = Sizes::full;
    std::string json;      ///< the file to merge results into; "" for none
    double seconds = 0.2;  ///< time spent on the samples of one row
    std::string ceilings;  ///< a file of ./learn ceilings; "": they are measured
    bool list = false;
    bool help = false;
    /// Not to time anything, but to run each rung once, on one problem, for the
    /// simulator's checker; what the contract needs is written to this file.
    std::string xray;
    /// Only problems whose size has this text; with xray the first of them.
    std::string size;
    std::string row;  ///< only rows whose "exercise/name" has this text: for a profiler
};

/// The text of --help.
extern const char* const kUsage;

/// Throws std::invalid_argument with a sentence for whatever it does not understand.
/// @param arguments  without the program's name
Options parse_options(const std::vector<std::string>& arguments);

}  // namespace wb::bench
