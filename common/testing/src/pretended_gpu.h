/// pretended_gpu.h: on a GPU, what a program is told of it while a test wants a smaller
/// one.
#pragma once

#include <atomic>
#include <cstddef>

namespace wb::testing {

/// 0: the program is told the truth. One for the process: launchers may ask from any of
/// its threads.
struct PretendedGpu {
    std::atomic<int> multiprocessors{0};
    std::atomic<int> shared_bytes{0};  // of a block
    std::atomic<int> l2_bytes{0};
    std::atomic<int> compute_capability{0};  // times 10

    static PretendedGpu& instance();
};

/// While this lives, the thread that made it is told the truth.
class TrueGpu {
 public:
    TrueGpu();
    ~TrueGpu();
    TrueGpu(const TrueGpu&) = delete;
    TrueGpu& operator=(const TrueGpu&) = delete;
};

}  // namespace wb::testing
