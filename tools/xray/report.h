/// report.h: what a checked run wrote as JSON, as C++ values.
///
/// The simulator writes the file (SIMT_CHECK_JSON=...): the kernels with what each of
/// their lines cost, and the mistakes that were found.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace xray {

/// What global memory moves at a time.
constexpr double kSectorBytes = 32.0;

/// Three extents, x first.
using Dim3 = std::array<long, 3>;

/// A line of a source file.
struct Place {
    std::string file;  ///< as the compiler named it; "" if unknown
    int line = 0;
};

/// What one line does to one memory space. A request is one instruction of one warp.
struct Access {
    Place place;
    std::string op;     ///< load, store, atomic or async
    std::string space;  ///< global, shared, constant
    int bytes = 0;      ///< of one lane
    double requests = 0;
    double lanes = 0;  ///< sum over the requests
    double sectors = 0;
    double ideal_sectors = 0;
    double wavefronts = 0;
    double ideal_wavefronts = 0;
    double max_ways = 0;
    double max_same_address = 0;
    double merged = 0;  ///< requests that stand for several source accesses
};

/// A line at which the lanes of warps go separate ways.
struct Branch {
    Place place;
    double executions = 0;  ///< by warps
    double lanes = 0;       ///< sum over the executions
};

/// A line with a barrier.
struct Barrier {
    Place place;
    double count = 0;
    std::string op;
};

/// All launches of one kernel in one section of the program.
struct Kernel {
    std::string name;
    std::string section;  ///< the rung that launched it; "" if the program has none
    Place place;          ///< the file it is in; the line may be unknown
    Place launched_at;
    double launches = 1;
    Dim3 grid{1, 1, 1};
    Dim3 block{1, 1, 1};
    double dynamic_shared = 0;
    double static_shared = 0;
    std::vector<Access> accesses;
    std::vector<Branch> branches;
    std::vector<Barrier> barriers;
    std::map<std::string, double> totals;

    /// A total by its name; 0 when the run did not count it.
    double total(const std::string& key) const;

    /// Whether the run counted it at all.
    bool has_total(const std::string& key) const { return totals.count(key) != 0; }

    double blocks() const;
    double threads_per_block() const;
};

/// A mistake.
struct Finding {
    std::string kind;
    std::string what;
    std::string kernel;
    std::string section;
    std::string space;
    std::string variable;
    Place place;
    Place other;
    Dim3 block{0, 0, 0};
    Dim3 thread{0, 0, 0};
    std::optional<Dim3> other_block;
    std::optional<Dim3> other_thread;
    std::string text;
    std::string fix;
    std::string lesson;
    double count = 1;
};

/// What one section of a benchmark has to do, by the chapter's contract.
struct Contract {
    std::string section;  ///< the rung, "dot_product_v1"
    std::string idea;
    std::string size;
    double bytes = 0;     ///< that must move; 0: not known
    double flop = 0;      ///< 0: not known
    std::string mistake;  ///< how its result was wrong; "" if it was right
};

/// One checked run of one program.
struct Run {
    std::string program;
    long seed = 0;
    std::string device;
    std::vector<Kernel> kernels;
    std::vector<Finding> findings;
    std::vector<Contract> contracts;

    /// The contract of a section, or null.
    const Contract* contract(const std::string& section) const;

    /// The operations that the contract asks of a kernel; 0 if unknown, as it is where
    /// several kernels share them.
    double flop(const Kernel& kernel) const;
};

/// Reads the simulator's file. Throws std::runtime_error with a sentence.
Run read_run(const std::string& path);

/// Adds what a benchmark wrote with --xray FILE. Throws std::runtime_error.
void read_contracts(const std::string& path, Run& run);

}  // namespace xray
