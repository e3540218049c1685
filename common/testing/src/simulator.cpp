#include <cuda_runtime.h>
#include <wb/testing/simulator.h>
#ifdef SIMT_CPU
#include <simt/options.h>
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

}  // namespace wb::testing
