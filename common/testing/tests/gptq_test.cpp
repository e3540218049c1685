// Tests the reference that chapters about weights in 4 bits are graded with.
#include <wb/reference/gptq.h>
#include <wb/testing/catch.h>
#include <wb/testing/random.h>

#include <cmath>
#include <cstdint>
#include <vector>

using wb::reference::GptqOptions;
using wb::reference::GptqWeights;

namespace {

constexpr int64_t kColumns = 8;
constexpr int64_t kRows = 64;
constexpr int64_t kSamples = 100;

/// A layer whose inputs resemble each other, and differ in size.
struct GptqLayer {
    std::vector<double> weights;  ///< [kRows, kColumns]
    std::vector<double> inputs;   ///< [kSamples, kRows]
};

GptqLayer gptq_layer(uint64_t seed) {
    wb::testing::Random random(seed);
    GptqLayer layer;
    for (int64_t i = 0; i < kRows * kColumns; ++i)
        layer.weights.push_back(random.normal());
    for (int64_t s = 0; s < kSamples; ++s) {
        const double common = random.normal();
        for (int64_t k = 0; k < kRows; ++k)
            layer.inputs.push_back((common + random.normal()) *
                                   (1.0 + static_cast<double>(k % 5)));
    }
    return layer;
}

/// The sum of the squares of what W's rounding changes in the layer's output.
double output_error(const GptqLayer& layer, const GptqWeights& w) {
    const auto rounded = wb::reference::dequantized(w);
    double error = 0.0;
    for (int64_t s = 0; s < kSamples; ++s)
        for (int64_t n = 0; n < kColumns; ++n) {
            double difference = 0.0;
            for (int64_t k = 0; k < kRows; ++k) {
                const auto place = static_cast<std::size_t>(k * kColumns + n);
                difference += layer.inputs[static_cast<std::size_t>(s * kRows + k)] *
                              (layer.weights[place] - double{rounded[place]});
            }
            error += difference * difference;
        }
    return error;
}

double quantised_error(const GptqLayer& layer, const GptqOptions& options) {
    return output_error(layer,
                        wb::reference::gptq_quantize(
                            layer.weights, layer.inputs, kColumns, kRows, options));
}

}  // namespace

TEST_CASE("gptq: numbers and zeros lie where the files have them") {
    GptqWeights w = wb::reference::empty_gptq(16, 16, 8, true, false);
    w.set_number(9, 3, 11);
    w.set_number(15, 3, 9);
    w.set_zero(1, 10, 16);
    w.scales[16 + 3] = static_cast<__half>(0.5f);
    CHECK(w.qweight[16 + 3] == static_cast<int32_t>(0x900000B0u));
    CHECK(w.qzeros[2 + 1] == 0xF00);
    CHECK(w.number(9, 3) == 11);
    CHECK(w.zero(1, 10) == 16);
    CHECK(w.zero(0, 0) == 1);
    const auto dense = wb::reference::dequantized(w);
    CHECK(dense[9 * 16 + 3] == 5.0f);  // (11 - 1) / 2
    CHECK(dense[8 * 16 + 3] == -0.5f);
    CHECK(dense[9 * 16 + 4] == 0.0f);
}

TEST_CASE("gptq: a row of no group is zeros") {
    GptqWeights w = wb::reference::empty_gptq(8, 16, 8, false, true);
    for (__half& scale : w.scales)
        scale = static_cast<__half>(1.0f);
    w.g_idx.assign(16, 1);
    w.g_idx[4] = 2;
    w.g_idx[5] = -1;
    for (int64_t k = 0; k < 16; ++k)
        w.set_number(k, 0, 7);
    const auto dense = wb::reference::dequantized(w);
    CHECK(dense[3 * 8] == 7.0f);
    CHECK(dense[4 * 8] == 0.0f);
    CHECK(dense[5 * 8] == 0.0f);
}

TEST_CASE("gptq: U^T U is the inverse of H") {
    const std::vector<double> H = {4, 2, 1, 2, 5, 3, 1, 3, 6};
    const auto U = wb::reference::detail::inverse_cholesky(H, 3);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            double product = 0.0;  // of U^T U H
            for (int p = 0; p < 3; ++p)
                for (int q = 0; q < 3; ++q)
                    product += U[static_cast<std::size_t>(p * 3 + i)] *
                               U[static_cast<std::size_t>(p * 3 + q)] *
                               H[static_cast<std::size_t>(q * 3 + j)];
            CHECK(std::abs(product - (i == j ? 1.0 : 0.0)) < 1e-12);
        }
    CHECK(U[3] == 0.0);
}

TEST_CASE("gptq: without errors to make up for, each weight is the nearest") {
    const GptqLayer layer = gptq_layer(1);
    const bool zeros_minus_one = GENERATE(false, true);
    const GptqWeights w =
        wb::reference::gptq_quantize(layer.weights,
                                     layer.inputs,
                                     kColumns,
                                     kRows,
                                     {32, zeros_minus_one, false, false});
    for (int64_t k = 0; k < kRows; ++k)
        for (int64_t n = 0; n < kColumns; ++n) {
            const double scale = double{w.scale(w.group_of(k), n)};
            const double weight =
                layer.weights[static_cast<std::size_t>(k * kColumns + n)];
            const double got = (w.number(k, n) - w.zero(w.group_of(k), n)) * scale;
            // Half a step, and at the ends what the rounded zero and scale leave over.
            CHECK(std::abs(got - weight) <= 0.51 * scale + 0.5 * scale);
            if (w.number(k, n) > 0 && w.number(k, n) < 15)
                CHECK(std::abs(got - weight) <= 0.5001 * scale);
        }
}

TEST_CASE("gptq: the layer's output is nearer than with the nearest weights") {
    for (const uint64_t seed : {1, 2, 3, 4}) {
        const GptqLayer layer = gptq_layer(seed);
        const double nearest = quantised_error(layer, {32, true, false, false});
        const double in_order = quantised_error(layer, {32, true, false, true});
        const double sorted = quantised_error(layer, {32, true, true, true});
        INFO("seed " << seed << ", nearest " << nearest << ", in order " << in_order
                     << ", sorted " << sorted);
        CHECK(in_order < 0.7 * nearest);
        CHECK(sorted < 0.7 * nearest);
    }
}

TEST_CASE("gptq: act-order gives each group as many rows, the largest inputs first") {
    const GptqLayer layer = gptq_layer(5);
    const GptqWeights w = wb::reference::gptq_quantize(
        layer.weights, layer.inputs, kColumns, kRows, {16, true, true});
    std::vector<int> rows(4);
    double largest_of_last = 0.0;
    double smallest_of_first = 1e300;
    for (int64_t k = 0; k < kRows; ++k) {
        ++rows[static_cast<std::size_t>(w.group_of(k))];
        double size = 0.0;
        for (int64_t s = 0; s < kSamples; ++s)
            size += layer.inputs[static_cast<std::size_t>(s * kRows + k)] *
                    layer.inputs[static_cast<std::size_t>(s * kRows + k)];
        if (w.group_of(k) == 0) smallest_of_first = std::min(smallest_of_first, size);
        if (w.group_of(k) == 3) largest_of_last = std::max(largest_of_last, size);
    }
    CHECK(rows == std::vector<int>{16, 16, 16, 16});
    CHECK(smallest_of_first > largest_of_last);
}
