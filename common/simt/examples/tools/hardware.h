/// hardware.h: whole launches, as the hardware's counters saw them (ncu.csv).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cost.h"

namespace examples {

/// A launch with its metrics, by Nsight Compute's names.
struct Launch {
    std::string program;
    std::string kernel;
    std::map<std::string, double> metrics;
};

/// The raw page of Nsight Compute as comma-separated values; several may follow one
/// another, each with its own header.
std::vector<Launch> read_launches(const std::string& path);

/// The counter of the hardware that stands for an operation, and what it counts.
struct Counter {
    std::vector<std::string> metrics;  // added up
    std::string op;
    std::string space;
    bool requests;  // else the cost
};

/// The counters that are compared with the sums over the lines of a kernel.
const std::vector<Counter>& compared_counters();

/// What the simulator counted for a kernel, in the terms of such a counter.
double simulated(const Costs& costs, const std::string& kernel, const Counter& counter);

}  // namespace examples
