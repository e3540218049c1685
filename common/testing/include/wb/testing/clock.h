/// wb/testing/clock.h: how long a launch takes, for tests that grade by time on a GPU.
///
/// Such tests are tagged [serial][large], are skipped in the simulator, whose times
/// mean nothing, and state a factor between two kernels rather than a time.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace wb::testing {

/// The median of nine launches between two events, after two that warm up, in seconds.
inline double median_seconds(const std::function<void(cudaStream_t)>& launch) {
    constexpr int kWarmUps = 2;
    constexpr int kSamples = 9;
    cudaStream_t stream = nullptr;
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    std::vector<double> seconds;
    for (int i = 0; i < kWarmUps + kSamples; ++i) {
        CUDA_CHECK(cudaEventRecord(begin, stream));
        launch(stream);
        CUDA_CHECK(cudaEventRecord(end, stream));
        CUDA_CHECK(cudaEventSynchronize(end));
        float ms = 0.0f;
        CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (i >= kWarmUps) seconds.push_back(1e-3 * ms);
    }
    CUDA_CHECK(cudaEventDestroy(begin));
    CUDA_CHECK(cudaEventDestroy(end));
    CUDA_CHECK(cudaStreamDestroy(stream));
    std::nth_element(seconds.begin(), seconds.begin() + kSamples / 2, seconds.end());
    return seconds[kSamples / 2];
}

}  // namespace wb::testing
