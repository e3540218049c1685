#include "pool.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "options.h"
#include "signals.h"

namespace simt::detail {
namespace {

/// The process's worker threads: they sleep until a launch calls them. Never destroyed,
/// because a program may end while they wait.
class Pool {
 public:
    /// Starts the threads at first use.
    void call(Launch& launch) {
        const std::lock_guard lock(mutex_);
        if (launch.shared) return;
        launch.shared = true;
        for (unsigned n = options().workers - 1; size_ < n; ++size_)
            std::thread([this] { serve(); }).detach();
        job_ = &launch;
        ++generation_;
        changed_.notify_all();
    }
    /// Waits until no worker is busy with the launch any more.
    void finish(Launch& launch) {
        if (!launch.shared) return;
        std::unique_lock lock(mutex_);
        job_ = nullptr;
        changed_.wait(lock, [this] { return busy_ == 0; });
    }

 private:
    void serve() {
        Worker& w = own_worker();
        ensure_signal_handlers(now());
        uint64_t seen = 0;
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return job_ && generation_ != seen; });
            seen = generation_;
            Launch& launch = *job_;
            ++busy_;
            lock.unlock();
            w.run(launch);
            lock.lock();
            if (--busy_ == 0) changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    Launch* job_ = nullptr;
    uint64_t generation_ = 0;
    unsigned busy_ = 0;
    unsigned size_ = 0;
};

Pool& pool() {
    static Pool* const instance = new Pool;
    return *instance;
}

struct Registry {
    std::mutex mutex;
    std::vector<Worker*> workers;
};

Registry& registry() {
    static Registry* const instance = new Registry;
    return *instance;
}

}  // namespace

double now() {
    using Clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

Worker& own_worker() {
    static thread_local std::unique_ptr<Worker> owner;
    if (!owner) {
        owner = std::make_unique<Worker>();
        worker = owner.get();
    }
    return *owner;
}

void add_worker(Worker* w) {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    r.workers.push_back(w);
}

void remove_worker(Worker* w) {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    r.workers.erase(std::find(r.workers.begin(), r.workers.end(), w));
}

void for_each_worker(void (*f)(Worker&, void*), void* data) {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    for (Worker* w : r.workers)
        f(*w, data);
}

void call_workers(Launch& launch) {
    if (options().workers > 1)
        pool().call(launch);
    else
        launch.shared = true;
}

void run_blocks(Launch& launch) {
    if (launch.config->cooperative && launch.num_blocks > 1) call_workers(launch);
    own_worker().run(launch);
    if (options().workers > 1) pool().finish(launch);
}

}  // namespace simt::detail
