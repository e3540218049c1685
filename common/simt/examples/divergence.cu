// divergence.cu: the lanes of a warp go together, or wait for one another.
//
//     ./learn xray common/simt/examples/divergence.cu       (divergence [n = 4096])
//
// A warp issues one instruction at a time, for the lanes that are at this instruction.
// Where its lanes part, it goes both ways, one after the other, with the others idle.
#include "example.h"

constexpr int kThreads = 256;
constexpr int kSteps = 16;

/// Even lanes go one way, odd ones the other: every warp goes both, with 16 lanes.
__global__ void branch_by_lane(const float* in, float* out, int steps) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    float x = in[i];
    if (threadIdx.x % 2 == 0) {
        for (int step = 0; step < steps; ++step)
            x = x * 0.5f + 1.0f;  // @lane.even
    } else {
        for (int step = 0; step < steps; ++step)
            x = sqrtf(x * x + 1.0f);  // @lane.odd
    }
    out[i] = x;
}

/// Even warps go one way, odd ones the other: all 32 lanes always work, in half as many
/// instructions. Divergence is a matter of a warp, not of a block.
__global__ void branch_by_warp(const float* in, float* out, int steps) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    float x = in[i];
    if (threadIdx.x / 32 % 2 == 0) {
        for (int step = 0; step < steps; ++step)
            x = x * 0.5f + 1.0f;  // @warp.even
    } else {
        for (int step = 0; step < steps; ++step)
            x = sqrtf(x * x + 1.0f);  // @warp.odd
    }
    out[i] = x;
}

/// The data decide how long a lane works: here 1 to 16 steps, as often each. A warp
/// goes on until its last lane is done, nearly 16 steps; the average lane works 8.5 of
/// them: 17 lanes of 32 at a time.
__global__ void loop_by_data(const float* in, const int* steps, float* out) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    float x = in[i];
    const int count = steps[i];
#pragma unroll 1  // else nvcc does 4 steps a round, and the rest diverges once more
    for (int step = 0; step < count; ++step)
        x = sqrtf(x * x + 1.0f);  // @data.step
    out[i] = x;
}

int main(int argc, char** argv) {
    const int n = example::size_argument(argc, argv, 4096, kThreads);
    const int blocks = n / kThreads;
    const std::vector<float> values = example::numbers(n);
    std::vector<int> counts(n);
    uint32_t state = 1;
    for (int& count : counts) {
        state = state * 1664525u + 1013904223u;
        count = 1 + int(state >> 28);
    }
    example::Array<float> in(values), out(std::vector<float>(n, -1.0f));
    example::Array<int> steps(counts);
    example::Verdict verdict;

    // What thread i computes in so many steps of the one kind or the other.
    const auto halved = [](float x, int count) {
        for (int step = 0; step < count; ++step)
            x = x * 0.5f + 1.0f;
        return x;
    };
    const auto rooted = [](float x, int count) {
        for (int step = 0; step < count; ++step)
            x = std::sqrt(x * x + 1.0f);
        return x;
    };
    std::vector<float> by_lane(n), by_warp(n), by_data(n);
    for (int i = 0; i < n; ++i) {
        const float half = halved(values[i], kSteps), root = rooted(values[i], kSteps);
        by_lane[i] = i % 2 == 0 ? half : root;
        by_warp[i] = i / 32 % 2 == 0 ? half : root;
        by_data[i] = rooted(values[i], counts[i]);
    }

    branch_by_lane<<<blocks, kThreads>>>(in.data(), out.data(), kSteps);
    verdict.compare("branch_by_lane", out.download(), by_lane, 1e-5);
    branch_by_warp<<<blocks, kThreads>>>(in.data(), out.data(), kSteps);
    verdict.compare("branch_by_warp", out.download(), by_warp, 1e-5);
    loop_by_data<<<blocks, kThreads>>>(in.data(), steps.data(), out.data());
    verdict.compare("loop_by_data", out.download(), by_data, 1e-5);
    return verdict.exit_status();
}
