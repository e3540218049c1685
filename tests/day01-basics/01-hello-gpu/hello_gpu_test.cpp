// Grades day01-basics/01-hello-gpu.
#include "hello_gpu.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/implementations.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace {

using wb::testing::Grader;

std::string launch_text(int blocks, int threads) {
    return "<<<" + std::to_string(blocks) + ", " + std::to_string(threads) + ">>>";
}

/// Fails the test case, in the learner's words.
[[noreturn]] void report(const std::string& what, const std::string& instead = "") {
    wb::testing::fail(wb::testing::Kind::contract, what, instead);
}

/// What became of a call.
struct Outcome {
    cudaError_t code = cudaSuccess;  ///< of the wb::CudaError, if one was thrown
    std::string message;
};

/// Calls and catches; any other exception than wb::CudaError ends the test case.
Outcome outcome_of(const std::string& what, const std::function<void()>& call) {
    try {
        call();
    } catch (const wb::NotSolved& unsolved) {
        wb::testing::fail(unsolved);
    } catch (const wb::CudaError& error) {
        return {error.code(), error.what()};
    } catch (const std::exception& other) {
        report(what, std::string("another exception came: ") + other.what());
    }
    return {};
}

/// The call must throw a wb::CudaError that carries one of these codes, and names it.
void expect_cuda_error(const std::vector<cudaError_t>& codes,
                       const std::string& what,
                       const std::function<void()>& call) {
    const std::string wanted = cudaGetErrorName(codes.front());
    const Outcome outcome = outcome_of(what, call);
    if (outcome.code == cudaSuccess) {
        report(what, "CUDA refuses this with " + wanted + ", but nothing was thrown");
    }
    const std::string name = cudaGetErrorName(outcome.code);
    if (std::find(codes.begin(), codes.end(), outcome.code) == codes.end()) {
        report(what,
               "the exception should carry " + wanted + ", but its code is " + name);
    }
    if (outcome.message.find(name) == std::string::npos) {
        report(what, "the message does not name " + name + ": " + outcome.message);
    }
}

/// CUDA 13 calls a launch of an impossible shape an invalid value; up to CUDA 12 it was
/// an invalid configuration.
const std::vector<cudaError_t> kRefusedLaunch =
    CUDART_VERSION >= 13000
        ? std::vector{cudaErrorInvalidValue, cudaErrorInvalidConfiguration}
        : std::vector{cudaErrorInvalidConfiguration, cudaErrorInvalidValue};

/// Every thread's greeting arrives, in its own element.
void grade_greetings(int blocks, int threads) {
    const int64_t count = int64_t{blocks} * threads;
    std::vector<double> expected(static_cast<std::size_t>(count));
    for (int64_t i = 0; i < count; ++i)
        expected[i] = static_cast<double>(i);
    for (const auto& [name, idea, hello] :
         wb::implementations("hello_gpu", hello_gpu)) {
        Grader grade(name, launch_text(blocks, threads));
        int* d_greetings = grade.output<int>("greetings", {blocks, threads});
        grade.run([&, hello = hello](cudaStream_t stream) {
            hello(d_greetings, blocks, threads, stream);
        });
        grade.expect("greetings", expected, [](int64_t) { return 0.0; });
    }
}

/// CUDA refuses such a launch, and the function must not keep that to itself.
void grade_refusal(int blocks, int threads) {
    for (const auto& [name, idea, hello] :
         wb::implementations("hello_gpu", hello_gpu)) {
        Grader memory(name, launch_text(blocks, threads));
        int* d_greetings = memory.output<int>("greetings", {blocks, threads});
        expect_cuda_error(
            kRefusedLaunch,
            name + ", " + launch_text(blocks, threads),
            [&, hello = hello] { hello(d_greetings, blocks, threads, nullptr); });
    }
}

}  // namespace

TEST_CASE("every thread of one block writes its own number") {
    grade_greetings(1, GENERATE(32, 1, 31, 33, 97, 1024));
}

TEST_CASE("the numbers go on from one block to the next") {
    grade_greetings(2, GENERATE(1, 32, 100));
    grade_greetings(GENERATE(7, 97), 33);
}

TEST_CASE("nothing is kept from call to call") {
    wb::testing::expect_independent([&] { grade_greetings(3, 97); },
                                    [&] { grade_greetings(7, 33); });
}

TEST_CASE("a grid of more than 65535 blocks") {
    grade_greetings(70001, 2);
}

TEST_CASE("a million threads") {
    grade_greetings(4096, 256);
}

TEST_CASE("a block of more threads than the GPU allows is noticed") {
    grade_refusal(1, GENERATE(1025, 2048));
}

TEST_CASE("a grid of zero blocks and a block of zero threads are noticed") {
    grade_refusal(0, 32);
    grade_refusal(4, 0);
    grade_refusal(0, 0);
}

TEST_CASE("after a refused launch the next good one is not blamed") {
    for (const auto& [name, idea, hello] :
         wb::implementations("hello_gpu", hello_gpu)) {
        const std::string what = name + ", a refused launch and then a good one";
        Grader grade(name, "<<<4, 32>>> after a launch that was refused");
        int* d_greetings = grade.output<int>("greetings", {4, 32});
        expect_cuda_error(kRefusedLaunch, what, [&, hello = hello] {
            hello(d_greetings, 0, 32, nullptr);
        });
        const cudaError_t left = cudaGetLastError();
        if (left != cudaSuccess) {
            report(what,
                   std::string("the refused launch left ") + cudaGetErrorName(left) +
                       " behind: whoever checks next takes it for their own error");
        }
        grade.run([&, hello = hello](cudaStream_t stream) {
            hello(d_greetings, 4, 32, stream);
        });
    }
}

TEST_CASE("an earlier error of somebody else is not blamed on the launch") {
    for (const auto& [name, idea, hello] :
         wb::implementations("hello_gpu", hello_gpu)) {
        const std::string what =
            name + ", a good launch after a cudaMalloc that found no memory";
        Grader memory(name, what);
        int* d_greetings = memory.output<int>("greetings", {4, 32});
        void* nothing = nullptr;
        // No GPU has a pebibyte. The call's error also lies in the slot for the last
        // error now, as it does in every program that goes on after such a failure.
        REQUIRE(cudaMalloc(&nothing, std::size_t{1} << 50) ==
                cudaErrorMemoryAllocation);
        const Outcome outcome = outcome_of(
            what, [&, hello = hello] { hello(d_greetings, 4, 32, nullptr); });
        (void)cudaGetLastError();
        if (outcome.code != cudaSuccess) {
            report(what, "the launch is good, but this was thrown: " + outcome.message);
        }
    }
}

TEST_CASE("the launch goes to the caller's stream, and nobody waits for it") {
    for (const auto& [name, idea, hello] :
         wb::implementations("hello_gpu", hello_gpu)) {
        const std::string what = name + ", <<<4, 32>>> on a stream that is captured";
        Grader memory(name, what);
        int* d_greetings = memory.output<int>("greetings", {4, 32});
        // A stream that is being captured writes down what it is given, and refuses to
        // be waited for.
        cudaStream_t stream = nullptr;
        cudaGraph_t graph = nullptr;
        std::size_t operations = 0;
        CUDA_CHECK(cudaStreamCreate(&stream));
        CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
        Outcome outcome;
        try {
            outcome = outcome_of(
                what, [&, hello = hello] { hello(d_greetings, 4, 32, stream); });
        } catch (...) {  // reported already: the next case must not be captured
            (void)cudaStreamEndCapture(stream, &graph);
            throw;
        }
        if (outcome.code != cudaSuccess) {
            report(what,
                   "launch on the given stream, and do not synchronise: " +
                       outcome.message);
        }
        const cudaError_t captured = cudaStreamEndCapture(stream, &graph);
        if (captured != cudaSuccess) {
            report(what,
                   std::string("launch on the given stream, and do not synchronise: ") +
                       cudaGetErrorName(captured));
        }
        CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &operations));
        CUDA_CHECK(cudaGraphDestroy(graph));
        CUDA_CHECK(cudaStreamDestroy(stream));
        if (operations != 1) {
            report(what,
                   "one launch should be on the stream, but there are " +
                       std::to_string(operations) + " operations");
        }
    }
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    Grader memory("hello_gpu", "wrong arguments");
    int* d = memory.output<int>("greetings", {8});
    int host[8] = {};
    expect_refused("hello_gpu", "blocks = -1", "blocks is -1", [&] {
        hello_gpu(d, -1, 8, nullptr);
    });
    expect_refused("hello_gpu", "threads = -8", "threads is -8", [&] {
        hello_gpu(d, 1, -8, nullptr);
    });
    expect_refused("hello_gpu", "2^31 threads", "blocks * threads is 2147483648", [&] {
        hello_gpu(d, 1 << 22, 512, nullptr);
    });
    // So many are right: what is wrong is the next argument.
    expect_refused("hello_gpu", "2^31 - 1 threads", "greetings is a null", [&] {
        hello_gpu(nullptr, INT_MAX, 1, nullptr);
    });
    expect_refused("hello_gpu", "greetings null", "greetings is a null pointer", [&] {
        hello_gpu(nullptr, 1, 8, nullptr);
    });
    expect_refused("hello_gpu", "greetings on the host", "is a host pointer", [&] {
        hello_gpu(host, 1, 8, nullptr);
    });
}

TEST_CASE("the description of a device is CUDA's own") {
    int count = 0;
    CUDA_CHECK(cudaGetDeviceCount(&count));
    REQUIRE(count > 0);
    for (int device = 0; device < count; ++device) {
        const std::string what = "describe_device(" + std::to_string(device) + ")";
        DeviceSummary summary{};
        const Outcome outcome =
            outcome_of(what, [&] { summary = describe_device(device); });
        if (outcome.code != cudaSuccess) report(what, outcome.message);

        const auto expect =
            [&](const char* field, int64_t got, cudaDeviceAttr attribute) {
                int wanted = 0;
                CUDA_CHECK(cudaDeviceGetAttribute(&wanted, attribute, device));
                if (got == wanted) return;
                report(what,
                       std::string(field) + " is " + std::to_string(got) +
                           ", but should be " + std::to_string(wanted));
            };
        expect("major", summary.major, cudaDevAttrComputeCapabilityMajor);
        expect("minor", summary.minor, cudaDevAttrComputeCapabilityMinor);
        expect(
            "multiprocessors", summary.multiprocessors, cudaDevAttrMultiProcessorCount);
        expect("warp_size", summary.warp_size, cudaDevAttrWarpSize);
        expect("max_threads_per_block",
               summary.max_threads_per_block,
               cudaDevAttrMaxThreadsPerBlock);

        cudaDeviceProp properties{};
        CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
        if (summary.name != properties.name) {
            report(what,
                   "name is \"" + summary.name + "\", but should be \"" +
                       properties.name + "\"");
        }
        if (summary.memory_bytes != properties.totalGlobalMem) {
            report(what,
                   "memory_bytes is " + std::to_string(summary.memory_bytes) +
                       ", but should be " + std::to_string(properties.totalGlobalMem));
        }
    }
}

TEST_CASE("a device that does not exist is an error, not an empty description") {
    int count = 0;
    CUDA_CHECK(cudaGetDeviceCount(&count));
    for (const int device : {count, -1}) {
        expect_cuda_error({cudaErrorInvalidDevice},
                          "describe_device(" + std::to_string(device) + ") with " +
                              std::to_string(count) + " devices",
                          [&] { (void)describe_device(device); });
    }
}
