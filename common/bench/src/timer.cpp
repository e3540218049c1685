#include <wb/bench/timer.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "kernels.h"

namespace wb::bench {
namespace {

constexpr double kShortestSampleUs = 1000.0;  // of a batch, with a hot cache
constexpr int kMaxLaunches = 1000;
constexpr std::chrono::milliseconds kRest{500};

/// CUDA events, destroyed with their owner.
class Events {
 public:
    explicit Events(int count) : events_(static_cast<std::size_t>(count)) {
        for (cudaEvent_t& event : events_)
            CUDA_CHECK(cudaEventCreate(&event));
    }
    ~Events() {
        for (cudaEvent_t event : events_) {
            if (event != nullptr) (void)cudaEventDestroy(event);
        }
    }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    cudaEvent_t operator[](int i) const { return events_[static_cast<std::size_t>(i)]; }

 private:
    std::vector<cudaEvent_t> events_;
};

}  // namespace

Timer::Timer(std::size_t flush_bytes, Budget budget)
    : flush_(static_cast<std::int64_t>(flush_bytes)), budget_(budget) {
    // Blocking: work that a launcher puts onto the default stream is ordered with ours,
    // and so is timed too.
    CUDA_CHECK(cudaStreamCreate(&stream_));
}

Timer::~Timer() {
    (void)cudaStreamDestroy(stream_);
}

std::vector<double> Timer::sample(const Launch& launch,
                                  Cache cache,
                                  int count,
                                  int launches) {
    const Events events(2 * count);
    for (int i = 0; i < count; ++i) {
        if (cache == Cache::cold) {
            CUDA_CHECK(
                cudaMemsetAsync(flush_.data(), i & 0xFF, flush_.bytes(), stream_));
        }
        CUDA_CHECK(cudaEventRecord(events[2 * i], stream_));
        for (int k = 0; k < launches; ++k)
            launch(stream_);
        CUDA_CHECK(cudaEventRecord(events[2 * i + 1], stream_));
    }
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    CUDA_CHECK(cudaGetLastError());

    std::vector<double> us;
    for (int i = 0; i < count; ++i) {
        float milliseconds = 0.0f;
        CUDA_CHECK(
            cudaEventElapsedTime(&milliseconds, events[2 * i], events[2 * i + 1]));
        us.push_back(1e3 * static_cast<double>(milliseconds) / launches);
    }
    return us;
}

void Timer::rest() {
    CUDA_CHECK(cudaDeviceSynchronize());
    std::this_thread::sleep_for(kRest);
}

Timing Timer::measure(const Launch& launch, Cache cache) {
    using Clock = std::chrono::steady_clock;
    for (int i = 0; i < budget_.warm_ups; ++i)
        launch(stream_);
    CUDA_CHECK(cudaStreamSynchronize(stream_));

    // The estimate: what one launch takes, and what one sample costs with its flush.
    const auto begin = Clock::now();
    const double launch_us =
        summarise(sample(launch, cache, budget_.warm_ups, 1)).median;
    const std::chrono::duration<double> elapsed = Clock::now() - begin;
    const double seconds_a_sample = std::max(elapsed.count() / budget_.warm_ups, 1e-6);

    Timing timing;
    if (cache == Cache::hot) {
        const double wanted = kShortestSampleUs / std::max(launch_us, 0.1);
        timing.launches_a_sample = static_cast<int>(
            std::clamp(wanted + 1.0, 1.0, static_cast<double>(kMaxLaunches)));
    }
    const double affordable =
        budget_.seconds / (seconds_a_sample * timing.launches_a_sample);
    const int count =
        static_cast<int>(std::clamp(affordable,
                                    static_cast<double>(budget_.min_samples),
                                    static_cast<double>(budget_.max_samples)));
    timing.us = summarise(sample(launch, cache, count, timing.launches_a_sample));
    return timing;
}

Timing Timer::measure_host(const Launch& launch) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    std::vector<double> us;
    const auto enough = [&] {
        const std::chrono::duration<double> spent = Clock::now() - begin;
        const int count = static_cast<int>(us.size());
        return count >= budget_.max_samples ||
               (count >= budget_.min_samples && spent.count() > budget_.seconds);
    };
    for (int i = 0; i < budget_.warm_ups; ++i)
        launch(stream_);
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    while (!enough()) {
        const auto called = Clock::now();
        launch(stream_);
        const std::chrono::duration<double, std::micro> took = Clock::now() - called;
        us.push_back(took.count());
        CUDA_CHECK(cudaStreamSynchronize(stream_));
    }
    return {summarise(std::move(us)), 1};
}

double Timer::floor_us() {
    if (floor_us_ < 0.0) floor_us_ = measure(launch_nothing, Cache::cold).us.median;
    return floor_us_;
}

}  // namespace wb::bench
