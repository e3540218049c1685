// mixed_precision_errors: attention with each choice of precision beside attention in
// double, and what every choice gets wrong. See kUsage.
#include <wb/bench/json.h>
#include <wb/check.h>
#include <wb/reference/attention.h>
#include <wb/testing/random.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "choices.h"

namespace {

using wb::bench::Json;

const char* const kUsage =
    "usage: mixed_precision_errors [--json FILE]  measure everything\n"
    "       mixed_precision_errors --check        the claims of the lesson\n";

/// Rows of q that are measured.
constexpr int64_t kQueries = 16;

/// One measurement.
struct Errors {
    double total = 0.0;       ///< root mean square of o - exact, relative to that of
                              ///< exact, where exact is of the inputs before rounding
    double arithmetic = 0.0;  ///< the same, where exact is of the inputs as stored
    int lost_rows = 0;  ///< rows with an infinity or NaN in them; not in the means
};

struct Inputs {
    std::vector<float> q;
    std::vector<float> k;
    std::vector<float> v;
};

/// @param logit_scale  standard deviation of scale * q . k
Inputs random_inputs(int64_t keys, double logit_scale) {
    wb::testing::Random random(2026);
    const auto normal = [&](int64_t rows, double deviation) {
        std::vector<float> values;
        for (int64_t i = 0; i < rows * kHeadDim; ++i)
            values.push_back(static_cast<float>(deviation * random.normal()));
        return values;
    };
    const double deviation = std::sqrt(logit_scale);
    auto q = normal(kQueries, deviation);
    auto k = normal(keys, deviation);
    return {std::move(q), std::move(k), normal(keys, 1.0)};
}

Inputs stored(const Inputs& inputs, Precision precision) {
    Inputs result = inputs;
    for (auto* values : {&result.q, &result.k, &result.v}) {
        for (float& value : *values)
            value = rounded(value, precision);
    }
    return result;
}

/// o in double.
std::vector<double> exact(const Inputs& inputs, float scale) {
    wb::AttentionShape shape;
    shape.queries = kQueries;
    shape.keys = static_cast<int64_t>(inputs.k.size()) / kHeadDim;
    shape.head_dim = kHeadDim;
    shape.scale = scale;
    std::vector<double> o;
    for (int64_t row = 0; row < kQueries; ++row) {
        const auto result =
            wb::reference::attention_row(shape, inputs.q, inputs.k, row);
        for (int64_t d = 0; d < kHeadDim; ++d)
            o.push_back(wb::reference::attention_element(shape, result, inputs.v, d));
    }
    return o;
}

/// Relative root mean square error of the rows that are finite.
double relative_error(const std::vector<float>& got,
                      const std::vector<double>& right,
                      int* lost_rows) {
    double error = 0.0;
    double size = 0.0;
    *lost_rows = 0;
    for (int64_t row = 0; row < kQueries; ++row) {
        double row_error = 0.0;
        double row_size = 0.0;
        for (int64_t d = 0; d < kHeadDim; ++d) {
            const auto at = static_cast<size_t>(row * kHeadDim + d);
            row_error += std::pow(static_cast<double>(got[at]) - right[at], 2.0);
            row_size += right[at] * right[at];
        }
        if (!std::isfinite(row_error)) {
            ++*lost_rows;
            continue;
        }
        error += row_error;
        size += row_size;
    }
    return size > 0.0 ? std::sqrt(error / size) : std::nan("");
}

Errors measure(const Choice& choice, int64_t keys, double logit_scale) {
    const float scale = 1.0f / std::sqrt(static_cast<float>(kHeadDim));
    const auto inputs = random_inputs(keys, logit_scale);
    const auto o = attend(choice, inputs.q, inputs.k, inputs.v, scale);
    Errors errors;
    errors.total = relative_error(o, exact(inputs, scale), &errors.lost_rows);
    errors.arithmetic = relative_error(
        o, exact(stored(inputs, choice.storage), scale), &errors.lost_rows);
    return errors;
}

std::string text_of(const Choice& choice) {
    return name_of(choice.storage) + " stored, " + name_of(choice.accumulate) +
           " sums, " + name_of(choice.softmax) + " softmax, " +
           name_of(choice.weights) + " weights";
}

/// What computed it: a GPU's name, or the simulator.
std::string machine() {
#ifdef SIMT_CPU
    return "CPU simulator: every 16-bit operation is rounded to nearest, exactly; exp "
           "too";
#else
    int device = 0;
    cudaDeviceProp properties{};
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    return properties.name;
#endif
}

/// A float for JSON, which has no infinity.
Json number(float x) {
    if (std::isfinite(x)) return static_cast<double>(x);
    return std::isnan(x) ? "nan" : "inf";
}

Json demonstrations() {
    Json rows = Json::array();
    for (const auto& shown : demonstrate()) {
        std::printf("%-26s fp32 %-12g fp16 %-12g bf16 %g\n",
                    shown.what.c_str(),
                    static_cast<double>(shown.results[0]),
                    static_cast<double>(shown.results[1]),
                    static_cast<double>(shown.results[2]));
        rows.push_back({{"what", shown.what},
                        {"fp32", number(shown.results[0])},
                        {"fp16", number(shown.results[1])},
                        {"bf16", number(shown.results[2])}});
    }
    return rows;
}

Json row_of(const Choice& choice, int64_t keys, double logit_scale) {
    const auto errors = measure(choice, keys, logit_scale);
    std::printf("%-53s N %-6lld logits %-6g error %-9.2e arithmetic %-9.2e lost %d\n",
                text_of(choice).c_str(),
                static_cast<long long>(keys),
                logit_scale,
                errors.total,
                errors.arithmetic,
                errors.lost_rows);
    std::fflush(stdout);
    return {{"storage", name_of(choice.storage)},
            {"accumulate", name_of(choice.accumulate)},
            {"softmax", name_of(choice.softmax)},
            {"weights", name_of(choice.weights)},
            {"n", static_cast<double>(keys)},
            {"logit_scale", logit_scale},
            {"error", errors.total},
            {"error_of_arithmetic", errors.arithmetic},
            {"lost_rows", errors.lost_rows}};
}

/// Every choice over the number of keys, with logits of the size 1, and over the size
/// of the logits, with 1024 keys.
int measure_all(const std::string& path) {
    const Json shown = demonstrations();
    Json rows = Json::array();
    for (const auto& choice : all_choices()) {
        for (const int64_t keys : {64, 256, 1024, 4096, 16384})
            rows.push_back(row_of(choice, keys, 1.0));
        for (const double logit_scale : {0.1, 10.0, 100.0, 1000.0, 10000.0})
            rows.push_back(row_of(choice, 1024, logit_scale));
    }
    if (path.empty()) return 0;
    const Json document{
        {"what",
         "error of attention, relative root mean square, by what is kept in 16 bits"},
        {"machine", machine()},
        {"date", wb::bench::today()},
        {"head_dim", kHeadDim},
        {"rows_of_q", static_cast<double>(kQueries)},
        {"inputs",
         "normal; logit_scale is the standard deviation of q . k / sqrt(head_dim)"},
        {"error", "beside double, of the inputs before they are stored"},
        {"error_of_arithmetic", "beside double, of the inputs as stored"},
        {"lost_rows", "rows with NaN or infinity; not in the errors"},
        {"demonstrations", shown},
        {"rows", rows}};
    std::ofstream(path) << wb::bench::dump(document) << '\n';
    return 0;
}

int failures = 0;

void claim(const char* what, bool holds) {
    std::printf("%s: %s\n", holds ? "holds" : "DOES NOT HOLD", what);
    failures += !holds;
}

/// What the lesson says, on sizes that take a second.
int check() {
    using enum Precision;
    const auto shown = demonstrate();
    claim("a half counts to 2048, bf16 to 256",
          shown[0].results == std::vector<float>({5000.0f, 2048.0f, 256.0f}));
    claim("a half accumulator overflows, the others do not",
          shown[1].results[0] == 70400.0f && std::isinf(shown[1].results[1]) &&
              std::isfinite(shown[1].results[2]));
    const auto careful = measure({fp16, fp32, fp32, fp32}, 256, 1.0);
    claim("with float in between, fp16 costs the rounding of the output",
          careful.arithmetic < 0x1p-11 && careful.lost_rows == 0);
    const auto careful_bf16 = measure({bf16, fp32, fp32, fp32}, 256, 1.0);
    claim("and bf16 the same with its own unit",
          careful_bf16.arithmetic < 0x1p-8 && careful_bf16.lost_rows == 0);
    claim("sums in 16 bits cost more than that",
          measure({fp16, fp16, fp32, fp32}, 256, 1.0).arithmetic >
              2 * careful.arithmetic);
    claim("a softmax in 16 bits costs more than that",
          measure({fp16, fp32, fp16, fp16}, 256, 1.0).arithmetic >
              2 * careful.arithmetic);
    claim("weights in 16 bits cost less than another rounding of that size",
          measure({fp16, fp32, fp32, fp16}, 256, 1.0).arithmetic < 0x1p-11);
    claim("a half accumulator loses rows to large logits",
          measure({fp16, fp16, fp16, fp16}, 64, 10000.0).lost_rows > 0);
    claim("a float accumulator loses none",
          measure({fp16, fp32, fp32, fp32}, 64, 10000.0).lost_rows == 0);
    claim("past 2048 equal weights the sum of a half softmax is wrong by a factor",
          measure({fp16, fp32, fp16, fp16}, 8192, 1e-6).arithmetic > 1.0);
    return failures == 0 ? 0 : 1;
}

int run(const std::vector<std::string>& arguments) {
    if (arguments.empty()) return measure_all("");
    if (arguments[0] == "--json" && arguments.size() == 2)
        return measure_all(arguments[1]);
    if (arguments[0] == "--check" && arguments.size() == 1) return check();
    std::fputs(kUsage, stderr);
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "mixed_precision_errors: %s\n", error.what());
        return 1;
    }
}
