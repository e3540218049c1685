// Times dayNN-day/NN-chapter.
#include "chapter_name.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

using namespace wb::bench;

// TODO(author): the sizes that the lesson speaks of, and the library as a peer
WB_BENCH(chapter_name, bench) {
    for (const int64_t n :
         bench.sizes<int64_t>({1 << 12}, {1 << 20, 1 << 24}, {1 << 20, 1 << 28})) {
        const double bytes = 2.0 * sizeof(float) * static_cast<double>(n);
        if (!bench.fits(bytes)) continue;
        const auto x = bench.random_normal(n);
        const auto y = bench.output<float>(n);
        auto problem =
            bench.problem({"n = " + std::to_string(n), Ceiling::copy, bytes});
        problem.expect("y", y, [&](int64_t i) {
            return Expected{2.0 * double{x.at(i)}, 0.0};
        });
        for (const auto& [name, idea, run] :
             wb::implementations("chapter_name", chapter_name)) {
            problem.time(name, idea, [&, run = run](cudaStream_t stream) {
                run(x.data(), y.data(), n, stream);
            });
        }
    }
}
