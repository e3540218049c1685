// Time that other programs take from this one.
#include "waiting.h"

#include <sched.h>
#include <unistd.h>
#include <wb/testing/catch.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

using namespace std::chrono_literals;

/// Runs for so long, on one processor.
void spin(int processor, std::chrono::milliseconds time) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(processor), &one);
    sched_setaffinity(0, sizeof(one), &one);
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
}

}  // namespace

TEST_CASE("waiting: threads that share a processor wait for it, one asleep does not") {
    if (access("/proc/self/schedstat", R_OK) != 0)
        WB_SKIP("this system does not count the time that threads wait");
    wb::testing::Waiting waiting;
    std::atomic<bool> started{false};
    const int here = sched_getcpu();
    std::thread one([&] { started = true, spin(here, 400ms); });
    std::thread other([&] { spin(here, 400ms); });
    while (!started)
        std::this_thread::yield();
    std::this_thread::sleep_for(50ms);
    waiting.restart();
    std::this_thread::sleep_for(250ms);
    const double waited = waiting.seconds();
    one.join();
    other.join();
    CHECK(waited > 0.05);
    CHECK(waited < 1);
}
