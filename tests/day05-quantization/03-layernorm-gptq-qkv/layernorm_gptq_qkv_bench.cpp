// Times day05-quantization/03-layernorm-gptq-qkv: when does a LayerNorm in the product
// win, and from how many rows on does it lose?
#include "layernorm_gptq_qkv.h"

#include <wb/bench/bench.h>
#include <wb/bench/random_numbers.h>
#include <wb/bench/statistics.h>
#include <wb/check.h>
#include <wb/implementations.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

using namespace wb::bench;

namespace {

constexpr float kEps = 1e-5f;

struct Size {
    int64_t M;
    int64_t hidden;
    int64_t group = 128;
    bool act_order = false;

    std::string text() const {
        return std::to_string(M) + " x " + std::to_string(hidden) +
               (group == 128 ? "" : ", groups of " + std::to_string(group)) +
               (act_order ? ", act-order" : "");
    }
    QkvShape shape() const { return {1, M, hidden, group, true}; }
    int64_t columns() const { return 3 * hidden; }
    int64_t groups() const { return hidden / group; }
    double bytes() const {
        const auto k = static_cast<double>(hidden);
        const auto n = static_cast<double>(columns());
        return 0.5 * k * n + 2.5 * static_cast<double>(groups()) * n +
               (act_order ? 4.0 * k : 0.0) + 4.0 * k +
               2.0 * static_cast<double>(M) * (k + n);
    }
    double flop() const {
        return 2.0 * static_cast<double>(M) * static_cast<double>(hidden) *
               static_cast<double>(columns());
    }
};

std::vector<int32_t> random_words(int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<int32_t> words;
    for (int64_t i = 0; i < count; ++i)
        words.push_back(static_cast<int32_t>(random()));
    return words;
}

std::vector<float> floats_of(const Array<__half>& array) {
    std::vector<float> floats;
    for (const __half each : array.host())
        floats.push_back(static_cast<float>(each));
    return floats;
}

std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

/// A layer, on the host and on the device: W, packed as well, weight and bias.
struct Layer {
    Size s;
    std::vector<int32_t> words;
    std::vector<int32_t> zeros;
    std::vector<int32_t> order;
    Array<int32_t> d_words;
    Array<int32_t> d_zeros;
    Array<__half> scales;
    Array<int32_t> d_order;
    Array<__half> weight;
    Array<__half> bias;
    Array<uint32_t> packed;
    std::vector<float> host_scales;
    std::vector<float> host_weight;
    std::vector<float> host_bias;

    Layer(Bench& bench, const Size& size)
        : s(size),
          words(random_words(s.hidden / 8 * s.columns(), 1)),
          zeros(random_words(s.groups() * s.columns() / 8, 2)),
          d_words(s.hidden / 8 * s.columns()),
          d_zeros(s.groups() * s.columns() / 8),
          scales(random_numbers<__half>(bench, s.groups() * s.columns())),
          d_order(s.hidden),
          weight(random_numbers<__half>(bench, s.hidden)),
          bias(random_numbers<__half>(bench, s.hidden)),
          packed(4 * qkv_packed_vectors(s.shape(), s.act_order)),
          host_scales(floats_of(scales)),
          host_weight(floats_of(weight)),
          host_bias(floats_of(bias)) {
        for (int64_t k = 0; k < s.hidden; ++k)  // rows of a group are far apart
            order.push_back(static_cast<int32_t>(k % s.groups()));
        d_words.upload(words);
        d_zeros.upload(zeros);
        d_order.upload(order);
        Array<unsigned long long> bad(1);
        bad.upload({0});
        qkv_repack(s.shape(),
                   tensors(),
                   reinterpret_cast<uint4*>(packed.data()),
                   bad.data(),
                   nullptr);
        CUDA_CHECK(cudaDeviceSynchronize());
    }

    GptqTensors tensors() const {
        return {d_words.data(),
                d_zeros.data(),
                scales.data(),
                s.act_order ? d_order.data() : nullptr,
                d_words.size(),
                d_zeros.size(),
                scales.size(),
                s.act_order ? s.hidden : 0};
    }
    QkvNorm norm() const { return {weight.data(), bias.data(), kEps}; }

    /// w[k, n], as it is defined.
    double at_place(int64_t k, int64_t n) const {
        const int64_t g = s.act_order ? order[at(k)] : k / s.group;
        const auto nibble = [](int32_t word, int64_t i) {
            return static_cast<int>(static_cast<uint32_t>(word) >> i * 4 & 15);
        };
        const int q = nibble(words[at(k / 8 * s.columns() + n)], k % 8);
        const int zero = 1 + nibble(zeros[at(g * (s.columns() / 8) + n / 8)], n % 8);
        const float scale = host_scales[at(g * s.columns() + n)];
        return double{static_cast<float>(
            static_cast<__half>(static_cast<float>(q - zero) * scale))};
    }
};

/// One element of qkv, [3, M, hidden], and how far from it a result may be.
Expected expected_at(const Layer& layer, const std::vector<float>& x, int64_t i) {
    const int64_t hidden = layer.s.hidden;
    const auto count = static_cast<double>(hidden);
    const float* const row = x.data() + i / hidden % layer.s.M * hidden;
    const int64_t n = i / (layer.s.M * hidden) * hidden + i % hidden;
    double mean = 0.0;
    for (int64_t k = 0; k < hidden; ++k)
        mean += double{row[k]} / count;
    double variance = 0.0;
    for (int64_t k = 0; k < hidden; ++k)
        variance += (double{row[k]} - mean) * (double{row[k]} - mean) / count;
    const double rstd = 1.0 / std::sqrt(variance + double{kEps});
    double sum = 0.0;
    double magnitude = 0.0;
    for (int64_t k = 0; k < hidden; ++k) {
        const double h =
            (double{row[k]} - mean) * rstd * double{layer.host_weight[at(k)]} +
            double{layer.host_bias[at(k)]};
        const double w = layer.at_place(k, n);
        sum += h * w;
        magnitude += std::abs(h * w);
    }
    // h is rounded to half; sums lose 2^-23 of a term at each step, and mean and rstd
    // less than that.
    const double relative = 0x1p-11 + 0x1p-23 * (2.0 * count + 64.0);
    return {sum, relative * magnitude + 0x1p-11 * std::abs(sum) + 0x1p-20};
}

void time_versions(Bench& bench, const std::vector<Size>& sizes) {
    for (const Size& s : sizes) {
        if (!bench.fits(2.0 * s.bytes() + 4.0 * static_cast<double>(s.M * s.hidden)))
            continue;
        const Layer layer(bench, s);
        const auto input = random_numbers<__half>(bench, s.M * s.hidden);
        const auto x = floats_of(input);
        const auto qkv = bench.output<__half>(3 * s.M * s.hidden);
        // From some hundred rows on it is arithmetic that takes the time.
        auto problem = s.M > 64 ? bench.problem({s.text(), Ceiling::fp16, s.flop()})
                                : bench.problem({s.text(), Ceiling::read, s.bytes()});
        problem.expect(
            "qkv", qkv, [&](int64_t i) { return expected_at(layer, x, i); }, 16);
        for (const auto& [name, idea, launcher] :
             wb::implementations("layernorm_gptq_qkv", layernorm_gptq_qkv)) {
            // v1 takes a tenth of a second for each 1000 rows.
            if (name == "layernorm_gptq_qkv_v1" && s.M > 64) continue;
            const std::size_t before = bench.rows().size();
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(s.shape(),
                         layer.norm(),
                         layer.tensors(),
                         reinterpret_cast<const uint4*>(layer.packed.data()),
                         input.data(),
                         qkv.data(),
                         stream);
            });
            if (bench.rows().size() > before)
                std::printf("      us: %s\n",
                            in_a_line(bench.rows().back().timing.us).c_str());
        }
    }
}

}  // namespace

WB_BENCH(layernorm_gptq_qkv, bench) {
    time_versions(bench,
                  bench.sizes<Size>({{3, 64, 32}, {2, 64, 32, true}},
                                    {{1, 512}},
                                    {{1, 4096},
                                     {8, 4096},
                                     {16, 4096},
                                     {64, 4096},
                                     {512, 4096},
                                     {2048, 4096},
                                     {1, 4096, 128, true},
                                     {1, 8192}},
                                    {{1, 256}}));
}
