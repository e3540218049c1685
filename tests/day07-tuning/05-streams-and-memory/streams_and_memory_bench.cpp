// Times day07-tuning/05-streams-and-memory: how close does the pipeline come to the
// slower of its two parts, the copies and the kernel?
#include "streams_and_memory.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "host_array.h"

using namespace wb::bench;

namespace {

struct Size {
    int64_t n;
    ChunkPlan plan;
    const char* text;
};

/// relax(x, rounds), in double and at once: its fixed point is 1.
Expected relaxed(double x, int rounds) {
    const double value = 1.0 + (x - 1.0) * std::pow(1023.0 / 1024.0, rounds);
    return {value, std::min(rounds, 1024) * 0x1p-24 * std::max(std::abs(x), 1.0)};
}

/// What each part takes without the other two, in microseconds.
struct Parts {
    double copies = 0.0;  ///< in and out at the same time, all of it at once
    double kernel = 0.0;
};

/// Both copies at the same time, on two streams, and nothing else.
void copy_both_ways(const HostArray& in,
                    const HostArray& out,
                    const Array<float>& device,
                    cudaStream_t in_stream,
                    cudaStream_t out_stream,
                    cudaEvent_t event) {
    const int64_t half = device.size() / 2;
    const size_t bytes = static_cast<size_t>(half) * sizeof(float);
    CUDA_CHECK(cudaEventRecord(event, in_stream));
    CUDA_CHECK(cudaStreamWaitEvent(out_stream, event));
    CUDA_CHECK(cudaMemcpyAsync(
        device.data(), in.data(), bytes, cudaMemcpyHostToDevice, in_stream));
    CUDA_CHECK(cudaMemcpyAsync(
        out.data(), device.data() + half, bytes, cudaMemcpyDeviceToHost, out_stream));
    CUDA_CHECK(cudaEventRecord(event, out_stream));
    CUDA_CHECK(cudaStreamWaitEvent(in_stream, event));
}

Parts time_parts(Bench& bench,
                 const Size& size,
                 const HostArray& in,
                 const HostArray& out) {
    Parts parts;
    cudaStream_t other = nullptr;
    cudaEvent_t event = nullptr;
    CUDA_CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    const auto device = bench.output<float>(2 * size.n);
    parts.copies = bench.time_alone([&](cudaStream_t stream) {
        copy_both_ways(in, out, device, stream, other, event);
    });
    parts.kernel = bench.time_alone([&](cudaStream_t stream) {
        launch_relax(device.data(), size.n, size.plan.rounds, stream);
    });
    CUDA_CHECK(cudaStreamDestroy(other));
    CUDA_CHECK(cudaEventDestroy(event));
    return parts;
}

}  // namespace

WB_BENCH(process_chunks, bench) {
    constexpr int64_t kMi = 1 << 20;
    for (const Size& size :
         bench.sizes<Size>({{1000, {300, 3, 4}, "n = 1000"}},
                           {{16 * kMi, {kMi, 3, 1}, "n = 16 Mi, 1 round"}},
                           {{64 * kMi, {kMi, 3, 1}, "n = 64 Mi, 1 round"},
                            {64 * kMi, {kMi, 3, 2000}, "n = 64 Mi, 2000 rounds"},
                            {64 * kMi, {kMi, 3, 6000}, "n = 64 Mi, 6000 rounds"}})) {
        const double bytes = 2.0 * sizeof(float) * static_cast<double>(size.n);
        if (!bench.fits(1.5 * bytes)) continue;
        const auto numbers = bench.random_normal(size.n).host();
        const HostArray in(numbers, HostMemory::pinned);
        const HostArray out(size.n, HostMemory::pinned);
        const HostArray pageable_in(numbers, HostMemory::pageable);
        const HostArray pageable_out(size.n, HostMemory::pageable);
        const Parts parts = time_parts(bench, size, in, out);
        if (parts.kernel > 0.0) {
            std::printf(
                "\ncopies alone, both ways at once: %.0f us; kernel alone: %.0f us\n",
                parts.copies,
                parts.kernel);
        }
        Spec spec{size.text, Ceiling::copy, bytes};
        spec.limit =
            parts.copies > parts.kernel ? "the copies alone" : "the kernel alone";
        spec.limit_us = std::max(parts.copies, parts.kernel);
        auto problem = bench.problem(spec);
        problem.expect(
            "out", out, [&](int64_t i) { return relaxed(in.at(i), size.plan.rounds); });
        for (const auto& [name, idea, process] :
             wb::implementations("process_chunks", process_chunks)) {
            problem.time(name, idea, [&, process = process](cudaStream_t stream) {
                process(in.data(), out.data(), size.n, size.plan, stream);
            });
        }
        if (size.plan.rounds != 1) continue;
        spec.size += ", pageable memory";
        auto pageable = bench.problem(spec);
        pageable.expect("out", pageable_out, [&](int64_t i) {
            return relaxed(pageable_in.at(i), size.plan.rounds);
        });
        for (const auto& [name, idea, process] :
             wb::implementations("process_chunks", process_chunks)) {
            pageable.time(name, idea, [&, process = process](cudaStream_t stream) {
                process(
                    pageable_in.data(), pageable_out.data(), size.n, size.plan, stream);
            });
        }
    }
}
