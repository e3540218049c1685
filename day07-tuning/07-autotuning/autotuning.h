/// autotuning.h: the contract of this exercise. The kernels are given, in many
/// configurations (kernels/); you write what chooses among them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

/// A GPU: who it is, and what a model has to know of it.
struct Gpu {
    std::string name;        ///< "NVIDIA H100 80GB HBM3"
    std::string capability;  ///< "9.0"
    std::string driver;      ///< the newest CUDA that the driver knows, "13.0"
    std::string toolkit;     ///< what the program was built with, "13.0"
    int sms;                 ///< multiprocessors
    int max_threads;         ///< in a block
    int max_shared_bytes;    ///< of a block that asks for nothing special
    double bytes_per_us;     ///< of memory, all multiprocessors together
    double passes_per_us;    ///< of shared memory, likewise: one a clock for each
    double latency_us;       ///< from a load to its value
};

/// A family of kernels, and the matrix that it shall work on.
struct Problem {
    std::string family;  ///< "transpose" or "gemv"
    int64_t rows;
    int64_t cols;
};

/// What is known of a configuration on a problem before it has run.
struct Footprint {
    bool takes_shape;        ///< false: its vectors do not divide the rows or columns
    int threads;             ///< in a block
    int shared_bytes;        ///< of a block
    int blocks_per_sm;       ///< that a multiprocessor has room for; may be 0
    int64_t blocks;          ///< in the grid
    double bytes;            ///< that the memory has to move
    double bytes_in_flight;  ///< that one block asks for before it waits
    double shared_passes;    ///< of the whole grid, bank conflicts included
};

/// A test rig: the configurations of a family, numbered from 0, on one problem, and a
/// clock. Behind it are kernels on a GPU (kernels/kernel_rig.h), or recorded times.
class Rig {
 public:
    virtual ~Rig() = default;
    virtual const Gpu& gpu() const = 0;
    virtual const Problem& problem() const = 0;
    virtual int count() const = 0;
    /// For people, and for files: "tile 32, 4 rows, padded, float4".
    virtual std::string name(int config) const = 0;
    /// The value of each template parameter. Every configuration has as many.
    virtual std::vector<int> parameters(int config) const = 0;
    virtual Footprint footprint(int config) const = 0;
    /// Launches it once and compares the result. False if it is wrong, or if the launch
    /// was refused.
    virtual bool check(int config) = 0;
    /// One trial: a few launches, each timed alone. Microseconds, at least one.
    virtual std::vector<double> trial(int config) = 0;
};

/// What was found.
struct Choice {
    int config;
    double us;   ///< the median of its samples
    int trials;  ///< Rig::trial() calls that it took, all of them
};

/// No configuration can run and gives the right result.
class NothingWorks : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// The middle of the samples in order of size; of an even number of them, the mean of
/// the two in the middle.
///
/// Throws wb::InvalidArgument if there are none
double median(std::vector<double> samples);

/// How many microseconds a launch takes, if all that counts is memory, shared memory
/// and how much is asked for at once:
///
///     resident  = min(blocks, blocks_per_sm * sms)
///     memory    = bytes / bytes_per_us
///     waiting   = bytes / (resident * bytes_in_flight) * latency_us
///     predicted = max(memory + waiting, shared_passes / passes_per_us)
///
/// Infinity for what cannot run: it does not take the shape, a block has more threads
/// or more shared memory than the GPU allows, or there is no room for one block. 0 if
/// there are no blocks.
double predict(const Footprint& footprint, const Gpu& gpu);

/// Searches for the fastest configuration. Each one is checked before its first trial;
/// what is wrong gets none. There are at most `max_trials` trials.
///
/// On the landscapes of the tests, with a quarter of the trials of exhaustive search
/// (exhaustive.h), what it finds takes at most 3 % longer than the best, or nearly
/// always: clocks are noisy.
///
/// Throws NothingWorks; wb::InvalidArgument unless max_trials > 0
Choice tune(Rig& rig, int max_trials);

/// Under which name a choice is kept: text of several lines "what value", each ended by
/// "\n". It is the same for two rigs if and only if these are the same:
///
///   - the GPU's name and capability, the driver and the toolkit;
///   - the family, and the names of its configurations;
///   - which of the configurations take the shape;
///   - between which powers of two the rows lie, 2^k <= n < 2^(k+1), and the columns
std::string cache_key(const Rig& rig);

/// The choice for this problem: the one that the directory has under cache_key(), with
/// 0 trials, or else that of tune(), which is then kept there (cache_file.h).
///
/// What is found in the directory is only believed if it is whole, belongs to this key,
/// names a configuration of the family, and that one can run and is right on this very
/// problem (Rig::check()). Anything else is replaced, silently.
///
/// Throws what tune() throws, and CacheError if the choice cannot be kept
Choice tuned(Rig& rig, int max_trials, const std::string& directory);
