// Times day01-basics/01-hello-gpu: what does a launch cost, and how many threads does
// one get for that price?
#include "hello_gpu.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

using namespace wb::bench;

namespace {

struct Launched {
    int blocks;
    int threads;
};

}  // namespace

WB_BENCH(hello_gpu, bench) {
    for (const auto& [blocks, threads] : bench.sizes<Launched>({{1, 32}},
                                                               {{1, 32}, {1056, 256}},
                                                               {{1, 32},
                                                                {132, 32},
                                                                {132, 256},
                                                                {1056, 256},
                                                                {16896, 256},
                                                                {1048576, 256}})) {
        const int64_t count = int64_t{blocks} * threads;
        const double bytes = sizeof(int) * static_cast<double>(count);
        if (!bench.fits(bytes)) continue;
        const auto greetings = bench.output<int>(count);

        // Hot: back to back from a full queue, so that the time is that of a launch and
        // not that of writing back what a flush left in the cache.
        auto problem = bench.problem(
            {std::to_string(blocks) + " blocks of " + std::to_string(threads),
             Ceiling::write,
             bytes,
             Cache::hot});
        problem.expect("greetings", greetings, [](int64_t i) {
            return Expected{static_cast<double>(i), 0.0};
        });
        for (const auto& [name, idea, hello] :
             wb::implementations("hello_gpu", hello_gpu)) {
            problem.time(name,
                         idea,
                         [&, hello = hello, blocks = blocks, threads = threads](
                             cudaStream_t stream) {
                             hello(greetings.data(), blocks, threads, stream);
                         });
        }
    }
}
