/// clock.h: how long a launch takes, by the GPU's events.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

#include <algorithm>
#include <vector>

/// The median of seven launches between two events, after two that warm up; in seconds.
template <class Launch>
double seconds_of(Launch launch) {
    constexpr int kWarmUps = 2;
    constexpr int kSamples = 7;
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    std::vector<double> seconds;
    for (int i = 0; i < kWarmUps + kSamples; ++i) {
        CUDA_CHECK(cudaEventRecord(begin, nullptr));
        launch(cudaStream_t{nullptr});
        CUDA_CHECK(cudaEventRecord(end, nullptr));
        CUDA_CHECK(cudaEventSynchronize(end));
        float ms = 0.0f;
        CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (i >= kWarmUps) seconds.push_back(1e-3 * ms);
    }
    CUDA_CHECK(cudaEventDestroy(begin));
    CUDA_CHECK(cudaEventDestroy(end));
    std::nth_element(seconds.begin(), seconds.begin() + kSamples / 2, seconds.end());
    return seconds[kSamples / 2];
}
