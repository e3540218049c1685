/// launch_watch.h: what every launcher promises, whatever it computes. Its work goes to
/// the stream that it is given and to no default one; it returns without waiting; it
/// keeps no memory, and leaves no error behind.
#pragma once

#include <cuda_runtime.h>
#include <wb/testing/verdict.h>

#include <cstddef>
#include <functional>
#include <optional>

namespace wb::testing {

/// Watches a launcher from its construction until judge(). Streams are watched in the
/// simulator only, which sees each call of CUDA's.
class LaunchWatch {
 public:
    explicit LaunchWatch(cudaStream_t stream);
    ~LaunchWatch();
    LaunchWatch(const LaunchWatch&) = delete;
    LaunchWatch& operator=(const LaunchWatch&) = delete;

    /// The launcher has returned: what comes now is not its doing.
    void stop();
    /// The first promise that was broken; the device must be idle.
    ///
    /// @param has_output  was anything written? Asked only if it matters
    /// @param may_wait    it may wait, and copy to and from the host
    std::optional<Finding> judge(const std::function<bool()>& has_output,
                                 bool may_wait) const;
    /// How much was put on the stream, or on the default one: kernels, copies, fills,
    /// ... On a stream of its own a launcher may capture a graph. 0 on a GPU, and of
    /// what waits: that is no launcher, but asks what others have done.
    int operations() const;
    /// Whether anything was put on streams of the launcher's own; false on a GPU.
    bool has_other_streams() const;
    /// Whether streams, events, graphs or the like were made; false on a GPU.
    bool has_made_objects() const;

 private:
    [[maybe_unused]] std::size_t free_before_ = 0;
    [[maybe_unused]] unsigned long made_before_ = 0;
    cudaError_t error_ = cudaSuccess;
};

}  // namespace wb::testing
