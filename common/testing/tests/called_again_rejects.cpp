// Part of the program of grader_rejects.cpp: launchers that are right when they are
// called for the first time, alone, from the program's first thread.
#include <wb/check.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "../src/meeting.h"
#include "kernels.h"

namespace {

using namespace wb::testing;

using Launcher =
    std::function<void(const float* x, float* y, int64_t n, cudaStream_t stream)>;

void launch_twice(const float* x, float* y, int64_t n, cudaStream_t s) {
    launch_scale(x, y, {2, 0, 0, n}, s);
}

/// Grades y = 2 x.
/// @param more  that is added to each x
void grade(const Launcher& launch, int64_t n = 300, std::size_t more = 0) {
    std::vector<float> x(static_cast<std::size_t>(n));
    std::vector<double> expected(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(static_cast<std::size_t>(n) + more + i);
        expected[i] = 2.0 * x[i];
    }
    calls_are_made_again() = true;  // also where the first one took long
    Grader grade("scale_v1", "n = " + std::to_string(n));
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {n});
    grade.run([&](cudaStream_t s) { launch(d_x, d_y, n, s); });
    grade.expect("y", expected, [](int64_t) { return 0.0; });
}

/// Grades calls of two sizes.
void grade_two(const Launcher& launch) {
    expect_independent([&] { grade(launch, 300); }, [&] { grade(launch, 2000); });
}

}  // namespace

TEST_CASE("is right again") {
    grade(launch_twice);
    grade_two(launch_twice);
}

TEST_CASE("takes the null stream for a null pointer") {
    grade_two([&](const float* x, float* y, int64_t n, cudaStream_t s) {
        if (s == nullptr) throw std::invalid_argument("scale: stream must not be null");
        launch_twice(x, y, n, s);
    });
}

TEST_CASE("does nothing on the null stream") {
    grade_two([&](const float* x, float* y, int64_t n, cudaStream_t s) {
        if (s != nullptr) launch_twice(x, y, n, s);
    });
}

TEST_CASE("returns at once with the same buffers") {
    std::pair<const float*, float*> last;
    grade([&](const float* x, float* y, int64_t n, cudaStream_t s) {
        if (std::exchange(last, {x, y}) == std::pair<const float*, float*>(x, y))
            return;
        launch_twice(x, y, n, s);
    });
}

TEST_CASE("keeps the result for the same buffers") {
    const GuardedBuffer kept(300 * sizeof(float));
    bool is_kept = false;
    grade([&](const float* x, float* y, int64_t n, cudaStream_t s) {
        auto* const result = static_cast<float*>(kept.data());
        if (!std::exchange(is_kept, true)) launch_twice(x, result, n, s);
        launch_scale(result, y, {1, 0, 0, n}, s);
    });
}

TEST_CASE("takes the numbers of the call before") {
    const GuardedBuffer kept(300 * sizeof(float));
    bool is_kept = false;
    grade([&](const float* x, float* y, int64_t n, cudaStream_t s) {
        auto* const before = static_cast<float*>(kept.data());
        launch_twice(std::exchange(is_kept, true) ? before : x, y, n, s);
        launch_scale(x, before, {1, 0, 0, n}, s);
    });
}

TEST_CASE("keeps a number of the first call with the same buffers") {
    // Right for the first call, and for the last one, whose numbers are the same.
    constexpr std::size_t kMost = 20;
    const GuardedBuffer memory(kMost * 2000 * sizeof(float));
    std::map<const float*, std::size_t> places;
    grade_two([&](const float* x, float* y, int64_t n, cudaStream_t s) {
        const auto [found, is_new] = places.try_emplace(x, places.size());
        auto* const kept =
            static_cast<float*>(memory.data()) + found->second % kMost * 2000;
        if (is_new) launch_scale(x, kept, {1, 0, 0, n}, s);
        launch_scale(x, y, {2, 0, 0, n - 1}, s);
        launch_scale(kept, y, {2, 0, n - 1, n}, s);
    });
}

TEST_CASE("works from one host thread") {
    const auto first = std::this_thread::get_id();
    grade([&](const float* x, float* y, int64_t n, cudaStream_t s) {
        if (std::this_thread::get_id() == first) launch_twice(x, y, n, s);
    });
}

TEST_CASE("works on one stream") {
    cudaStream_t first = nullptr;
    grade([&](const float* x, float* y, int64_t n, cudaStream_t s) {
        if (first == nullptr) first = s;
        if (s == first) launch_twice(x, y, n, s);
    });
}

TEST_CASE("works on the first stream that it saw") {
    cudaStream_t first = nullptr;
    grade([&](const float* x, float* y, int64_t n, cudaStream_t s) {
        if (first == nullptr) first = s;
        launch_twice(x, y, n, first);
    });
}

TEST_CASE("does not join its own stream") {
    cudaStream_t own = nullptr;
    CUDA_CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    grade([&](const float* x, float* y, int64_t n, cudaStream_t s) {
        launch_scale(x, y, {2, 0, 0, n - 1}, s);
        launch_scale(x, y, {2, 0, n - 1, n}, own);
    });
}

TEST_CASE("throws when it is called again") {
    int calls = 0;
    grade([&](const float* x, float* y, int64_t n, cudaStream_t s) {
        if (++calls > 1) throw std::runtime_error("once is enough");
        launch_twice(x, y, n, s);
    });
}

#ifdef SIMT_CPU
TEST_CASE("looks at its input before its stream does") {
    grade([](const float* x, float* y, int64_t n, cudaStream_t s) {
        launch_scale(x, y, {x[1] - 299, 0, 0, n}, s);
    });
}
#else
TEST_CASE("waits when it is called again") {
    int calls = 0;
    grade([&](const float* x, float* y, int64_t n, cudaStream_t s) {
        launch_twice(x, y, n, s);
        if (++calls > 1) CUDA_CHECK(cudaStreamSynchronize(s));
    });
}
#endif

TEST_CASE("keeps its largest size") {
    int64_t largest = 0;
    grade_two([&](const float* x, float* y, int64_t n, cudaStream_t s) {
        largest = std::max(largest, n);
        launch_scale(x, y, {2, 0, 0, largest == n ? n : n - 1}, s);
    });
}

TEST_CASE("has scratch memory that all calls share") {
    grade_two([](const float* x, float* y, int64_t n, cudaStream_t s) {
        launch_twice_by_way_of_static(x, y, n, s);
    });
}

TEST_CASE("has scratch memory for each size") {
    const GuardedBuffer small(300 * sizeof(float));
    const GuardedBuffer large(2000 * sizeof(float));
    const Launcher launch = [&](const float* x, float* y, int64_t n, cudaStream_t s) {
        auto* const own = static_cast<float*>(n == 300 ? small.data() : large.data());
        launch_twice(x, own, n, s);
        launch_scale(own, y, {1, 0, 0, n}, s);
    };
    expect_independent([&] { grade(launch, 300); },
                       [&] { grade(launch, 2000); },
                       [&] { grade(launch, 300, 5); });
}

TEST_CASE("leaves an event behind") {
    grade([](const float* x, float* y, int64_t n, cudaStream_t s) {
        cudaEvent_t event = nullptr;
        CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        launch_twice(x, y, n, s);
        CUDA_CHECK(cudaEventRecord(event, s));
    });
}

TEST_CASE("has an event for all calls") {
    static cudaEvent_t event = nullptr;
    grade([](const float* x, float* y, int64_t n, cudaStream_t s) {
        if (event == nullptr)
            CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        launch_twice(x, y, n, s);
        CUDA_CHECK(cudaEventRecord(event, s));
    });
}

TEST_CASE("has events that all threads share") {
    // The event that says when the input is there is the other call's by the time that
    // the side stream waits for it.
    cudaStream_t side = nullptr;
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    CUDA_CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&begin, cudaEventDisableTiming));
    CUDA_CHECK(cudaEventCreateWithFlags(&end, cudaEventDisableTiming));
    grade_two([&](const float* x, float* y, int64_t n, cudaStream_t s) {
        CUDA_CHECK(cudaEventRecord(begin, s));
        CUDA_CHECK(cudaStreamWaitEvent(side, begin, 0));
        launch_scale(x, y, {2, 0, 0, n / 2}, side);
        launch_scale(x, y, {2, 0, n / 2, n}, s);
        CUDA_CHECK(cudaEventRecord(end, side));
        CUDA_CHECK(cudaStreamWaitEvent(s, end, 0));
    });
}

TEST_CASE("has arguments that all threads share") {
    int64_t shared_n = 0;
    grade_two([&](const float* x, float* y, int64_t n, cudaStream_t s) {
        reinterpret_cast<volatile int64_t&>(shared_n) = n;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const int64_t now = reinterpret_cast<volatile int64_t&>(shared_n);
        launch_twice(x, y, std::min(n, now), s);
    });
}

namespace {

/// Grades launch(), which gives one number for 300 numbers, and then its bits.
void grade_bits(const Launcher& launch, double right) {
    std::vector<float> x;
    for (int i = 0; i < 300; ++i)
        x.push_back((i % 2 == 0 ? 1e3f : -1e3f) + 0.1f * static_cast<float>(i));
    Grader grade("scale_v1", "bits");
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {1});
    grade.run([&](cudaStream_t s) { launch(d_x, d_y, 300, s); });
    grade.expect("y", {right}, [](int64_t) { return 0.1; });
    grade.expect_same_bits();
}

}  // namespace

TEST_CASE("has the same bits each time") {
    grade_bits(
        [](const float* x, float* y, int64_t, cudaStream_t s) {
            launch_scale(x, y, {1, 0, 0, 1}, s);
        },
        1e3);
}

TEST_CASE("adds in the order in which threads come") {
    grade_bits(launch_sum, 4485.0);
}
