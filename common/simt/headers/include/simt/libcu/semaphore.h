/// simt/libcu/semaphore.h: cuda::counting_semaphore, cuda::binary_semaphore and
/// cuda::latch.
#pragma once
#include <cstddef>

#include "simt/libcu/atomic.h"

namespace cuda {

/// Hands out up to `kMost` permits.
template <thread_scope kScope, std::ptrdiff_t kMost = 0x7fffffff>
class counting_semaphore {
 public:
    constexpr explicit counting_semaphore(std::ptrdiff_t permits = 0)
        : permits_(static_cast<int>(permits)) {}
    static constexpr std::ptrdiff_t max() { return kMost; }

    void release(std::ptrdiff_t update = 1) {
        permits_.fetch_add(static_cast<int>(update));
    }
    void acquire() {
        simt_detail::wait_until([this] { return try_acquire(); });
    }
    bool try_acquire() {
        int seen = permits_.load();
        while (seen > 0) {
            if (permits_.compare_exchange_strong(seen, seen - 1)) return true;
        }
        return false;
    }

 private:
    atomic<int, kScope> permits_;
};
template <thread_scope kScope>
using binary_semaphore = counting_semaphore<kScope, 1>;

/// Opens once `expected` arrivals have been counted.
template <thread_scope kScope>
class latch {
 public:
    constexpr explicit latch(std::ptrdiff_t expected)
        : left_(static_cast<int>(expected)) {}

    void count_down(std::ptrdiff_t update = 1) {
        left_.fetch_sub(static_cast<int>(update));
    }
    bool try_wait() const { return left_.load() == 0; }
    void wait() const {
        simt_detail::wait_until([this] { return try_wait(); });
    }
    void arrive_and_wait(std::ptrdiff_t update = 1) {
        count_down(update);
        wait();
    }

 private:
    atomic<int, kScope> left_;
};

}  // namespace cuda
