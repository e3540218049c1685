// A program whose tests all fail, each for a reason that the grader must find and tell.
// expect_report.cmake runs one test case at a time and reads the verdict.
#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/errors.h>
#include <wb/exercise.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>
#include <wb/testing/memory_watch.h>
#include <wb/testing/random.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <thread>

#include "kernels.h"

namespace {

using namespace wb::testing;

constexpr int64_t kN = 300;

double exactly(int64_t) {
    return 0.0;
}

/// Grades y = 2 x, computed by a launch that a test spoils.
template <class Launch>
void grade_twice(Launch launch) {
    std::vector<float> x(kN);
    std::vector<double> expected(kN);
    for (int64_t i = 0; i < kN; ++i) {
        const auto k = static_cast<std::size_t>(i);
        x[k] = static_cast<float>(i + 1);
        expected[k] = static_cast<double>(2 * (i + 1));
    }
    Grader grade("scale_v1", "n = 300, seed 7");
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {15, 20});
    grade.run([&](cudaStream_t s) { launch(d_x, d_y, s); });
    grade.expect("y", expected, exactly);
}

}  // namespace

TEST_CASE("wrong value") {
    grade_twice([](const float* x, float* y, cudaStream_t s) {
        launch_scale(x, y, {2, 0, 0, kN}, s);
        launch_scale(x, y, {3, 0, 42, 43}, s);
    });
}

TEST_CASE("unwritten element") {
    grade_twice([](const float* x, float* y, cudaStream_t s) {
        launch_scale(x, y, {2, 0, 0, kN - 1}, s);
    });
}

TEST_CASE("past the end") {
    grade_twice([](const float* x, float* y, cudaStream_t s) {
        launch_scale(x, y, {2, 0, 0, kN}, s);
        launch_scale(x - kN, y, {2, 0, kN, kN + 1}, s);
    });
}

TEST_CASE("before the beginning") {
    grade_twice([](const float* x, float* y, cudaStream_t s) {
        launch_scale(x, y, {2, 0, 0, kN}, s);
        launch_scale(x + 1, y, {2, 0, -1, 0}, s);
    });
}

TEST_CASE("leaves an error") {
    grade_twice([](const float* x, float* y, cudaStream_t s) {
        launch_scale(x, y, {2, 0, 0, kN}, s);
        (void)cudaSetDevice(-1);
    });
}

#ifdef SIMT_CPU
TEST_CASE("default stream") {
    grade_twice([](const float* x, float* y, cudaStream_t) {
        launch_scale(x, y, {2, 0, 0, kN}, cudaStreamPerThread);
    });
}

TEST_CASE("fill on the default stream") {
    grade_twice([](const float* x, float* y, cudaStream_t s) {
        CUDA_CHECK(cudaMemset(y, 0, 4));
        launch_scale(x, y, {2, 0, 0, kN}, s);
    });
}

TEST_CASE("a host function") {
    grade_twice([](const float* x, float* y, cudaStream_t s) {
        launch_scale(x, y, {2, 0, 0, kN}, s);
        CUDA_CHECK(cudaLaunchHostFunc(
            s, [](void*) {}, nullptr));
    });
}

TEST_CASE("scratch memory on the default stream") {
    grade_twice([](const float* x, float* y, cudaStream_t s) {
        float* scratch = nullptr;
        CUDA_CHECK(cudaMallocAsync(&scratch, 4096, nullptr));
        launch_scale(x, y, {2, 0, 0, kN}, s);
        CUDA_CHECK(cudaFreeAsync(scratch, nullptr));
    });
}

TEST_CASE("waits for an event") {
    grade_twice([](const float* x, float* y, cudaStream_t s) {
        cudaEvent_t done = nullptr;
        CUDA_CHECK(cudaEventCreate(&done));
        launch_scale(x, y, {2, 0, 0, kN}, s);
        CUDA_CHECK(cudaEventRecord(done, s));
        CUDA_CHECK(cudaEventSynchronize(done));
        CUDA_CHECK(cudaEventDestroy(done));
    });
}

TEST_CASE("keeps memory") {
    grade_twice([](const float* x, float* y, cudaStream_t s) {
        float* kept = nullptr;
        CUDA_CHECK(cudaMallocAsync(&kept, 4096, s));
        launch_scale(x, y, {2, 0, 0, kN}, s);
    });
}

TEST_CASE("computed by the host") {
    grade_twice([](const float* x, float* y, cudaStream_t) {
        for (int64_t i = 0; i < kN; ++i)
            y[i] = 2 * x[i];
    });
}

// What is no broken promise.
TEST_CASE("a stream of its own") {
    grade_twice([](const float* x, float* y, cudaStream_t s) {
        cudaStream_t own = nullptr;
        cudaEvent_t done = nullptr;
        CUDA_CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
        CUDA_CHECK(cudaEventCreate(&done));
        launch_scale(x, y, {2, 0, 0, kN}, own);
        CUDA_CHECK(cudaEventRecord(done, own));
        CUDA_CHECK(cudaStreamWaitEvent(s, done));
        CUDA_CHECK(cudaEventDestroy(done));
        CUDA_CHECK(cudaStreamDestroy(own));
    });
}
#endif

TEST_CASE("changed input") {
    grade_twice([](const float* x, float* y, cudaStream_t s) {
        launch_scale(x, y, {2, 0, 0, kN}, s);
        launch_scale(x, const_cast<float*>(x), {0, 1, 10, 11}, s);
    });
}

#ifdef SIMT_CPU
TEST_CASE("input put back") {
    grade_twice([](const float* x, float* y, cudaStream_t s) {
        float* const written = const_cast<float*>(x);
        launch_scale(x, written, {2, 0, 0, kN}, s);
        launch_scale(x, y, {1, 0, 0, kN}, s);
        launch_scale(x, written, {0.5f, 0, 0, kN}, s);
    });
}

TEST_CASE("input put back by a copy") {
    grade_twice([](const float* x, float* y, cudaStream_t s) {
        launch_scale(x, y, {2, 0, 0, kN}, s);
        CUDA_CHECK(
            cudaMemcpyAsync(const_cast<float*>(x), x, 4, cudaMemcpyDeviceToDevice, s));
    });
}

TEST_CASE("memory of the test's own is written") {
    const wb::testing::GuardedBuffer own(kN * sizeof(float));
    auto* const memory = static_cast<float*>(own.data());
    Grader grade("scale", "n = " + std::to_string(kN));
    grade.only_read("table", memory, kN);
    const float* d_x = grade.input("x", std::vector<float>(kN, 1.0f));
    float* d_y = grade.output<float>("y", {kN});
    grade.run([&](cudaStream_t s) {
        launch_scale(d_x, d_y, {2, 0, 0, kN}, s);
        launch_scale(d_x, memory, {2, 0, 5, kN}, s);
    });
}
#endif

TEST_CASE("changes from run to run") {
    int launches = 0;
    grade_twice([&](const float* x, float* y, cudaStream_t s) {
        launch_scale(x, y, {2, static_cast<float>(++launches), 0, kN}, s);
    });
}

TEST_CASE("finite") {
    SUCCEED();
}

TEST_CASE("never ends") {
    grade_twice([](const float*, float*, cudaStream_t) {
        for (;;)
            std::this_thread::sleep_for(std::chrono::seconds(1));
    });
}

TEST_CASE("not a number") {
    grade_twice([](const float* x, float* y, cudaStream_t s) {
        launch_scale(x, y, {2, 0, 0, kN}, s);
        const float infinity = std::numeric_limits<float>::infinity();
        launch_scale(x, y, {infinity, -infinity, 5, 6}, s);
    });
}

TEST_CASE("zero blocks") {
    grade_twice([](const float*, float*, cudaStream_t s) { launch_zero_blocks(s); });
}

TEST_CASE("illegal address") {
    grade_twice([](const float* x, float*, cudaStream_t s) {
        launch_scale(x, nullptr, {2, 0, 0, kN}, s);
    });
}

TEST_CASE("exception in the launcher") {
    grade_twice([](const float*, float*, cudaStream_t) {
        throw std::runtime_error("something of the launcher's own");
    });
}

TEST_CASE("not solved") {
    grade_twice([](const float*, float*, cudaStream_t) {
        throw wb::NotSolved("not solved yet: write the TODO in x.cu:1", {{"x.cu", 1}});
    });
}

TEST_CASE("not solved outside of the grader") {
    throw wb::NotSolved("not solved yet: write the TODO in x.cu:1", {{"x.cu", 1}});
}

TEST_CASE("work for zero elements") {
    const GuardedBuffer buffer(4);
    Grader grade("scale_v1", "n = 0");
    grade.expect_no_work([&](cudaStream_t s) {
        auto* y = static_cast<float*>(buffer.data());
        launch_scale(y, y, {2, 0, 0, 0}, s);
    });
}

TEST_CASE("zero elements fail") {
    Grader grade("scale_v1", "n = 0");
    grade.expect_no_work([](cudaStream_t s) { launch_zero_blocks(s); });
}

/// Asks for y = 2 x on the given stream, of a launcher that does something else.
template <class Launch>
void expect_queued(Launch launch) {
    Grader grade("scale_v1", "n = 300, seed 7");
    const float* d_x = grade.input("x", std::vector<float>(kN, 1.0f));
    float* d_y = grade.output<float>("y", {15, 20});
    grade.expect_queued([&](cudaStream_t s) { launch(d_x, d_y, s); });
}

TEST_CASE("on the default stream") {
    expect_queued([](const float* x, float* y, cudaStream_t s) {
        launch_scale(x, y, {2, 0, 0, kN - 1}, s);
        launch_scale(x, y, {2, 0, kN - 1, kN}, nullptr);
    });
}

TEST_CASE("on another stream") {
    expect_queued([](const float* x, float* y, cudaStream_t s) {
        cudaStream_t other = nullptr;
        CUDA_CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
        launch_scale(x, y, {2, 0, 0, kN - 1}, s);
        launch_scale(x, y, {2, 0, kN - 1, kN}, other);
        CUDA_CHECK(cudaStreamDestroy(other));
    });
}

TEST_CASE("waits for its stream") {
    expect_queued([](const float* x, float* y, cudaStream_t s) {
        launch_scale(x, y, {2, 0, 0, kN}, s);
        CUDA_CHECK(cudaStreamSynchronize(s));
    });
}

TEST_CASE("queues zero blocks") {
    expect_queued([](const float*, float*, cudaStream_t s) { launch_zero_blocks(s); });
}

TEST_CASE("queues nothing") {
    expect_queued([](const float*, float*, cudaStream_t) {});
}

TEST_CASE("nothing refused") {
    expect_refused("scale_v1", "n = -1", "n is -1", [] {});
}

TEST_CASE("refused without the name") {
    expect_refused("scale_v1", "n = -1", "n is -1", [] {
        throw wb::InvalidArgument("scale_v1: wrong");
    });
}

TEST_CASE("refused with another exception") {
    expect_refused("scale_v1", "n = -1", "n is -1", [] {
        throw std::length_error("vector too long");
    });
}

TEST_CASE("refused too late") {
    Grader grade("scale_v1", "n = -1");
    float* y = grade.output<float>("y", {1});
    expect_refused("scale_v1", "n = -1", "n is -1", [&] {
        CUDA_CHECK(cudaMemsetAsync(y, 0, sizeof(float), nullptr));
        throw wb::InvalidArgument("scale_v1: n is -1");
    });
}

TEST_CASE("skipped") {
    WB_SKIP("there is nothing to see");
}

TEST_CASE("another promise") {
    fail(Kind::contract, "it waits", "for nothing");
}

TEST_CASE("too much memory") {
    const MemoryWatch watch;
    const GuardedBuffer buffer(64 << 20);  // a GPU gives memory in pieces of 2 MiB
    watch.expect_at_most(1, "scale_v1");
}

TEST_CASE("a plain check") {
    INFO("wb| two is one");
    CHECK(1 + 1 == 1);
}

TEST_CASE("a failed goal") {
    Finding missed{Kind::goal_missed};
    missed.implementation = "scale_v1";
    missed.what = "it is slow";
    fail(missed);
}

TEST_CASE("killed") {
    raise(SIGKILL);
}

TEST_CASE("ends the program") {
    std::exit(0);
}
