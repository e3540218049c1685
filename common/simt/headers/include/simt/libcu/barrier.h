/// simt/libcu/barrier.h: cuda::barrier and copies that complete with one.
#pragma once
#include <cstdint>
#include <utility>

#include "simt/aligned_size.h"
#include "simt/copy.h"
#include "simt/fault.h"
#include "simt/libcu/scope.h"
#include "simt/seen.h"

namespace cuda {

namespace simt_detail {
struct no_completion {
    void operator()() const {}
};
}  // namespace simt_detail

/// A barrier for a chosen number of threads, phase after phase. In shared memory it is
/// not initialised: one thread calls init(), then the block synchronises.
template <thread_scope kScope, class Completion = simt_detail::no_completion>
class barrier {
 public:
    /// The phase that a thread has arrived in.
    class arrival_token {
        friend class barrier;
        explicit arrival_token(uint32_t phase) : phase_(phase) {}
        uint32_t phase_;
    };

    barrier() = default;
    explicit barrier(std::ptrdiff_t expected, Completion completion = Completion())
        : expected_(static_cast<uint32_t>(expected)),
          pending_(static_cast<uint32_t>(expected)),
          phase_(0),
          completion_(completion) {}
    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;

    static constexpr std::ptrdiff_t max() { return (1 << 20) - 1; }

    /// Counts `update` arrivals.
    arrival_token arrive(std::ptrdiff_t update = 1, SIMT_SITE) {
        if (__atomic_load_n(&expected_, __ATOMIC_RELAXED) == kPoison) {
            simt::detail::fault(
                719,  // cudaErrorLaunchFailure
                file,
                line,
                "arrival at a cuda::barrier that nobody has initialised");
        }
        const uint32_t phase = __atomic_load_n(&phase_, __ATOMIC_ACQUIRE);
        const auto count = static_cast<uint32_t>(update);
        if (__atomic_sub_fetch(&pending_, count, __ATOMIC_ACQ_REL) == 0) {
            completion_();
            __atomic_store_n(&pending_,
                             __atomic_load_n(&expected_, __ATOMIC_RELAXED),
                             __ATOMIC_RELAXED);
            __atomic_store_n(&phase_, phase + 1, __ATOMIC_RELEASE);
        }
        return arrival_token(phase);
    }
    /// Waits until the phase of the token is over.
    void wait(arrival_token&& token) const { wait_phase(token.phase_); }
    void arrive_and_wait(SIMT_SITE) { wait(arrive(1, file, line)); }
    /// Arrives, and is not expected in later phases.
    void arrive_and_drop(SIMT_SITE) {
        __atomic_sub_fetch(&expected_, 1, __ATOMIC_ACQ_REL);
        (void)arrive(1, file, line);
    }
    /// Whether the phase of the token is over.
    bool try_wait(arrival_token&& token) const {
        simt::detail::spin_hint();
        return phase() != token.phase_;
    }
    /// Waits until a phase of this parity is over; the phase before the first counts as
    /// odd.
    void wait_parity(bool parity) const {
        simt_detail::wait_until([&] { return (phase() & 1u) != unsigned(parity); });
    }
    bool try_wait_parity(bool parity) const {
        simt::detail::spin_hint();
        return (phase() & 1u) != unsigned(parity);
    }

    /// Phases completed so far.
    uint32_t phase() const { return __atomic_load_n(&phase_, __ATOMIC_ACQUIRE); }
    /// Waits until more than `phase` phases have been completed.
    void wait_phase(uint32_t phase_number) const {
        simt_detail::wait_until([&] { return phase() != phase_number; });
    }

    /// Makes a barrier for `expected` threads in the memory of an uninitialised one.
    friend void init(barrier* b,
                     std::ptrdiff_t expected,
                     Completion completion = Completion()) {
        new (static_cast<void*>(b)) barrier(expected, completion);
    }

 private:
    static constexpr uint32_t kPoison = 0xffffffffu;  // what fresh shared memory holds

    uint32_t expected_;
    uint32_t pending_;
    uint32_t phase_;
    [[no_unique_address]] Completion completion_;
};

/// Copies that complete before the barrier's current phase does. Here they are done at
/// once.
template <class T, class U, class Size, thread_scope kScope, class C>
void memcpy_async(T* dst, const U* src, Size bytes, barrier<kScope, C>&) {
    simt_copy(dst, src, static_cast<size_t>(bytes));
}
/// The same, done by a group together.
template <class Group, class T, class U, class Size, thread_scope kScope, class C>
void memcpy_async(
    const Group& group, T* dst, const U* src, Size bytes, barrier<kScope, C>&) {
    const size_t total = static_cast<size_t>(bytes);
    const size_t part = (total + group.size() - 1) / group.size();
    const size_t begin = part * group.thread_rank();
    if (begin >= total) return;
    const size_t count = total - begin < part ? total - begin : part;
    simt_copy(reinterpret_cast<char*>(dst) + begin,
              reinterpret_cast<const char*>(src) + begin,
              count);
}

}  // namespace cuda
