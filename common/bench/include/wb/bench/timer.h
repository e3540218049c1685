/// wb/bench/timer.h: how long a launch takes on the GPU.
///
/// A sample is: write over the L2 cache, record an event, launch, record an event. All
/// samples are queued at once, so that the GPU never waits for the host between them;
/// the interval between two events with an empty kernel inside is the floor of what can
/// be told apart (Timer::floor_us).
#pragma once

#include <cuda_runtime.h>
#include <wb/bench/array.h>
#include <wb/bench/statistics.h>

#include <cstddef>
#include <functional>

namespace wb::bench {

/// What is timed: puts work onto the stream and returns.
using Launch = std::function<void(cudaStream_t)>;

/// What the L2 cache holds when a sample starts.
enum class Cache {
    cold,  ///< other data, modified: its write-back balances the kernel's own, which is
           ///< still in the cache when the kernel ends
    hot    ///< what the launch before left; short launches are timed in batches
};

/// The result of many samples.
struct Timing {
    Statistics us;              ///< microseconds a launch
    int launches_a_sample = 1;  ///< > 1 only with a hot cache
};

/// How many samples are taken.
struct Budget {
    int min_samples = 20;
    int max_samples = 500;
    double seconds = 0.2;
    int warm_ups = 3;
};

/// Owns a stream, its events and the memory that flushes the cache.
class Timer {
 public:
    /// @param flush_bytes  > 0; more than twice the L2 cache
    Timer(std::size_t flush_bytes, Budget budget);
    ~Timer();
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    /// Lets the GPU be idle for a moment. Arithmetic at full rate draws more power than
    /// the GPU may for long, and its clocks fall: without a rest, what is measured
    /// depends on what was measured before.
    static void rest();

    /// Warms up, takes the samples, waits for them.
    Timing measure(const Launch& launch, Cache cache);

    /// How long the call itself takes, while the GPU has nothing else to do: the host's
    /// part. It is waited for before the next one.
    Timing measure_host(const Launch& launch);

    /// The median of an empty kernel, measured at the first call.
    double floor_us();

    cudaStream_t stream() const { return stream_; }

 private:
    std::vector<double> sample(const Launch& launch,
                               Cache cache,
                               int count,
                               int launches);

    Array<char> flush_;
    Budget budget_;
    cudaStream_t stream_ = nullptr;
    double floor_us_ = -1.0;
};

}  // namespace wb::bench
