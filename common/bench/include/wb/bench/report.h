/// wb/bench/report.h: a measurement, and as a line of the table.
#pragma once

#include <wb/bench/ceilings.h>
#include <wb/bench/machine.h>
#include <wb/bench/timer.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace wb::bench {

/// One implementation on one size.
struct Row {
    std::string exercise;  ///< "vector_add"
    std::string rung;      ///< "vector_add_v1", "cublasSgeam"
    std::string idea;      ///< a few words
    std::string size;      ///< "n = 1048576"
    Cache cache = Cache::cold;
    Timing timing;
    Ceiling ceiling = Ceiling::copy;
    double work = 0.0;           ///< bytes or operations that the contract asks for
    double ceiling_value = 0.0;  ///< in unit_of(ceiling); 0: not measured
    std::string limit = "";      ///< the ceiling's name, if it is this problem's own
    double kernels = 0.0;        ///< that a launch runs, where that matters; 0: one
    bool host_time = false;      ///< how long the host was busy, not the GPU
    double tokens = 0.0;         ///< that a launch works on; 0: not of that kind
    double scratch_bytes = 0.0;  ///< the most wb::Scratch memory that a launch held
    /// Numbers that only one benchmark has, by their key in the JSON.
    std::vector<std::pair<std::string, double>> notes = {};

    /// The name of the ceiling.
    std::string ceiling_name() const;

    /// GB/s or TFLOP/s: work over the median time.
    double rate() const;

    /// Tokens a second; 0 if there are none.
    double token_rate() const;

    /// rate() in percent of the ceiling; 0 if that was not measured.
    double percent() const;
};

/// The head of the table: machine, clocks, ceilings, the floor of the clock.
std::string header_text(const Machine& machine,
                        const Readings& readings,
                        const std::map<Ceiling, double>& ceilings,
                        double floor_us);

/// The head of one problem, and of its columns.
std::string problem_text(const Row& row);

/// One line of the table.
std::string row_text(const Row& row);

/// Today, in UTC.
std::string today();

}  // namespace wb::bench
