// Times day01-basics/04-add-bias-nchw: how close does adding a bias come to the
// bandwidth of a copy, with planes that fit the grid's tiles and with planes that do
// not?
#include "add_bias_nchw.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <cmath>

using namespace wb::bench;

namespace {

struct Size {
    int64_t N, C, H, W;
};

std::string in_words(const Size& s) {
    return "N C H W = " + std::to_string(s.N) + " " + std::to_string(s.C) + " " +
           std::to_string(s.H) + " " + std::to_string(s.W);
}

}  // namespace

WB_BENCH(add_bias_nchw, bench) {
    // An early and a late stage of a ResNet-50, at two batch sizes.
    for (const Size& s : bench.sizes<Size>({{2, 3, 8, 8}, {2, 3, 7, 7}},
                                           {{8, 64, 56, 56}, {8, 2048, 7, 7}},
                                           {{32, 64, 56, 56},
                                            {32, 2048, 7, 7},
                                            {128, 256, 56, 56},
                                            {1024, 2048, 7, 7}})) {
        const int64_t plane = s.H * s.W;
        const int64_t count = s.N * s.C * plane;
        const double bytes = sizeof(float) * static_cast<double>(2 * count + s.C);
        if (!bench.fits(bytes)) continue;
        const auto x = bench.random_normal(count);
        const auto bias = bench.random_normal(s.C);
        const auto y = bench.output<float>(count);

        auto problem = bench.problem({in_words(s), Ceiling::copy, bytes});
        problem.expect("y", y, [&](int64_t i) {
            const double sum = double{x.at(i)} + double{bias.at(i / plane % s.C)};
            return Expected{sum, 0x1p-24 * std::abs(sum)};  // one rounding
        });
        for (const auto& [name, idea, add_bias] :
             wb::implementations("add_bias_nchw", add_bias_nchw)) {
            problem.time(
                name, idea, [&, s = s, add_bias = add_bias](cudaStream_t stream) {
                    add_bias(
                        x.data(), bias.data(), y.data(), s.N, s.C, s.H, s.W, stream);
                });
        }
    }
}
