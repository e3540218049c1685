// int8_errors: what a layer of 8 bits gets wrong beside the same layer in double, for
// inputs as they come in each place of a transformer. See kUsage.
#include <wb/reference/int8.h>
#include <wb/testing/random.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "../../errors_main.h"

namespace {

const char* const kUsage =
    "usage: int8_errors [--json FILE]  computes everything, on the CPU\n"
    "       int8_errors --check        the claims of the lesson\n";

constexpr int64_t kTokens = 64;
constexpr int64_t kIn = 512;
constexpr int64_t kOut = 64;
/// Every kApart-th channel of what a LayerNorm gives is larger, for all tokens: such
/// channels are what SmoothQuant was made for.
constexpr int64_t kApart = 128;

struct Place {
    const char* name;
    double outlier;  ///< how many times larger these channels are
    bool is_gelu;
    uint64_t seed;
};
constexpr Place kPlaces[] = {{"qkv", 60.0, false, 1},
                             {"attention-output", 1.0, false, 2},
                             {"mlp-up", 20.0, false, 3},
                             {"mlp-down", 1.0, true, 4}};

const char* const kWays[] = {"per-tensor", "per-token", "asymmetric", "smoothed"};

std::vector<float> inputs_of(const Place& place) {
    wb::testing::Random random(place.seed);
    std::vector<float> x;
    for (int64_t i = 0; i < kTokens * kIn; ++i) {
        double value = random.normal();
        if (i % kIn % kApart == 5) value *= place.outlier;
        if (place.is_gelu) value *= 0.5 * (1.0 + std::erf(value / std::sqrt(2.0)));
        x.push_back(static_cast<float>(value));
    }
    return x;
}

std::vector<double> values_of(const wb::reference::Int8Rows& rows, std::size_t count) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i)
        values.push_back(rows.value(static_cast<int64_t>(i)));
    return values;
}

/// y = x w^T.
template <class T>
std::vector<double> product(const std::vector<T>& x, const std::vector<T>& w) {
    std::vector<double> y;
    for (int64_t m = 0; m < kTokens; ++m)
        for (int64_t n = 0; n < kOut; ++n) {
            double sum = 0.0;
            for (int64_t k = 0; k < kIn; ++k)
                sum += static_cast<double>(x[static_cast<std::size_t>(m * kIn + k)]) *
                       static_cast<double>(w[static_cast<std::size_t>(n * kIn + k)]);
            y.push_back(sum);
        }
    return y;
}

/// Root mean square of the difference, relative to that of what is exact.
double error_of(const std::vector<double>& y, const std::vector<double>& exact) {
    double difference = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        difference += (y[i] - exact[i]) * (y[i] - exact[i]);
        size += exact[i] * exact[i];
    }
    return std::sqrt(difference / size);
}

double error_of(const Place& place, const std::string& way) {
    std::vector<float> x = inputs_of(place);
    wb::testing::Random random(7);
    std::vector<float> w;
    for (int64_t i = 0; i < kOut * kIn; ++i)
        w.push_back(static_cast<float>(0.02 * random.normal()));
    const auto exact = product(x, w);
    if (way == "smoothed") {
        const auto s =
            wb::reference::smooth_factors(wb::reference::largest_of_columns(x, kIn),
                                          wb::reference::largest_of_columns(w, kIn),
                                          0.5);
        for (std::size_t i = 0; i < x.size(); ++i)
            x[i] = static_cast<float>(x[i] / s[i % kIn]);
        for (std::size_t i = 0; i < w.size(); ++i)
            w[i] = static_cast<float>(w[i] * s[i % kIn]);
    }
    // One row of everything has one scale.
    const int64_t columns = way == "per-tensor" ? kTokens * kIn : kIn;
    const auto rows = wb::reference::int8_quantized(x, columns, way != "asymmetric");
    const auto of_w = wb::reference::int8_quantized(w, kIn, true);
    return error_of(product(values_of(rows, x.size()), values_of(of_w, w.size())),
                    exact);
}

void write_json(std::FILE* file) {
    std::fprintf(file,
                 "{\n  \"what\": \"error of a layer in 8 bits, by place in a "
                 "transformer\",\n"
                 "  \"machine\": \"CPU: whole numbers are exact\",\n"
                 "  \"inputs\": \"made, not of a model: normal; each %dth channel "
                 "%.0f times larger in qkv, %.0f times in mlp-up; in mlp-down, GELU of "
                 "normal\",\n"
                 "  \"tokens\": %d,\n  \"channels_in\": %d,\n  \"channels_out\": %d,\n"
                 "  \"error\": \"root mean square, relative, beside double\",\n"
                 "  \"rows\": [\n",
                 static_cast<int>(kApart),
                 kPlaces[0].outlier,
                 kPlaces[2].outlier,
                 static_cast<int>(kTokens),
                 static_cast<int>(kIn),
                 static_cast<int>(kOut));
    bool first = true;
    for (const Place& place : kPlaces)
        for (const char* const way : kWays) {
            std::fprintf(file,
                         "%s    {\"layer\": \"%s\", \"way\": \"%s\", \"error\": %.4g}",
                         first ? "" : ",\n",
                         place.name,
                         way,
                         error_of(place, way));
            first = false;
        }
    std::fprintf(file, "\n  ]\n}\n");
}

int check() {
    const Place& qkv = kPlaces[0];
    const Place& output = kPlaces[1];
    const Place& down = kPlaces[3];
    bool all = claim(error_of(output, "per-token") < 0.015,
                     "without outliers a token's own scale costs 1.5 % at most");
    all &= claim(error_of(output, "per-token") < error_of(output, "per-tensor"),
                 "a token's own scale is better than one for all");
    for (const char* const way : {"per-tensor", "per-token", "asymmetric"})
        all &= claim(error_of(qkv, way) > 2.0 * error_of(output, way),
                     "outlier channels more than double the error");
    all &= claim(error_of(qkv, "smoothed") < 0.5 * error_of(qkv, "per-token"),
                 "smoothing takes away half of the error of outlier channels");
    all &= claim(error_of(down, "asymmetric") < 0.8 * error_of(down, "per-token"),
                 "zeros take away a fifth of the error behind a GELU");
    return all ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    return errors_main(argc, argv, kUsage, check, write_json);
}
