#include <cuda_runtime.h>
#include <wb/testing/simulator.h>
#ifdef SIMT_CPU
#include <simt/options.h>
#include <simt/streams.h>
#endif

#include <cstdlib>

namespace wb::testing {

void prepare_simulator() {
#ifdef SIMT_CPU
    // The environment wins, so that a learner can try other settings.
    constexpr int kKeep = 0;
    setenv("SIMT_TIGHT", "1", kKeep);
    setenv("SIMT_STRICT_EXIT", "1", kKeep);
    setenv("SIMT_TIME_LIMIT", "10", kKeep);
#endif
}

void shuffle_threads([[maybe_unused]] unsigned seed) {
#ifdef SIMT_CPU
    simt::set_seed(seed);
#endif
}

StreamOrder::StreamOrder([[maybe_unused]] unsigned seed) {
#ifdef SIMT_CPU
    simt::set_stream_seed(seed);
#endif
}

StreamOrder::~StreamOrder() {
#ifdef SIMT_CPU
    simt::set_stream_seed(0);
#endif
}

unsigned StreamOrder::longest_chain() {
#ifdef SIMT_CPU
    return simt::longest_chain();
#else
    return 0;
#endif
}

unsigned long graphs_instantiated() {
#ifdef SIMT_CPU
    return simt::issue_counters().instantiations;
#else
    return 0;
#endif
}

}  // namespace wb::testing
