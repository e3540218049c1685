/// core/thread_queue.h: lists of threads, linked through Thread::next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt::detail {

struct Block;
struct Thread;

/// First in, first out.
struct ThreadList {
    Thread* head = nullptr;
    Thread* tail = nullptr;

    bool empty() const { return head == nullptr; }
    inline void push(Thread* thread);
    inline Thread* pop();
    inline void append(ThreadList& other);
};

/// A small, fast random number generator (xorshift64*).
class Random {
 public:
    void seed(uint64_t a, uint64_t b, uint64_t c) {
        state_ = (a * 0x9e3779b97f4a7c15u + b) * 0xbf58476d1ce4e5b9u +
                 c * 0x94d049bb133111ebu;
        if (state_ == 0) state_ = 1;
        for (int i = 0; i < 3; ++i)
            below(1);
    }
    /// A number in [0, n), n < 2^32.
    uint32_t below(uint32_t n) {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        const uint64_t bits = (state_ * 0x2545f4914f6cdd1du) >> 32;
        return static_cast<uint32_t>(bits * n >> 32);
    }

 private:
    uint64_t state_ = 1;
};

/// The threads that can go on: in order, or in random order.
class ThreadQueue {
 public:
    void set_random(bool on) {
        random_ = on;
        late_warp_ = kNobody;
        late_block_ = nullptr;
    }
    /// In random order, lets the threads of that warp of a block run only now and then,
    /// so that the others get as far ahead of it as they may.
    void set_late_warp(unsigned warp) { late_warp_ = warp; }
    /// The same for all threads of a block.
    void set_late_block(const Block* block) { late_block_ = block; }
    void forget_late_block(const Block* block) {
        if (late_block_ == block) late_block_ = nullptr;
    }
    bool random() const { return random_; }
    Random& rng() { return rng_; }
    bool empty() const { return list_.empty() && pool_.empty(); }
    size_t random_size() const { return pool_.size(); }
    void clear() {
        list_ = {};
        pool_.clear();
    }
    void push(Thread* thread) {
        if (random_)
            pool_.push_back(thread);
        else
            list_.push(thread);
    }
    void append(ThreadList& other) {
        if (!random_) return list_.append(other);
        while (!other.empty())
            pool_.push_back(other.pop());
    }
    /// The next thread where there is an order, or null.
    Thread* pop_in_order() { return list_.empty() ? nullptr : list_.pop(); }
    /// The next thread, or null.
    Thread* pop() {
        if (!random_) return list_.empty() ? nullptr : list_.pop();
        if (pool_.empty()) return nullptr;
        size_t i = choose();
        while (is_late(pool_[i]) && rng_.below(kReluctance) != 0)
            i = choose();
        Thread* thread = pool_[i];
        pool_[i] = pool_.back();
        pool_.pop_back();
        return thread;
    }

 private:
    static constexpr uint32_t kReluctance = 32;
    static constexpr unsigned kNobody = ~0u;

    size_t choose() { return rng_.below(static_cast<uint32_t>(pool_.size())); }
    inline bool is_late(const Thread* thread) const;

    bool random_ = false;
    unsigned late_warp_ = kNobody;
    const Block* late_block_ = nullptr;
    ThreadList list_;
    std::vector<Thread*> pool_;
    Random rng_;
};

}  // namespace simt::detail
