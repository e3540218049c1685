/// model.h: how long a kernel could take on a GPU, from what was counted. A model.
///
/// The time is the launch plus the longest of these, each as if it were alone:
///
///   DRAM     bytes that must come from or go to memory, over the bandwidth. While all
///            that the kernel touches fits the L2 cache, each sector counts once;
///            otherwise every sector that is moved counts.
///   L2       sectors moved, over what the cache delivers a clock (where published)
///   L1       sectors moved, four a clock and multiprocessor
///   shared   passes through shared memory, one a clock and multiprocessor
///   fp32     operations over the peak, if the contract states them
///   atomics  updates of the most wanted sector, one after another
///
/// It knows no latency: a kernel that waits (few threads, long chains of barriers)
/// takes longer. It knows no L1 cache and no order of blocks: strided accesses that
/// neighbours complete soon are cheaper than it says. And it is blind to instructions
/// that are neither memory nor arithmetic of the contract, as divisions of indices.
#pragma once

#include "report.h"

#include <optional>
#include <string>
#include <vector>

namespace xray {

/// One GPU of gpus.json. What is not published is 0.
struct Gpu {
    std::string key;
    std::string name;
    std::string arch;
    double sms = 0;
    double clock_hz = 0;
    double fp32 = 0;        ///< FLOP/s
    double dram = 0;        ///< bytes/s, by the data sheet
    double read_rate = 0;   ///< bytes/s that a stream of reads reaches
    double write_rate = 0;  ///< of writes
    double copy_rate = 0;   ///< of as many reads as writes
    double mixed_rate = 0;  ///< of two reads for a write
    bool measured = false;  ///< whether those rates are
    double l2_bytes = 0;
    double l2_rate = 0;          ///< bytes/s
    double launch = 0;           ///< seconds
    double atomic_interval = 0;  ///< seconds between updates of one address
    int max_warps = 0;
    int max_blocks = 0;
    int registers = 0;
    int shared_bytes = 0;
    int shared_reserved = 0;
};

/// All GPUs of the file. Throws std::runtime_error.
std::vector<Gpu> read_gpus(const std::string& path);

/// Replaces bandwidths and launch time by those that ./learn ceilings has measured, if
/// that was a GPU of this model: the key in its name, the same architecture and as many
/// multiprocessors. Returns whether it was. Throws std::runtime_error.
bool take_ceilings(Gpu& gpu, const std::string& path);

/// What bounds a kernel, one reason.
struct Term {
    std::string name;    ///< "DRAM"
    std::string reason;  ///< "8.4 MB at 3,190 GB/s"
    double seconds = 0;
};

/// The prediction for all launches of a kernel.
struct Prediction {
    double seconds = 0;
    double launch = 0;
    std::vector<Term> terms;  ///< longest first
    std::string missing;      ///< what is not known of this GPU and would matter, or ""

    /// The term that decides: the launch or the longest other one.
    std::string bound() const;
};

/// @param flop  operations of the contract; 0 if unknown
Prediction predict(const Kernel& kernel, const Gpu& gpu, double flop);

/// Where the kernels of a section stand under the roof of a GPU. It takes the
/// operations that the contract states; without them there is no placement.
struct Roofline {
    double flop = 0;       ///< 0: not known, and nothing else holds
    double bytes = 0;      ///< to and from DRAM, by the model
    double intensity = 0;  ///< FLOP a byte
    double ridge = 0;      ///< from which intensity on the peak is the limit
    double roof = 0;       ///< FLOP/s that the GPU allows at this intensity
    double predicted = 0;  ///< FLOP/s, by the model's time
};
Roofline roofline(const Run& run, const std::string& section, const Gpu& gpu);

/// One sentence about it; "" if there is no placement.
std::string roofline_text(const Roofline& place, const Gpu& gpu);

/// Sectors of 32 bytes that all global accesses move, in bytes.
double bytes_moved(const Kernel& kernel);

}  // namespace xray
