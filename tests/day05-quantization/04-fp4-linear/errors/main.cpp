// fp4_errors: what a layer of a trained model loses in 4 bits, with each kind of
// scales. See kUsage.
#include <cstdio>
#include <string>
#include <vector>

#include "../../errors_main.h"
#include "../trained/layer.h"

namespace {

using wb::reference::Fp4Kind;

const char* const kUsage =
    "usage: fp4_errors [--json FILE]  computes everything, on the CPU\n"
    "       fp4_errors --check        the claims of the lesson\n";

const Fp4Kind kKinds[] = {Fp4Kind::channel, Fp4Kind::mx, Fp4Kind::nvfp4};
const char* const kNames[] = {"channel", "mx", "nvfp4"};
constexpr float kOutlierFactor = 20.0f;

std::size_t place(int n, int k) {
    return static_cast<std::size_t>(n * trained::kIn + k);
}

/// Which weight of row n is an outlier, if there are any.
int outlier(int n) {
    return (5 + 37 * n) % trained::kIn;
}

/// W as it was trained, or with one weight of each row 20 times larger.
std::vector<float> weights(bool has_outliers) {
    auto w = trained::numbers(trained::kWeights);
    for (int n = 0; n < trained::kHidden && has_outliers; ++n)
        w[place(n, outlier(n))] *= kOutlierFactor;
    return w;
}

struct Loss {
    double of_weights;  ///< the norm of the difference, over W's, without outliers
    trained::Nearness of_outputs;
    double saved;  ///< part of the memory of floats, scales counted
};

Loss loss_of(Fp4Kind kind, bool has_outliers) {
    const auto exact = weights(has_outliers);
    const auto w = wb::reference::fp4_quantized(exact,
                                                trained::kHidden,
                                                trained::kIn,
                                                kind,
                                                wb::reference::fp4_global_scale(exact));
    double difference = 0.0;
    double size = 0.0;
    for (int n = 0; n < trained::kHidden; ++n)
        for (int k = 0; k < trained::kIn; ++k) {
            if (k == outlier(n)) continue;  // with the same weights in either case
            const double x = exact[place(n, k)];
            difference += (x - w.weight(n, k)) * (x - w.weight(n, k));
            size += x * x;
        }
    const auto right =
        trained::outputs([&](int n, int k) { return double{exact[place(n, k)]}; });
    const auto y = trained::outputs([&](int n, int k) { return w.weight(n, k); });
    const std::size_t bytes = w.values.size() + w.byte_scales.size() +
                              4 * w.float_scales.size() +
                              (kind == Fp4Kind::nvfp4 ? 4 : 0);
    return {
        std::sqrt(difference / size),
        trained::nearness(right, y),
        1.0 - static_cast<double>(bytes) / (4.0 * static_cast<double>(exact.size()))};
}

void write_json(std::FILE* file) {
    std::fprintf(
        file,
        "{\n  \"what\": \"what a layer loses in 4 bits, by the kind of its scales\",\n"
        "  \"machine\": \"CPU: the same each time\",\n"
        "  \"layer\": \"of a small trained model: %d x %d weights, SiLU, %d "
        "samples\",\n"
        "  \"outliers\": \"one weight of each row %.0f times larger\",\n"
        "  \"error_of_w\": \"norm of the difference, over the norm of W, both without "
        "the weights that are outliers or would be\",\n"
        "  \"error_of_y\": \"the same of the layer's outputs\",\n"
        "  \"saved\": \"part of the memory of 32-bit floats, scales counted\",\n"
        "  \"same\": \"samples in which the model guesses the same letter as "
        "before\",\n"
        "  \"rows\": [",
        trained::kHidden,
        trained::kIn,
        trained::kSamples,
        static_cast<double>(kOutlierFactor));
    const char* comma = "";
    for (const bool has_outliers : {false, true})
        for (int i = 0; i < 3; ++i) {
            const Loss loss = loss_of(kKinds[i], has_outliers);
            std::fprintf(file,
                         "%s\n    {\"scales\": \"%s\", \"outliers\": \"%s\", "
                         "\"error_of_w\": %.4g, \"error_of_y\": %.4g, \"cosine\": "
                         "%.4f, \"same\": %.0f, \"saved\": %.4g}",
                         comma,
                         kNames[i],
                         has_outliers ? "yes" : "no",
                         loss.of_weights,
                         loss.of_outputs.relative,
                         loss.of_outputs.cosine,
                         loss.of_outputs.same * trained::kSamples,
                         loss.saved);
            comma = ",";
        }
    std::fprintf(file, "\n  ]\n}\n");
}

int check() {
    const auto error = [](int kind, bool has_outliers) {
        return loss_of(kKinds[kind], has_outliers).of_weights;
    };
    bool all =
        claim(error(2, false) < error(1, false) && error(1, false) < error(0, false),
              "fewer weights of a scale lose less");
    for (int kind = 0; kind < 3; ++kind)
        all &= claim(error(kind, true) > 1.5 * error(kind, false),
                     "an outlier makes the weights coarse that share its scale");
    all &= claim(error(2, true) < error(1, true) && error(1, true) < error(0, true),
                 "the fewer share a scale, the fewer have such a neighbour");
    const auto y = loss_of(Fp4Kind::nvfp4, false).of_outputs;
    all &= claim(y.cosine > 0.99 && y.relative > 0.12,
                 "a cosine of 0.99 and an error of 13 % are the same outputs");
    return all ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    return errors_main(argc, argv, kUsage, check, write_json);
}
