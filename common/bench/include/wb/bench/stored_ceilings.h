/// wb/bench/stored_ceilings.h: ceilings that ./learn ceilings has measured once, in a
/// file, so that not every benchmark spends its first seconds on measuring them again.
#pragma once

#include <wb/bench/ceilings.h>
#include <wb/bench/json.h>
#include <wb/bench/machine.h>

#include <map>
#include <string>

namespace wb::bench {

/// What such a file says.
struct StoredCeilings {
    std::map<Ceiling, double> values;  ///< in unit_of(ceiling); only those measured
    std::string date;                  ///< "2026-11-21"
};

/// The ceilings of a document {"machine", "ceilings", "date"}.
///
/// Throws std::runtime_error if it is of another GPU than `machine`, or of another
/// shape: a percentage of somebody else's ceiling would mean nothing.
StoredCeilings ceilings_of(const Json& stored, const Machine& machine);

/// The same from a file. Throws std::runtime_error that names the file.
StoredCeilings read_ceilings(const std::string& path, const Machine& machine);

/// Replaces the file. Throws std::runtime_error.
///
/// @param floor_us  an empty kernel between two events
void write_ceilings(const std::string& path,
                    const Machine& machine,
                    const Readings& readings,
                    const std::map<Ceiling, double>& values,
                    double floor_us);

}  // namespace wb::bench
