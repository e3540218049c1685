#include "watchdog.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "options.h"
#include "pool.h"
#include "signals.h"

namespace simt::detail {
namespace {

// Seconds without progress of a worker after which its thread is preempted: the first
// time in a launch, and from then on.
constexpr double kPreemptAfter = 0.040;
constexpr double kPreemptAgainAfter = 0.0015;
// A launch whose threads pass barriers but never end is given so many time limits.
constexpr double kFinishFactor = 10;
constexpr auto kSpinningPeriod = std::chrono::milliseconds(2);
constexpr auto kBusyPeriod = std::chrono::milliseconds(10);
constexpr auto kIdlePeriod = std::chrono::milliseconds(50);

/// Since when a counter has stood still.
struct Stillness {
    uint64_t value = 0;
    double since = 0;

    double observe(uint64_t now_value, double time) {
        if (now_value != value || since == 0) {
            value = now_value;
            since = time;
        }
        return time - since;
    }
};

/// True while a debugger is attached: its user decides how long things take.
bool is_traced() {
    std::FILE* f = std::fopen("/proc/self/status", "r");
    if (!f) return false;
    char line[256];
    int tracer = 0;
    while (std::fgets(line, sizeof line, f))
        if (std::sscanf(line, "TracerPid: %d", &tracer) == 1) break;
    std::fclose(f);
    return tracer != 0;
}

class Watchdog {
 public:
    /// Looks at all workers once; returns when to look again.
    std::chrono::milliseconds look() {
        time_ = now();
        busy_ = false;
        progress_ = finished_ = 0;
        for_each_worker(
            [](Worker& w, void* self) { static_cast<Watchdog*>(self)->see(w); }, this);
        if (!busy_) {
            still_ = unfinished_ = {};
            workers_.clear();
            spinning_ = false;
            return kIdlePeriod;
        }
        const double limit = options().time_limit;
        const double still = still_.observe(progress_, time_);
        const double unfinished = unfinished_.observe(finished_, time_);
        if (limit > 0 && (still > limit || unfinished > limit * kFinishFactor) &&
            !is_traced())
            for_each_worker([](Worker& w, void*) { ask(w, kTimeOut); }, nullptr);
        return spinning_ ? kSpinningPeriod : kBusyPeriod;
    }

 private:
    static void ask(Worker& w, Request request) {
        if (!w.watched) return;
        w.requested = request;
        interrupt(w.os_thread);
    }
    void see(Worker& w) {
        progress_ += w.progress();
        finished_ += w.finished();
        if (!w.watched) {
            workers_.erase(&w);
            return;
        }
        busy_ = true;
        const double still = workers_[&w].observe(w.progress(), time_);
        if (still > (spinning_ ? kPreemptAgainAfter : kPreemptAfter) &&
            w.requested < kTimeOut) {
            spinning_ = true;
            ask(w, kPreempt);
        }
        if (w.requested >= kTimeOut) interrupt(w.os_thread);  // it has not listened yet
    }

    double time_ = 0;
    bool busy_ = false;
    bool spinning_ = false;  // some thread has been preempted
    uint64_t progress_ = 0, finished_ = 0;
    Stillness still_, unfinished_;
    std::unordered_map<Worker*, Stillness> workers_;
};

}  // namespace

void ensure_watchdog() {
    static std::once_flag once;
    std::call_once(once, [] {
        std::thread([] {
            Watchdog watchdog;
            for (;;)
                std::this_thread::sleep_for(watchdog.look());
        }).detach();
    });
}

}  // namespace simt::detail
