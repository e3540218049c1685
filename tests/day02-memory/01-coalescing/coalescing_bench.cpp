// Times day02-memory/01-coalescing: what a stride costs, records that are taken apart,
// and copies of all alignments beside cudaMemcpyAsync.
#include "coalescing.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <algorithm>
#include <string>

using namespace wb::bench;

namespace {

/// Bytes between a multiple of 16 and the first one of source and destination.
struct Offsets {
    int64_t from;
    int64_t to;
};

struct CopySize {
    int64_t num_bytes;
    Offsets offsets;
};

std::string bytes_in_words(int64_t bytes) {
    if (bytes % (1 << 30) == 0) return std::to_string(bytes >> 30) + " GiB";
    if (bytes % (1 << 20) == 0) return std::to_string(bytes >> 20) + " MiB";
    return std::to_string(bytes) + " B";
}

std::string describe(const CopySize& size) {
    std::string text = bytes_in_words(size.num_bytes);
    if (size.offsets.from != 0)
        text += ", source + " + std::to_string(size.offsets.from);
    if (size.offsets.to != 0)
        text += ", destination + " + std::to_string(size.offsets.to);
    return text;
}

void time_strided(Bench& bench, int64_t n, int64_t stride) {
    const double count = static_cast<double>(n);
    const int64_t span = (n - 1) * stride + 1;
    if (!bench.fits(4.0 * static_cast<double>(span + n))) return;
    const auto x = bench.random_normal(span);
    const auto y = bench.output<float>(n);
    auto problem = bench.problem(
        {"n = " + std::to_string(n) + ", stride " + std::to_string(stride),
         Ceiling::copy,
         8.0 * count});
    problem.expect("y", y, [&](int64_t i) { return Expected{x.at(i * stride), 0.0}; });
    // The rate counts the bytes that are wanted. What must be moved for them: all
    // sectors of 8 floats if the wanted ones are no more than 8 apart, or one for each.
    const double read = static_cast<double>(4 * std::min<int64_t>(stride, 8));
    for (const auto& [name, idea, copy] :
         wb::implementations("copy_strided", copy_strided)) {
        problem.note("sectors_a_load", read);  // 32 lanes, 32 bytes
        problem.note("moved_bytes", count * (read + 4.0));
        problem.time(name, idea, [&, copy = copy](cudaStream_t stream) {
            copy(x.data(), y.data(), n, stride, stream);
        });
    }
    if (stride != 2) return;  // a row of 4 bytes takes it long
    problem.time("cudaMemcpy2DAsync", "library", [&](cudaStream_t stream) {
        CUDA_CHECK(cudaMemcpy2DAsync(y.data(),
                                     sizeof(float),
                                     x.data(),
                                     static_cast<size_t>(stride) * sizeof(float),
                                     sizeof(float),
                                     static_cast<size_t>(n),
                                     cudaMemcpyDeviceToDevice,
                                     stream));
    });
}

void time_records(Bench& bench, int64_t n, int num_fields) {
    const int64_t words = n * num_fields;
    const double bytes = 8.0 * static_cast<double>(words);
    if (!bench.fits(bytes)) return;
    const auto aos = bench.random_normal(words);
    const auto soa = bench.output<float>(words);
    auto problem = bench.problem(
        {"n = " + std::to_string(n) + ", " + std::to_string(num_fields) + " fields",
         Ceiling::copy,
         bytes});
    problem.expect("soa", soa, [&](int64_t i) {
        return Expected{aos.at(i % n * num_fields + i / n), 0.0};
    });
    for (const auto& [name, idea, take_apart] :
         wb::implementations("aos_to_soa", aos_to_soa)) {
        problem.time(name, idea, [&, take_apart = take_apart](cudaStream_t stream) {
            take_apart(aos.data(), soa.data(), n, num_fields, stream);
        });
    }
}

void time_copy(Bench& bench, const CopySize& size) {
    constexpr int64_t kAround = 16;
    const auto& [num_bytes, offsets] = size;
    const double bytes = 2.0 * static_cast<double>(num_bytes);
    if (!bench.fits(bytes)) return;
    const auto source = bench.random_normal((num_bytes + kAround) / 4);
    const auto destination = bench.output<uint8_t>(num_bytes + kAround);
    const auto* from = reinterpret_cast<const uint8_t*>(source.data()) + offsets.from;
    uint8_t* to = destination.data() + offsets.to;
    auto problem = bench.problem({describe(size), Ceiling::copy, bytes});
    problem.expect(
        "destination", destination, [&, o = offsets, num = num_bytes](int64_t i) {
            if (i < o.to || i >= o.to + num) return Expected{255.0, 0.0};  // as it was
            uint8_t byte = 0;
            CUDA_CHECK(cudaMemcpy(
                &byte,
                reinterpret_cast<const uint8_t*>(source.data()) + o.from + (i - o.to),
                1,
                cudaMemcpyDeviceToHost));
            return Expected{static_cast<double>(byte), 0.0};
        });
    for (const auto& [name, idea, copy] :
         wb::implementations("copy_bytes", copy_bytes)) {
        problem.time(
            name, idea, [&, copy = copy, num = num_bytes](cudaStream_t stream) {
                copy(from, to, num, stream);
            });
    }
    problem.time(
        "cudaMemcpyAsync", "library", [&, num = num_bytes](cudaStream_t stream) {
            CUDA_CHECK(cudaMemcpyAsync(
                to, from, static_cast<size_t>(num), cudaMemcpyDeviceToDevice, stream));
        });
}

}  // namespace

WB_BENCH(copy_strided, bench) {
    const int64_t n =
        bench.sizes<int64_t>({1 << 10}, {1 << 20}, {1 << 26}, {1 << 16}).front();
    for (const int64_t stride :
         bench.sizes<int64_t>({1, 2}, {1, 2, 8}, {1, 2, 3, 4, 8, 16, 32}, {2})) {
        time_strided(bench, n, stride);
    }
}

WB_BENCH(aos_to_soa, bench) {
    const int64_t n =
        bench.sizes<int64_t>({1 << 10}, {1 << 20}, {1 << 26}, {1 << 16}).front();
    for (const int num_fields : bench.sizes<int>({3}, {3, 4}, {1, 2, 3, 4}, {3})) {
        time_records(bench, n, num_fields);
    }
}

WB_BENCH(copy_bytes, bench) {
    constexpr int64_t kGiB = int64_t{1} << 30;
    for (const CopySize& size :
         bench.sizes<CopySize>({{4096, {0, 0}}, {4096, {1, 2}}},
                               {{1 << 24, {0, 0}}, {1 << 24, {1, 0}}},
                               {{1 << 20, {0, 0}},
                                {1 << 26, {0, 0}},
                                {kGiB, {0, 0}},
                                {kGiB, {4, 4}},
                                {kGiB, {4, 0}},
                                {kGiB, {8, 0}},
                                {kGiB, {1, 0}},
                                {kGiB, {0, 1}},
                                {kGiB, {5, 14}}},
                               {{1 << 18, {1, 0}}})) {
        time_copy(bench, size);
    }
}
