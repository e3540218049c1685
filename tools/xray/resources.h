/// resources.h: registers, shared memory and occupancy, where there is an nvcc.
#pragma once

#include "model.h"

#include <string>
#include <vector>

namespace xray {

/// What ptxas says about one kernel.
struct Resources {
    std::string kernel;  ///< demangled, "transpose_tiled<1>(float const*, ...)"
    int registers = 0;   ///< of a thread
    int shared = 0;      ///< static, of a block
    int spill_stores = 0;
    int spill_loads = 0;
    int stack = 0;
};

/// Reads the output of `nvcc -cubin -Xptxas -v`. Throws std::runtime_error.
std::vector<Resources> read_ptxas(const std::string& path);

/// The text of ptxas, taken apart.
std::vector<Resources> parse_ptxas(const std::string& text);

/// How many warps a multiprocessor can hold, and what keeps it from more.
struct Occupancy {
    int blocks = 0;  ///< of a multiprocessor
    int warps = 0;
    double fraction = 0;
    std::string limit;  ///< "registers", "shared memory", "warps", "blocks"
};

/// By the documented limits and granularities of the architecture.
///
/// @param dynamic_shared  bytes of a block
Occupancy occupancy(const Resources& resources,
                    int threads_per_block,
                    double dynamic_shared,
                    const Gpu& gpu);

}  // namespace xray
