/// cost.h: what one line of a kernel costs, whoever says so: the table that was
/// reasoned out beforehand, the simulator, or Nsight Compute.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace examples {

/// One kind of access of one line: op is load, store or atomic, space global or shared.
/// With op "lanes" the cost is the average number of active lanes, and space is "-".
struct Key {
    std::string kernel;
    int line = 0;
    std::string op;
    std::string space;

    auto tie() const { return std::tie(kernel, line, op, space); }
    bool operator<(const Key& other) const { return tie() < other.tie(); }
};

/// The cost is in sectors for global memory, in wavefronts for shared memory. What is
/// not known is NaN.
struct Cost {
    double requests = 0;
    double cost = 0;
};

using Costs = std::map<Key, Cost>;

/// A row of expected/NAME.tsv.
struct Expected {
    std::string kernel;
    std::string marker;  // the line says // @marker
    int line = 0;        // where it does
    std::string op;
    std::string space;
    std::optional<double> requests;  // nothing: the table does not say
    std::optional<double> cost;
    bool about = false;  // the cost is an average: 2 % more or less are right
    std::string why;

    Key key() const { return {kernel, line, op, space}; }
};

/// The table of one example, with the lines of its source that it speaks of.
/// @throws std::runtime_error  if a file or a marker is missing
std::vector<Expected> read_expected(const std::string& table,
                                    const std::string& source);

/// What the simulator counted: the file that SIMT_CHECK_JSON names.
Costs read_simulator(const std::string& path);

/// What Nsight Compute counted for each line of a program with a marker, and together
/// for those without, as line 0: ncu_lines.tsv.
///
/// @param source  the program as it is now; its lines may have moved meanwhile
Costs read_ncu_lines(const std::string& path,
                     const std::string& program,
                     const std::string& source);

/// The name of a kernel as it stands at its launch: from "void k<(int)2>(float *, int)"
/// the text "k<2>".
std::string launch_name(std::string name);

/// By how much is `b` larger than `a`, in percent of a? 0 if both are 0.
double difference_percent(double a, double b);

}  // namespace examples
