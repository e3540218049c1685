// Six ways for a warp or a block to add its numbers up, for the figure "reduction
// steps": the number of each thread after each step, and what the simulator's checker
// counts for the whole kernel.
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <simt/check.h>
#include <simt/counters.h>

#include "json.h"

namespace {

constexpr int kWarpSize = 32;
constexpr int kMostThreads = 256;
constexpr int kMostSteps = 12;

/// Where the threads write what they hold after each step. Only a launch with kTrace
/// does so: the other one is counted.
template <bool kTrace>
struct Trace {
    float* g_values;  // [kMostSteps, blockDim.x]
    int step = 0;

    __device__ void operator()(float value) {
        if constexpr (kTrace) g_values[step++ * blockDim.x + threadIdx.x] = value;
    }
};

/// The three trees in shared memory. `add(step)` returns the place at which the thread
/// adds what lies `step` further on, or -1.
template <bool kTrace, class Place>
__device__ void reduce_step(float* s_sum, int step, Trace<kTrace>& trace, Place place) {
    const int i = place(step);
    if (i >= 0) s_sum[i] += s_sum[i + step];
    __syncthreads();
    if constexpr (kTrace) {
        trace(s_sum[threadIdx.x]);
        __syncthreads();
    }
}

/// Every 2nd, 4th, 8th, … thread adds its neighbour.
template <bool kTrace>
__global__ void interleaved(const float* g_in, float* g_out, Trace<kTrace> trace) {
    __shared__ float s_sum[kMostThreads];
    const int t = threadIdx.x, n = blockDim.x;
    s_sum[t] = g_in[t];
    __syncthreads();
    for (int step = 1; step < n; step *= 2)
        reduce_step(
            s_sum, step, trace, [=](int d) { return t % (2 * d) == 0 ? t : -1; });
    if (t == 0) *g_out = s_sum[0];
}

/// The same sums, by the first threads.
template <bool kTrace>
__global__ void compact(const float* g_in, float* g_out, Trace<kTrace> trace) {
    __shared__ float s_sum[kMostThreads];
    const int t = threadIdx.x, n = blockDim.x;
    s_sum[t] = g_in[t];
    __syncthreads();
    for (int step = 1; step < n; step *= 2)
        reduce_step(
            s_sum, step, trace, [=](int d) { return 2 * d * t < n ? 2 * d * t : -1; });
    if (t == 0) *g_out = s_sum[0];
}

/// The first half adds the second half.
template <bool kTrace>
__global__ void sequential(const float* g_in, float* g_out, Trace<kTrace> trace) {
    __shared__ float s_sum[kMostThreads];
    const int t = threadIdx.x, n = blockDim.x;
    s_sum[t] = g_in[t];
    __syncthreads();
    for (int step = n / 2; step > 0; step /= 2)
        reduce_step(s_sum, step, trace, [=](int d) { return t < d ? t : -1; });
    if (t == 0) *g_out = s_sum[0];
}

/// One warp, or a part of it that is a power of two: registers only.
template <bool kTrace>
__global__ void shuffle_down(const float* g_in, float* g_out, Trace<kTrace> trace) {
    const int t = threadIdx.x, n = blockDim.x;
    const unsigned mask = n == kWarpSize ? ~0u : (1u << n) - 1;
    float sum = g_in[t];
    for (int offset = n / 2; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(mask, sum, offset, n);
        trace(sum);
    }
    if (t == 0) *g_out = sum;
}

/// The same, and every lane has the sum.
template <bool kTrace>
__global__ void shuffle_xor(const float* g_in, float* g_out, Trace<kTrace> trace) {
    const int t = threadIdx.x, n = blockDim.x;
    const unsigned mask = n == kWarpSize ? ~0u : (1u << n) - 1;
    float sum = g_in[t];
    for (int offset = n / 2; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(mask, sum, offset, n);
        trace(sum);
    }
    if (t == 0) *g_out = sum;
}

/// Each warp adds up by shuffles, then the first warp adds the warps' sums.
template <bool kTrace>
__global__ void two_level(const float* g_in, float* g_out, Trace<kTrace> trace) {
    __shared__ float s_warp[kMostThreads / kWarpSize];
    const int t = threadIdx.x, lane = t % kWarpSize;
    const int num_warps = blockDim.x / kWarpSize;
    float sum = g_in[t];
    for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(~0u, sum, offset);
        trace(sum);
    }
    if (lane == 0) s_warp[t / kWarpSize] = sum;
    __syncthreads();
    if (t >= kWarpSize) return;
    sum = t < num_warps ? s_warp[t] : 0.0f;
    trace(sum);
    for (int offset = num_warps / 2; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(~0u, sum, offset);
        trace(sum);
    }
    if (t == 0) *g_out = sum;
}

struct Way {
    const char* name;
    void (*traced)(const float*, float*, Trace<true>);
    void (*counted)(const float*, float*, Trace<false>);
    int least, most;  // threads
};

const Way kWays[] = {
    {"interleaved", interleaved<true>, interleaved<false>, 8, 256},
    {"compact", compact<true>, compact<false>, 8, 256},
    {"sequential", sequential<true>, sequential<false>, 8, 256},
    {"shuffle-down", shuffle_down<true>, shuffle_down<false>, 8, 32},
    {"shuffle-xor", shuffle_xor<true>, shuffle_xor<false>, 8, 32},
    {"two-level", two_level<true>, two_level<false>, 64, 256},
};

/// The numbers of the figure: those of the lesson's picture come first, and every warp
/// has another sum.
float input(int t) {
    constexpr int kDigits[] = {3, 1, 7, 0, 4, 1, 6, 3, 5, 9, 2, 6, 8, 0, 7, 4,
                               1, 8, 3, 9, 5, 2, 0, 6, 4, 7, 9, 1, 2, 8, 5, 0};
    return static_cast<float>(kDigits[(t + 5 * (t / 32)) % 32] + t / 32);
}

void require(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

template <class T>
T* upload(const std::vector<T>& values) {
    T* device;
    const size_t bytes = values.size() * sizeof(T);
    require(cudaMalloc(&device, bytes));
    require(cudaMemcpy(device, values.data(), bytes, cudaMemcpyHostToDevice));
    return device;
}

void append(truth::Json& json,
            std::string_view name,
            const simt::check::SharedCounters& c) {
    json.key(name)
        .open('{')
        .member("requests", c.requests)
        .member("wavefronts", c.wavefronts)
        .member("ways", c.worst_ways)
        .close('}');
}

void run(const Way& way, int threads, truth::Json& json) {
    constexpr float kNothing = -1.0f;
    std::vector<float> in, trace(kMostSteps * threads, kNothing);
    for (int t = 0; t < threads; ++t)
        in.push_back(input(t));
    float* const g_in = upload(in);
    float* const g_trace = upload(trace);
    float* const g_out = upload(std::vector{0.0f});

    way.traced<<<1, threads>>>(g_in, g_out, Trace<true>{g_trace});
    require(cudaDeviceSynchronize());
    require(cudaMemcpy(
        trace.data(), g_trace, trace.size() * sizeof(float), cudaMemcpyDeviceToHost));
    char section[32];
    std::snprintf(section, sizeof section, "%s %d", way.name, threads);
    simt::check::begin_section(section);
    way.counted<<<1, threads>>>(g_in, g_out, Trace<false>{nullptr});
    require(cudaDeviceSynchronize());
    const simt::check::Counters counters = simt::check::counters("");
    simt::check::end_section();
    float result;
    require(cudaMemcpy(&result, g_out, sizeof result, cudaMemcpyDeviceToHost));
    for (float* const g_array : {g_in, g_trace, g_out})
        require(cudaFree(g_array));

    json.open('{')
        .member("way", way.name)
        .member("threads", threads)
        .member("result", result)
        .member("barriers", counters.barriers);
    append(json, "loads", counters.shared_load);
    append(json, "stores", counters.shared_store);
    json.key("input").list(in);
    // After each step what every thread holds; null: the thread has left.
    json.key("steps").open('[');
    for (int step = 0; trace[step * threads] != kNothing; ++step) {
        json.open('[');
        for (int t = 0; t < threads; ++t) {
            const float value = trace[step * threads + t];
            if (value == kNothing)
                json.null();
            else
                json.value(value);
        }
        json.close(']');
    }
    json.close(']').close('}');
}

}  // namespace

int main() {
    truth::Json json;
    json.open('{').key("reductions").open('[');
    for (const Way& way : kWays)
        for (int threads = way.least; threads <= way.most; threads *= 2)
            run(way, threads, json);
    json.close(']').close('}').print();
    return simt::check::counting_accesses() ? 0 : 1;
}
