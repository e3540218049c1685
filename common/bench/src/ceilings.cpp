#include <wb/bench/ceilings.h>

#include <algorithm>
#include <stdexcept>

#include "kernels.h"

namespace wb::bench {

std::size_t ceiling_bytes() {
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    return std::max(std::min(4096 * kMiB, free_bytes / 2), kMiB);
}

std::string name_of(Ceiling ceiling) {
    switch (ceiling) {
        case Ceiling::read:
            return "read";
        case Ceiling::write:
            return "write";
        case Ceiling::copy:
            return "copy";
        case Ceiling::read2_write1:
            return "2 reads + 1 write";
        case Ceiling::fp32:
            return "fp32";
        case Ceiling::tf32:
            return "tf32";
        case Ceiling::fp16:
            return "fp16";
        case Ceiling::bf16:
            return "bf16";
    }
    throw std::logic_error("name_of: no such ceiling");
}

bool is_compute(Ceiling ceiling) {
    return ceiling >= Ceiling::fp32;
}

const char* unit_of(Ceiling ceiling) {
    return is_compute(ceiling) ? "TFLOP/s" : "GB/s";
}

double Ceilings::get(Ceiling ceiling) {
    const auto known = measured_.find(ceiling);
    if (known != measured_.end()) return known->second;
    const double value = is_compute(ceiling) ? measure_matrix_product(ceiling, timer_)
                                             : bandwidth(ceiling);
    measured_[ceiling] = value;
    return value;
}

/// The best of the library's way (a copy, a fill) and of our kernel with 1, 2 and 4
/// loads in flight a thread: a ceiling that a kernel beats would be none.
double Ceilings::bandwidth(Ceiling ceiling) {
    constexpr auto kFloats = static_cast<std::int64_t>(sizeof(float4) / sizeof(float));
    const bool reads = ceiling != Ceiling::write;
    const std::size_t num_arrays = ceiling == Ceiling::read2_write1 ? 3
                                   : ceiling == Ceiling::copy       ? 2
                                                                    : 1;
    const auto n =
        static_cast<std::int64_t>(total_bytes_ / num_arrays / sizeof(float4));
    const Array<float> a = random_normal(reads ? n * kFloats : 0, 1);
    const Array<float> b =
        random_normal(ceiling == Ceiling::read2_write1 ? n * kFloats : 0, 2);
    const Array<float4> c(ceiling != Ceiling::read ? n : 0);
    const Array<float> sink(1);
    const TrafficArrays arrays{reinterpret_cast<const float4*>(a.data()),
                               reinterpret_cast<const float4*>(b.data()),
                               c.data(),
                               sink.data(),
                               n};
    Traffic traffic = Traffic::read;
    if (ceiling == Ceiling::write) traffic = Traffic::write;
    if (ceiling == Ceiling::copy) traffic = Traffic::copy;
    if (ceiling == Ceiling::read2_write1) traffic = Traffic::read2_write1;

    std::vector<Launch> candidates;
    for (const int unroll : {1, 2, 4}) {
        candidates.push_back([&, unroll](cudaStream_t s) {
            launch_traffic(traffic, unroll, arrays, s);
        });
    }
    if (ceiling == Ceiling::copy) {
        candidates.push_back([&](cudaStream_t s) {
            CUDA_CHECK(cudaMemcpyAsync(
                c.data(), a.data(), c.bytes(), cudaMemcpyDeviceToDevice, s));
        });
    }
    if (ceiling == Ceiling::write) {
        candidates.push_back([&](cudaStream_t s) {
            CUDA_CHECK(cudaMemsetAsync(c.data(), 0x5A, c.bytes(), s));
        });
    }
    double best_us = timer_.measure(candidates.front(), Cache::cold).us.median;
    for (std::size_t i = 1; i < candidates.size(); ++i) {
        best_us =
            std::min(best_us, timer_.measure(candidates[i], Cache::cold).us.median);
    }
    const double bytes = static_cast<double>(a.bytes() + b.bytes() + c.bytes());
    return bytes / best_us * 1e-3;  // bytes/us -> GB/s
}

}  // namespace wb::bench
