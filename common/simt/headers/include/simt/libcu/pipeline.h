/// simt/libcu/pipeline.h: cuda::pipeline: stages of asynchronous copies, filled by
/// producers and used by consumers.
#pragma once
#include <cstdint>

#include "simt/cp_async.h"
#include "simt/libcu/barrier.h"

namespace cuda {

enum class pipeline_role { producer, consumer };

/// The state that the threads of a pipeline share; lies in shared memory.
template <thread_scope kScope, uint8_t kStages>
class pipeline_shared_state {
 public:
    pipeline_shared_state() = default;
    pipeline_shared_state(const pipeline_shared_state&) = delete;
    pipeline_shared_state& operator=(const pipeline_shared_state&) = delete;

    struct Stage {
        barrier<kScope> produced;
        barrier<kScope> consumed;
    };
    Stage stages[kStages];
    uint32_t producers;
    uint32_t consumers;
};

/// One thread's end of a pipeline. A stage's copies have landed when consumer_wait
/// returns.
///
/// @tparam kScope  thread_scope_thread: the thread's own copies only, no shared state
template <thread_scope kScope>
class pipeline {
 public:
    using Stage = typename pipeline_shared_state<kScope, 1>::Stage;

    pipeline(pipeline&&) = default;
    pipeline(const pipeline&) = delete;
    pipeline& operator=(const pipeline&) = delete;

    /// Waits until the next stage to fill is free.
    void producer_acquire() {
        if (stages_ == nullptr || head_ < num_stages_) return;
        const Stage& stage = stages_[head_ % num_stages_];
        stage.consumed.wait_phase(head_ / num_stages_ - 1);
    }
    /// Closes the stage that is being filled.
    void producer_commit(SIMT_SITE) {
        simt::detail::cp_async_commit();
        if (stages_ != nullptr) {
            // Another thread's consumer_wait cannot make this thread's copies land.
            simt::detail::cp_async_wait(0);
            (void)stages_[head_ % num_stages_].produced.arrive(1, file, line);
        }
        ++head_;
    }
    /// Waits for the oldest stage that has not been released.
    void consumer_wait() {
        if (stages_ != nullptr) {
            stages_[tail_ % num_stages_].produced.wait_phase(tail_ / num_stages_);
        } else if (head_ > tail_) {
            simt::detail::cp_async_wait(static_cast<int>(head_ - tail_ - 1));
        }
    }
    /// Frees the oldest stage.
    void consumer_release(SIMT_SITE) {
        if (stages_ != nullptr) {
            (void)stages_[tail_ % num_stages_].consumed.arrive(1, file, line);
        }
        ++tail_;
    }
    /// Leaves the pipeline.
    bool quit() { return true; }

    /// Waits for all but the `prior` newest stages.
    void wait_prior(unsigned prior) {
        if (stages_ == nullptr) {
            simt::detail::cp_async_wait(static_cast<int>(prior));
        } else if (head_ > prior) {
            const uint32_t last = head_ - prior - 1;
            stages_[last % num_stages_].produced.wait_phase(last / num_stages_);
        }
    }

    /// For make_pipeline.
    pipeline(Stage* stages, uint32_t num_stages)
        : stages_(stages), num_stages_(num_stages) {}

 private:
    Stage* stages_;
    uint32_t num_stages_;
    uint32_t head_ = 0;  // stages committed
    uint32_t tail_ = 0;  // stages released
};

namespace simt_detail {
template <class Group, thread_scope kScope, uint8_t kStages>
pipeline<kScope> start_pipeline(const Group& group,
                                pipeline_shared_state<kScope, kStages>* state,
                                uint32_t producers,
                                uint32_t consumers) {
    using Stage = typename pipeline<kScope>::Stage;
    if (group.thread_rank() == 0) {
        for (auto& stage : state->stages) {
            init(&stage.produced, producers);
            init(&stage.consumed, consumers);
        }
    }
    group.sync();
    return pipeline<kScope>(reinterpret_cast<Stage*>(state->stages), kStages);
}
}  // namespace simt_detail

/// The pipeline of a single thread.
inline pipeline<thread_scope_thread> make_pipeline() {
    return pipeline<thread_scope_thread>(nullptr, 1);
}
/// A pipeline of a group whose threads are all producers and consumers.
template <class Group, thread_scope kScope, uint8_t kStages>
pipeline<kScope> make_pipeline(const Group& group,
                               pipeline_shared_state<kScope, kStages>* state) {
    const auto threads = static_cast<uint32_t>(group.size());
    return simt_detail::start_pipeline(group, state, threads, threads);
}
/// A pipeline of a group of which `producers` threads fill the stages.
template <class Group, thread_scope kScope, uint8_t kStages>
pipeline<kScope> make_pipeline(const Group& group,
                               pipeline_shared_state<kScope, kStages>* state,
                               size_t producers) {
    return simt_detail::start_pipeline(group,
                                       state,
                                       static_cast<uint32_t>(producers),
                                       static_cast<uint32_t>(group.size() - producers));
}
/// A pipeline of a group whose threads each choose a role.
template <class Group, thread_scope kScope, uint8_t kStages>
pipeline<kScope> make_pipeline(const Group& group,
                               pipeline_shared_state<kScope, kStages>* state,
                               pipeline_role role) {
    if (group.thread_rank() == 0) {
        state->producers = 0;
        state->consumers = 0;
    }
    group.sync();
    uint32_t* count =
        role == pipeline_role::producer ? &state->producers : &state->consumers;
    __atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
    group.sync();
    return simt_detail::start_pipeline(
        group, state, state->producers, state->consumers);
}

/// Waits for all but the `kPrior` newest stages of the pipeline.
template <uint8_t kPrior>
void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>& pipe) {
    pipe.wait_prior(kPrior);
}
template <thread_scope kScope>
void pipeline_producer_commit(pipeline<thread_scope_thread>&, barrier<kScope>&) {
    simt::detail::cp_async_wait_all();
}

/// Starts a copy that belongs to the pipeline's current stage.
template <class T, class U, class Size, thread_scope kScope>
void memcpy_async(T* dst, const U* src, Size bytes, pipeline<kScope>&, SIMT_SITE) {
    simt::detail::copy_part(dst, src, static_cast<size_t>(bytes), 0, 1, file, line);
}
/// The same, done by a group together.
template <class Group, class T, class U, class Size, thread_scope kScope>
void memcpy_async(const Group& group,
                  T* dst,
                  const U* src,
                  Size bytes,
                  pipeline<kScope>&,
                  SIMT_SITE) {
    simt::detail::copy_part(dst,
                            src,
                            static_cast<size_t>(bytes),
                            group.thread_rank(),
                            group.size(),
                            file,
                            line);
}

}  // namespace cuda
