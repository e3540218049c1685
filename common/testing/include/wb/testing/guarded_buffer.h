/// wb/testing/guarded_buffer.h: device memory that notices what should not happen.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace wb::testing {

/// Whether memory is watched by us (default), or by a tool: WB_CANARIES=0 when the
/// program began. What the learner's code makes of the variable does not count.
bool canaries_wanted();

/// Device memory with a canary zone before and after it.
///
///     [ canary | the bytes that the kernel is given | canary ]
///
/// Data and canaries start as 0xFF bytes: a NaN in every float format, so that reading
/// outside of the array, or what nobody wrote, ruins the result visibly. In the
/// simulator there is no canary behind: the memory ends at an inaccessible page, and
/// the offending line is named at once. WB_CANARIES=0 drops both zones, so that
/// compute-sanitizer sees the true bounds on a GPU.
class GuardedBuffer {
 public:
    /// Allocates `bytes` of poison.
    /// @param shift   how many bytes they begin behind an address that suits any type
    /// @param behind  how many bytes of canary are behind them, also in the simulator
    explicit GuardedBuffer(std::size_t bytes,
                           std::size_t shift = 0,
                           bool canaries = canaries_wanted(),
                           std::size_t behind = 0);
    ~GuardedBuffer();
    GuardedBuffer(const GuardedBuffer&) = delete;
    GuardedBuffer& operator=(const GuardedBuffer&) = delete;

    /// The address for the kernel; without a shift, 256-byte aligned on a GPU, 16 in
    /// the simulator.
    void* data() const { return base_ + front_; }
    std::size_t bytes() const { return bytes_; }

    /// Fills data and canaries with 0xFF again.
    void poison();

    /// Copies `bytes()` bytes from / to host memory.
    void upload(const void* host);
    void download(void* host) const;

    /// What has been written outside: how many bytes past the end, or -1 before the
    /// beginning. Nothing if the canaries are intact.
    std::optional<std::int64_t> damage() const;

 private:
    std::size_t bytes_;
    std::size_t front_;
    std::size_t back_;
    char* base_ = nullptr;
};

}  // namespace wb::testing
