// Times day06-llm-attention/04-paged-attention: how close does decoding come to reading
// the cache once, and what does it cost that its pages are anywhere?
#include "paged_attention.h"

#include <wb/attention.h>
#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace wb::bench;

namespace {

/// A batch of sequences of one length.
struct Size {
    int64_t batch;
    int64_t length;
    int64_t query_heads;
    int64_t kv_heads;
    int64_t head_dim;
    int64_t page_size;
    Cache cache = Cache::cold;
};

/// Random numbers that begin anew after `period`, so that gigabytes of them are made
/// quickly, and the host knows all of them.
struct Numbers {
    Array<__nv_bfloat16> device;
    std::vector<__nv_bfloat16> period;

    double at(int64_t i) const {
        return static_cast<double>(
            __bfloat162float(period[static_cast<size_t>(i) % period.size()]));
    }

    /// The dot product of the numbers from `first` on with others.
    double dot(int64_t first, const std::vector<double>& others) const {
        double sum = 0.0;
        size_t i = static_cast<size_t>(first) % period.size();
        for (const double other : others) {
            sum += other * static_cast<double>(__bfloat162float(period[i]));
            if (++i == period.size()) i = 0;
        }
        return sum;
    }
};

Numbers random_numbers(Bench& bench, int64_t count) {
    constexpr int64_t kPeriod = (1 << 24) - 3;  // no multiple of a row or a page
    const int64_t period = std::min(count, kPeriod);
    std::vector<__nv_bfloat16> host;
    for (const float x : bench.random_normal(period).host())
        host.push_back(__float2bfloat16(x));
    Array<__nv_bfloat16> device(count);
    CUDA_CHECK(cudaMemcpy(device.data(),
                          host.data(),
                          host.size() * sizeof(host[0]),
                          cudaMemcpyHostToDevice));
    for (int64_t done = period; done < count; done *= 2) {
        CUDA_CHECK(cudaMemcpy(
            device.data() + done,
            device.data(),
            static_cast<size_t>(std::min(done, count - done)) * sizeof(host[0]),
            cudaMemcpyDeviceToDevice));
    }
    return {std::move(device), std::move(host)};
}

/// A cache with all its pages in use, in order or shuffled.
struct Pages {
    wb::PagedCache cache;
    Numbers k;
    Numbers v;
    std::vector<int32_t> shuffled;
    Array<int32_t> shuffled_table;
    Array<int32_t> ordered_table;
    Array<int32_t> lengths;
};

Pages make_pages(Bench& bench, const Size& size) {
    wb::PagedCache cache;
    cache.batch = size.batch;
    cache.pages_per_sequence = size.length / size.page_size;
    cache.num_pages = size.batch * cache.pages_per_sequence;
    cache.kv_heads = size.kv_heads;
    cache.page_size = size.page_size;
    cache.head_dim = size.head_dim;
    Pages pages{cache,
                random_numbers(bench, cache.elements()),
                random_numbers(bench, cache.elements()),
                std::vector<int32_t>(static_cast<size_t>(cache.num_pages)),
                Array<int32_t>(cache.num_pages),
                Array<int32_t>(cache.num_pages),
                Array<int32_t>(cache.batch)};
    std::iota(pages.shuffled.begin(), pages.shuffled.end(), 0);
    pages.ordered_table.upload(pages.shuffled);
    std::shuffle(pages.shuffled.begin(), pages.shuffled.end(), std::mt19937(1));
    pages.shuffled_table.upload(pages.shuffled);
    pages.lengths.upload(std::vector<int32_t>(static_cast<size_t>(size.batch),
                                              static_cast<int32_t>(size.length)));
    pages.cache.k = pages.k.device.data();
    pages.cache.v = pages.v.device.data();
    pages.cache.block_table = pages.shuffled_table.data();
    pages.cache.lengths = pages.lengths.data();
    return pages;
}

/// One number of o, in double, and the bound that the contract gives.
/// @param table  of the pages, as the host knows it
Expected expected_element(const Pages& pages,
                          const std::vector<int32_t>& table,
                          const Numbers& q,
                          const Size& size,
                          float scale,
                          int64_t i) {
    const wb::PagedCache& cache = pages.cache;
    const int64_t d = i % size.head_dim;
    const int64_t row = i / size.head_dim;
    const int64_t sequence = row / size.query_heads;
    const int64_t head = row % size.query_heads / (size.query_heads / size.kv_heads);
    std::vector<double> query;
    for (int64_t j = 0; j < size.head_dim; ++j)
        query.push_back(q.at(row * size.head_dim + j));
    std::vector<double> scores;
    std::vector<double> values;
    for (int64_t token = 0; token < size.length; ++token) {
        const int64_t page = table[static_cast<size_t>(
            sequence * cache.pages_per_sequence + token / size.page_size)];
        const int64_t place = cache.row(page, head, token % size.page_size);
        scores.push_back(scale * pages.k.dot(place, query));
        values.push_back(pages.v.at(place + d));
    }
    const double max = *std::max_element(scores.begin(), scores.end());
    double sum = 0.0;
    double o = 0.0;
    double magnitude = 0.0;
    for (size_t t = 0; t < scores.size(); ++t) {
        const double weight = std::exp(scores[t] - max);
        sum += weight;
        o += weight * values[t];
        magnitude += weight * std::abs(values[t]);
    }
    // The two roundings to bfloat16, and the same again for all that float does.
    return {o / sum, 2.0 * 0x1p-8 * (magnitude + std::abs(o)) / sum};
}

std::string describe(const Size& size) {
    return "B" + std::to_string(size.batch) + " N" + std::to_string(size.length) +
           " Hq" + std::to_string(size.query_heads) + " Hkv" +
           std::to_string(size.kv_heads) + " D" + std::to_string(size.head_dim) +
           " page " + std::to_string(size.page_size) +
           (size.cache == Cache::hot ? " hot" : "");
}

void time_attention(Bench& bench, const Size& size) {
    const int64_t rows = size.batch * size.query_heads;
    const double tokens = static_cast<double>(size.batch * size.length);
    const double bytes = sizeof(__nv_bfloat16) * 2.0 *
                         (tokens * static_cast<double>(size.kv_heads * size.head_dim) +
                          static_cast<double>(rows * size.head_dim));
    if (!bench.fits(bytes + 1e8)) return;
    const Pages pages = make_pages(bench, size);
    const Numbers q = random_numbers(bench, rows * size.head_dim);
    const auto o = bench.output<__nv_bfloat16>(rows * size.head_dim);
    const wb::PagedWorkspace workspace(rows);
    const float scale = 1.0f / std::sqrt(static_cast<float>(size.head_dim));

    auto problem = bench.problem({describe(size), Ceiling::read, bytes, size.cache});
    problem.expect("o", o, [&](int64_t i) {
        return expected_element(pages, pages.shuffled, q, size, scale, i);
    });
    const auto launch = [&](auto* attention, const wb::PagedCache& cache) {
        return [&, attention, cache](cudaStream_t stream) {
            attention(cache,
                      q.device.data(),
                      o.data(),
                      nullptr,
                      size.query_heads,
                      scale,
                      workspace,
                      stream);
        };
    };
    for (const auto& [name, idea, attention] :
         wb::implementations("paged_attention", paged_attention)) {
        problem.time(name, idea, launch(attention, pages.cache));
    }
    problem.time_reading();
    workspace.check(nullptr);

    // The same work, in memory without holes: what do shuffled pages cost?
    wb::PagedCache ordered = pages.cache;
    ordered.block_table = pages.ordered_table.data();
    auto in_order =
        bench.problem({describe(size) + " in order", Ceiling::read, bytes, size.cache});
    std::vector<int32_t> order(pages.shuffled.size());
    std::iota(order.begin(), order.end(), 0);
    in_order.expect("o", o, [&](int64_t i) {
        return expected_element(pages, order, q, size, scale, i);
    });
    in_order.time(
        "paged_attention", "pages in order", launch(paged_attention, ordered));
    workspace.check(nullptr);
}

void time_append(Bench& bench, int64_t tokens) {
    constexpr int64_t kHeads = 8;
    constexpr int64_t kDim = 128;
    const Size size{1, tokens, kHeads, kHeads, kDim, 16};
    const double bytes =
        4.0 * sizeof(__nv_bfloat16) * static_cast<double>(tokens * kHeads * kDim);
    if (!bench.fits(2.0 * bytes)) return;
    const Pages pages = make_pages(bench, size);
    const Numbers k = random_numbers(bench, tokens * kHeads * kDim);
    const Numbers v = random_numbers(bench, tokens * kHeads * kDim);
    std::vector<int32_t> host(static_cast<size_t>(tokens), 0);
    const Array<int32_t> sequences(tokens);
    sequences.upload(host);
    std::iota(host.begin(), host.end(), 0);
    const Array<int32_t> positions(tokens);
    positions.upload(host);
    const wb::PagedWorkspace workspace(1);

    auto problem = bench.problem(
        {"tokens = " + std::to_string(tokens) + ", Hkv8 D128", Ceiling::copy, bytes});
    problem.expect("cache.v", pages.v.device, [&](int64_t i) {
        const int64_t row = i / kDim;
        const int64_t page = row / kHeads / 16;
        const auto found = std::find(
            pages.shuffled.begin(), pages.shuffled.end(), static_cast<int32_t>(page));
        const int64_t token = (found - pages.shuffled.begin()) * 16 + row % 16;
        const int64_t head = row / 16 % kHeads;
        return Expected{v.at((token * kHeads + head) * kDim + i % kDim), 0.0};
    });
    for (const auto& [name, idea, append] :
         wb::implementations("append_kv", append_kv)) {
        problem.time(name, idea, [&, append = append](cudaStream_t stream) {
            append(pages.cache,
                   k.device.data(),
                   v.device.data(),
                   sequences.data(),
                   positions.data(),
                   tokens,
                   workspace,
                   stream);
        });
    }
    workspace.check(nullptr);
}

}  // namespace

WB_BENCH(paged_attention, bench) {
    for (const Size& size :
         bench.sizes<Size>({{2, 64, 4, 2, 64, 16}},
                           {{1, 8192, 32, 8, 128, 16}, {16, 8192, 32, 8, 128, 16}},
                           {{1, 8192, 32, 8, 128, 16},
                            {1, 8192, 32, 8, 128, 16, Cache::hot},
                            {16, 8192, 32, 8, 128, 16},
                            {16, 8192, 32, 8, 128, 16, Cache::hot},
                            {16, 8192, 32, 8, 128, 64},
                            {64, 4096, 32, 8, 128, 16},
                            {64, 4096, 32, 8, 128, 16, Cache::hot},
                            {64, 2048, 32, 32, 128, 16},
                            {64, 4096, 32, 8, 64, 16}})) {
        time_attention(bench, size);
    }
}

WB_BENCH(append_kv, bench) {
    for (const int64_t tokens : bench.sizes<int64_t>({64}, {8192}, {8192, 65'536})) {
        time_append(bench, tokens);
    }
}
