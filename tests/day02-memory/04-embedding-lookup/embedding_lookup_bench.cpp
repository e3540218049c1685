// Times day02-memory/04-embedding-lookup: how close do a gather, sums of bags and a
// scatter come to the bandwidth of a copy?
#include "embedding_lookup.h"

#include <wb/bench/bench.h>
#include <wb/bench/random_numbers.h>
#include <wb/implementations.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

using namespace wb::bench;

namespace {

/// How indices are spread over the rows: alike; skewed, as words of a language are,
/// where row r is looked up in proportion to 1 / (r + 1); or all of them one row.
enum Spread { uniform, skewed, one_row };

struct Size {
    int64_t count, num_rows, cols;
    Spread spread = uniform;

    std::string text() const {
        const char* const spreads[] = {"uniform", "skewed", "one row"};
        return std::to_string(count) + " of " + std::to_string(num_rows) + " x " +
               std::to_string(cols) + ", " + spreads[spread];
    }
    /// What the contract moves if all rows are read, or all rows are written.
    double bytes(int64_t read_rows, int64_t written_rows, size_t element) const {
        return static_cast<double>((read_rows + written_rows) * cols) *
                   static_cast<double>(element) +
               8.0 * static_cast<double>(count);
    }
};

constexpr int64_t kMillion = int64_t{1} << 20;

/// Rows of 512 bytes, spread and skewed; short rows, odd rows, and long rows.
std::vector<Size> sizes(const Bench& bench) {
    return bench.sizes<Size>({{70, 50, 12}, {70, 50, 5}},
                             {{1 << 14, 1 << 14, 128}},
                             {{kMillion, kMillion, 32},
                              {kMillion, kMillion, 127},
                              {kMillion / 8, kMillion / 8, 1024},
                              {kMillion, kMillion, 128, skewed},
                              {kMillion, kMillion, 128}},
                             {{4096, 4096, 128}});
}

/// Those of 16-bit numbers.
std::vector<Size> sizes_u16(const Bench& bench) {
    return bench.sizes<Size>({{70, 50, 12}, {70, 50, 5, skewed}},
                             {{1 << 14, 1 << 14, 128}},
                             {{kMillion, kMillion, 32}, {kMillion, kMillion, 256}},
                             {{4096, 4096, 128}});
}

/// Those of the backward pass.
std::vector<Size> sizes_backward(const Bench& bench) {
    return bench.sizes<Size>({{70, 50, 12}, {70, 50, 5, skewed}},
                             {{1 << 14, 1 << 14, 128}},
                             {{kMillion, kMillion, 32},
                              {kMillion / 8, kMillion / 8, 128, one_row},
                              {kMillion, kMillion, 128, skewed},
                              {kMillion, kMillion, 128}},
                             {{4096, 4096, 128}});
}

std::vector<int64_t> make_indices(const Size& s) {
    std::mt19937_64 random(1);
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < s.count; ++i) {
        const double u = static_cast<double>(random() >> 11) * 0x1p-53;
        const auto rows = static_cast<double>(s.num_rows);
        double row = 0.0;
        if (s.spread == uniform) row = u * rows;
        if (s.spread == skewed) row = std::pow(rows + 1.0, u) - 1.0;
        indices.push_back(std::min(static_cast<int64_t>(row), s.num_rows - 1));
    }
    return indices;
}

/// Indices on the device, and the counter of bad ones.
struct Indices {
    explicit Indices(const Size& s) : host(make_indices(s)), device(s.count), bad(1) {
        device.upload(host);
        bad.upload({0});
        lookup = {device.data(), s.count, s.num_rows, s.cols, bad.data()};
    }
    int64_t at(int64_t i) const { return host[static_cast<size_t>(i)]; }

    std::vector<int64_t> host;
    Array<int64_t> device;
    Array<unsigned long long> bad;
    Lookup lookup{};
};

template <class T, class Function>
void time_gather(Bench& bench,
                 const std::string& name,
                 Function* contract,
                 const Size& s,
                 const Array<T>& table) {
    const Indices indices(s);
    const auto out = bench.output<T>(s.count * s.cols);
    auto problem =
        bench.problem({s.text(), Ceiling::copy, s.bytes(s.count, s.count, sizeof(T))});
    problem.expect("out", out, [&](int64_t i) {
        const int64_t from = indices.at(i / s.cols) * s.cols + i % s.cols;
        return Expected{static_cast<double>(table.at(from)), 0.0};
    });
    for (const auto& [version, idea, launcher] : wb::implementations(name, contract)) {
        problem.time(version, idea, [&, launcher = launcher](cudaStream_t stream) {
            launcher(table.data(), out.data(), indices.lookup, stream);
        });
    }
}

}  // namespace

WB_BENCH(embedding, bench) {
    for (const Size& s : sizes(bench)) {
        if (!bench.fits(s.bytes(s.count, s.num_rows, sizeof(float)))) continue;
        const auto table = bench.random_normal(s.num_rows * s.cols);
        time_gather(bench, "embedding", embedding, s, table);
    }
}

WB_BENCH(embedding_u16, bench) {
    for (const Size& s : sizes_u16(bench)) {
        if (!bench.fits(2.0 * s.bytes(s.count, s.num_rows, sizeof(uint16_t)))) continue;
        const int64_t count = s.num_rows * s.cols;
        const auto floats = bench.random_normal((count + 1) / 2);  // of any bits
        const Array<uint16_t> table(count);
        CUDA_CHECK(cudaMemcpy(
            table.data(), floats.data(), table.bytes(), cudaMemcpyDeviceToDevice));
        time_gather(bench, "embedding_u16", embedding_u16, s, table);
    }
}

namespace {

/// Bags of 20 indices each, in three types of number.
template <class T, class Function>
void time_bags(Bench& bench, const std::string& name, Function* contract) {
    constexpr int64_t kLength = 20;
    const auto all = bench.sizes<Size>({{60, 50, 12}},
                                       {{20 << 8, 1 << 14, 128}},
                                       {{kMillion / 20 * 20, kMillion, 128, skewed},
                                        {kMillion / 20 * 20, kMillion, 128}});
    for (const Size& s : all) {
        const int64_t num_bags = s.count / kLength;
        const double bytes =
            s.bytes(s.count, num_bags, sizeof(T)) + 8.0 * static_cast<double>(num_bags);
        if (!bench.fits(3.0 * bytes)) continue;
        const auto table = random_numbers<T>(bench, s.num_rows * s.cols);
        const Indices indices(s);
        const auto out = bench.output<T>(num_bags * s.cols);
        std::vector<int64_t> host;
        for (int64_t bag = 0; bag <= num_bags; ++bag)
            host.push_back(bag * kLength);
        const Array<int64_t> offsets(num_bags + 1);
        offsets.upload(host);
        auto problem = bench.problem({"bags of 20, " + s.text(), Ceiling::read, bytes});
        problem.expect("out", out, [&](int64_t i) {
            double sum = 0.0;
            double magnitude = 0.0;
            for (int64_t k = 0; k < kLength; ++k) {
                const int64_t row = indices.at(i / s.cols * kLength + k);
                const auto value = static_cast<double>(
                    static_cast<float>(table.at(row * s.cols + i % s.cols)));
                sum += value;
                magnitude += std::abs(value);
            }
            const double stored = sizeof(T) == 2 ? 0x1p-8 * std::abs(sum) : 0.0;
            return Expected{sum, kLength * 0x1p-23 * magnitude + stored};
        });
        const Bags bags = {offsets.data(), num_bags, Pool::sum, -1};
        for (const auto& [version, idea, launcher] :
             wb::implementations(name, contract)) {
            problem.time(version, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(table.data(), out.data(), indices.lookup, bags, stream);
            });
        }
    }
}

}  // namespace

WB_BENCH(embedding_bag, bench) {
    time_bags<float>(bench, "embedding_bag", embedding_bag);
}

WB_BENCH(embedding_bag_fp16, bench) {
    time_bags<__half>(bench, "embedding_bag_fp16", embedding_bag_fp16);
}

WB_BENCH(embedding_bag_bf16, bench) {
    time_bags<__nv_bfloat16>(bench, "embedding_bag_bf16", embedding_bag_bf16);
}

WB_BENCH(embedding_backward, bench) {
    for (const Size& s : sizes_backward(bench)) {
        const double bytes = s.bytes(s.count, s.num_rows, sizeof(float));
        if (!bench.fits(1.5 * bytes)) continue;
        const auto grad_out = bench.random_normal(s.count * s.cols);
        const Indices indices(s);
        const auto grad_table = bench.output<float>(s.num_rows * s.cols);
        const auto grads = grad_out.host();
        auto problem = bench.problem({s.text(), Ceiling::copy, bytes});
        problem.expect("grad_table", grad_table, [&](int64_t i) {
            double sum = 0.0;
            double magnitude = 0.0;
            double terms = 0.0;
            for (int64_t k = 0; k < s.count; ++k) {
                if (indices.at(k) != i / s.cols) continue;
                const double value =
                    grads[static_cast<size_t>(k * s.cols + i % s.cols)];
                sum += value;
                magnitude += std::abs(value);
                terms += 1.0;
            }
            return Expected{sum, terms * 0x1p-23 * magnitude};
        });
        for (const auto& [version, idea, launcher] :
             wb::implementations("embedding_backward", embedding_backward)) {
            problem.time(version, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(
                    grad_out.data(), grad_table.data(), indices.lookup, -1, stream);
            });
        }
    }
}
