/// checker/count/kernels.h: what has been counted, per kernel.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/scheduler.h"
#include "lockstep.h"
#include "points.h"
#include "touched.h"

namespace simt::check {

/// The cost of one instruction, summed over the warps that executed it.
struct Cost {
    uint64_t requests = 0;  // executions, for a basic block
    uint64_t lanes = 0;
    uint64_t sectors = 0, ideal_sectors = 0;
    uint64_t wavefronts = 0, ideal_wavefronts = 0;
    unsigned max_ways = 0;
    unsigned max_same_address = 0;

    void add(const Cost& other);
};

struct BarrierPlace {
    std::string op, file;
    int line;
    auto operator<=>(const BarrierPlace&) const = default;
};

/// All launches of a kernel in one section.
class Kernel {
 public:
    std::string name, section;
    const void* address = nullptr;  // of its code, if known
    std::string launch_file;        // of the last launch, as all that follows
    int launch_line = 0;
    dim3 grid{}, block{};
    size_t dynamic_shared = 0, static_shared = 0;
    uint64_t launches = 0;
    uint64_t warps = 0;
    uint64_t bytes_touched = 0, bytes_touched_written = 0;  // summed over launches
    uint64_t tensor_flop[5] = {};           // of tensor cores, by detail::TensorType
    uint64_t shuffles = 0;                  // of warps
    uint64_t shuffles_beside_products = 0;  // of these, while wgmmas of the warp ran

    /// Adds a step of a warp: `lanes` at `point`; see replay().
    void count(uint32_t point, uint32_t lanes, const Event* events);
    void count_barrier(const char* op, const char* file, int line);
    /// Adds up what the launch has touched.
    void end_launch();

    struct Row {
        uint32_t point;
        Cost cost;
    };
    const std::vector<Row>& rows() const { return rows_; }
    const std::map<BarrierPlace, uint64_t>& barriers() const { return barriers_; }

 private:
    Cost& cost_at(uint32_t point);

    std::vector<Row> rows_;
    std::vector<uint32_t> row_of_;  // by point: index + 1
    std::map<BarrierPlace, uint64_t> barriers_;
    Touched read_, written_;
};

/// The kernel of a launch in the current section; null if SIMT_CHECK_KERNEL excludes
/// it.
Kernel* kernel_of(const detail::Launch& launch);
/// All kernels, in the order of their first launches.
const std::deque<Kernel>& kernels();

}  // namespace simt::check
