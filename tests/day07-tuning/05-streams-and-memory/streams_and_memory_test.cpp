// Grades day07-tuning/05-streams-and-memory.
#include "streams_and_memory.h"

#include <wb/implementations.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/goal.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/memory_watch.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <sys/mman.h>

#include <algorithm>
#include <cmath>

#include "host_array.h"
#include "lanes.h"

namespace {

using wb::testing::Goal;
using wb::testing::Grader;
using wb::testing::StreamOrder;

using Process = void(
    const float* in, float* out, int64_t n, const ChunkPlan& plan, cudaStream_t stream);

std::string describe(int64_t n, const ChunkPlan& plan) {
    return "n = " + std::to_string(n) + ", chunk " + std::to_string(plan.chunk) + ", " +
           std::to_string(plan.buffers) + " buffers, " + std::to_string(plan.rounds) +
           " rounds";
}

/// relax(x, rounds) in double.
std::vector<double> relaxed(const std::vector<float>& in, int rounds) {
    std::vector<double> result(in.begin(), in.end());
    for (double& x : result)
        for (int round = 0; round < rounds; ++round)
            x = 1023.0 / 1024.0 * x + 1.0 / 1024.0;
    return result;
}

/// Runs `pass`, which fills `out`, on a stream, waits for that stream alone, and
/// compares what the host sees then.
/// @param rounds  of all that was done to `in`
void grade_host(const std::string& name,
                const std::string& case_text,
                const std::vector<float>& in,
                const HostArray& out,
                int rounds,
                const std::function<void(cudaStream_t)>& pass) {
    const auto n = static_cast<int64_t>(in.size());
    Grader grade(name, case_text);
    float* d_out = grade.output<float>("out", {n});
    grade.run_and_wait([&](cudaStream_t stream) {
        out.poison();
        pass(stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
        const std::vector<float> seen = out.now();
        CUDA_CHECK(cudaMemcpyAsync(
            d_out, seen.data(), out.bytes(), cudaMemcpyHostToDevice, stream));
    });
    // Every round contracts, so that no intermediate value is larger than |x| or 1.
    grade.expect("out", relaxed(in, rounds), [&](int64_t i) {
        const double largest =
            std::max(std::abs(double{in[static_cast<size_t>(i)]}), 1.0);
        return rounds * 0x1p-24 * largest;
    });
}

void grade_one(const std::string& name,
               Process* process,
               int64_t n,
               const ChunkPlan& plan,
               HostMemory kind,
               const std::string& order = "") {
    const auto values = wb::testing::random_normal(n, 1);
    const HostArray in(values, kind);
    const HostArray out(n, kind);
    grade_host(
        name,
        describe(n, plan) + order,
        values,
        out,
        plan.rounds,
        [&](cudaStream_t stream) { process(in.data(), out.data(), n, plan, stream); });
    const std::vector<float> after = in.now();
    const auto changed = std::mismatch(after.begin(), after.end(), values.begin());
    if (changed.first == after.end()) return;
    wb::testing::Finding input{wb::testing::Kind::changed_input};
    input.implementation = name;
    input.inputs = describe(n, plan) + order;
    input.numbers.array = "in";
    input.numbers.index = {changed.first - after.begin()};
    wb::testing::fail(std::move(input));
}

/// Every rung, or the learner's function.
void grade_all(int64_t n, const ChunkPlan& plan, HostMemory kind = HostMemory::pinned) {
    for (const auto& [name, idea, process] :
         wb::implementations("process_chunks", process_chunks))
        grade_one(name, process, n, plan, kind);
}

}  // namespace

TEST_CASE("one chunk or less") {
    grade_all(GENERATE(as<int64_t>(), 1, 63, 64), {64, GENERATE(1, 3), 4});
}

TEST_CASE("many chunks, the last of which need not be full") {
    grade_all(GENERATE(as<int64_t>(), 65, 7 * 64, 1009), {64, GENERATE(1, 2, 3, 5), 4});
}

TEST_CASE("nothing is kept from call to call") {
    wb::testing::expect_independent(
        [&] {
            grade_all(300, {64, 3, 4});
        },
        [&] {
            grade_all(100, {32, 2, 1});
        });
}

TEST_CASE("any order of the streams that the events allow") {
    // Chunks enough for the ring to go round three times.
    constexpr int64_t kChunk = 200;
    constexpr int64_t kN = 9 * kChunk + 5;
    const auto seed = GENERATE(range(1u, 13u));
    const StreamOrder order(seed);
    for (const auto& [name, idea, process] :
         wb::implementations("process_chunks", process_chunks))
        for (const int buffers : {1, 3})
            grade_one(name,
                      process,
                      kN,
                      {kChunk, buffers, 4},
                      HostMemory::pinned,
                      ", streams in order " + std::to_string(seed));
}

TEST_CASE("any order of the streams: a ring that goes round many times") {
    constexpr int64_t kChunk = 8;
    const auto seed = GENERATE(range(1u, 7u));
    const StreamOrder order(seed);
    for (const auto& [name, idea, process] :
         wb::implementations("process_chunks", process_chunks)) {
        for (const int buffers : {1, 2, 3})
            grade_one(name,
                      process,
                      60 * kChunk - 3,
                      {kChunk, buffers, 2},
                      HostMemory::pinned,
                      ", streams in order " + std::to_string(seed));
    }
}

TEST_CASE("the pass is one operation of its stream") {
    // The second pass needs the first one's result, and the host waits only once.
    constexpr int64_t kN = 5 * 64 + 1;
    const ChunkPlan plan = {64, 2, 3};
    const auto values = wb::testing::random_normal(kN, 1);
    const auto seed = GENERATE(range(0u, 9u));
    const StreamOrder order(seed);
    for (const auto& [name, idea, process] :
         wb::implementations("process_chunks", process_chunks)) {
        const HostArray in(values, HostMemory::pinned);
        const HostArray between(kN, HostMemory::pinned);
        const HostArray out(kN, HostMemory::pinned);
        grade_host(name,
                   "twice on one stream, order " + std::to_string(seed),
                   values,
                   out,
                   2 * plan.rounds,
                   [&, process = process](cudaStream_t stream) {
                       between.poison();
                       process(in.data(), between.data(), kN, plan, stream);
                       process(between.data(), out.data(), kN, plan, stream);
                   });
    }
}

TEST_CASE("the pass begins after what its stream was given before") {
    // A copy fills `in`, on a stream that the default stream does not wait for.
    constexpr int64_t kN = 5 * 64 + 1;
    const ChunkPlan plan = {64, 2, 3};
    const auto values = wb::testing::random_normal(kN, 1);
    const auto seed = GENERATE(range(0u, 24u));
    for (const auto& [name, idea, process] :
         wb::implementations("process_chunks", process_chunks)) {
        const std::string text = "in is filled first, order " + std::to_string(seed);
        Grader grade(name, text);
        const float* d_values = grade.input("values", values);
        const StreamOrder order(seed);
        const HostArray in(kN, HostMemory::pinned);
        const HostArray out(kN, HostMemory::pinned);
        const Lane lane;
        grade_host(
            name, text, values, out, plan.rounds, [&, process = process](cudaStream_t) {
                in.poison();
                copy_out(in.data(), d_values, kN, lane);
                process(in.data(), out.data(), kN, plan, lane);
                CUDA_CHECK(cudaStreamSynchronize(lane));
            });
    }
}

TEST_CASE("more than a thousand chunks") {
    grade_all(1031 * 4, {4, 3, 1});
}

TEST_CASE("buffers of more than 2^31 elements, of which five are used",
          "[large][serial]") {
#ifndef SIMT_CPU
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (free_bytes < size_t{14} << 30) WB_SKIP("needs 14 GB of free GPU memory");
#endif
    grade_all(5, {int64_t{1} << 30, 3, 1});
}

TEST_CASE("more than 2^31 elements", "[large][serial]") {
    Grader("process_chunks", "n = 0").expect_no_work([](cudaStream_t s) {
        process_chunks(nullptr, nullptr, 0, {}, s);
    });
#ifdef SIMT_CPU
    WB_SKIP("9 GB of elements are too much for the simulator");
#else
    // Zeros, but for two elements of the third buffer. The kernel hands out pages of
    // zeros where nobody has written, so that nothing need be filled in beforehand.
    constexpr int64_t kN = (int64_t{1} << 31) + 5;
    constexpr size_t kBytes = kN * sizeof(float);
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (free_bytes < size_t{14} << 30) WB_SKIP("needs 14 GB of free GPU memory");
    void* pages = mmap(
        nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) WB_SKIP("needs 9 GB of free memory");
    auto* x = static_cast<float*>(pages);
    x[kN - 5] = x[kN - 1] = 1.0f + 1024.0f;
    Grader grade("process_chunks", describe(kN, {int64_t{1} << 30, 3, 1}));
    float* few = grade.output<float>("out", {3});
    grade.run_and_wait([&](cudaStream_t stream) {
        process_chunks(x, x, kN, {int64_t{1} << 30, 3, 1}, stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
        const std::vector<float> seen = {x[0], x[kN - 5], x[kN - 1]};
        CUDA_CHECK(cudaMemcpy(
            few, seen.data(), seen.size() * sizeof(float), cudaMemcpyHostToDevice));
    });
    grade.expect("out", {1.0 / 1024.0, 1024.0, 1024.0}, [](int64_t) { return 1e-3; });
    (void)munmap(pages, kBytes);
#endif
}

TEST_CASE("the result may be written over the input") {
    constexpr int64_t kN = 300;
    const ChunkPlan plan = {64, 3, 4};
    const auto values = wb::testing::random_normal(kN, 1);
    const auto seed = GENERATE(0u, 2u, 3u);
    const StreamOrder order(seed);
    const HostArray out(kN, HostMemory::pinned);
    grade_host("process_chunks",
               "out is in, " + describe(kN, plan),
               values,
               out,
               plan.rounds,
               [&](cudaStream_t stream) {
                   std::copy(values.begin(), values.end(), out.data());
                   process_chunks(out.data(), out.data(), kN, plan, stream);
               });
}

TEST_CASE("pageable memory gives the same result") {
    const StreamOrder order(GENERATE(0u, 2u, 3u));
    grade_all(GENERATE(as<int64_t>(), 64, 1009), {64, 3, 4}, HostMemory::pageable);
}

TEST_CASE("no work on the elements, or much") {
    grade_all(1009, {100, 3, GENERATE(0, 1, 1000)});
}

TEST_CASE("chunks of one element, and plans whose numbers are all alike") {
    grade_all(41, {1, GENERATE(1, 2, 3), 3});
    grade_all(41, {5, 5, 5});
}

TEST_CASE("an array larger than one launch's worth of blocks", "[long]") {
    grade_all((1 << 20) + 1, {1 << 17, 3, 2});
}

TEST_CASE("no elements: nothing is launched") {
    Grader grade("process_chunks", "n = 0");
    grade.expect_no_work(
        [](cudaStream_t s) { process_chunks(nullptr, nullptr, 0, {}, s); });
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    const HostArray x(8, HostMemory::pinned);
    float* p = x.data();
    const auto refused = [](const char* what, const char* part, auto call) {
        expect_refused("process_chunks", what, part, call);
    };
    refused("n = -1", "n is -1", [&] { process_chunks(p, p, -1, {}, nullptr); });
    refused("in null", "in ", [&] { process_chunks(nullptr, p, 8, {}, nullptr); });
    refused("out null", "out ", [&] { process_chunks(p, nullptr, 8, {}, nullptr); });
    refused("no chunk", "plan.chunk is 0", [&] {
        process_chunks(p, p, 8, {0, 3, 1}, nullptr);
    });
    refused("no buffer", "plan.buffers is 0", [&] {
        process_chunks(p, p, 8, {4, 0, 1}, nullptr);
    });
    refused("rounds = -1", "plan.rounds is -1", [&] {
        process_chunks(p, p, 8, {4, 3, -1}, nullptr);
    });
    refused("n = 0, no chunk", "plan.chunk is 0", [&] {
        process_chunks(p, p, 0, {0, 3, 1}, nullptr);
    });
    refused("n = 0, no buffer", "plan.buffers is 0", [&] {
        process_chunks(p, p, 0, {4, 0, 1}, nullptr);
    });
}

TEST_CASE("the GPU's memory is that of the buffers, however long the array is") {
    constexpr ChunkPlan kPlan = {4096, 3, 1};
    constexpr int64_t kN = 20 * 4096 + 1;
    const auto values = wb::testing::random_normal(kN, 1);
    const HostArray in(values, HostMemory::pinned);
    const HostArray out(kN, HostMemory::pinned);
    wb::testing::result_of([&] {
        process_chunks(in.data(), out.data(), 1, kPlan, nullptr);
        return true;
    });
    const wb::testing::MemoryWatch watch;
    process_chunks(in.data(), out.data(), kN, kPlan, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    // A pool may round up.
    watch.expect_at_most(3 * 4096 * sizeof(float) + 4096,
                         "process_chunks, " + describe(kN, kPlan));
}

TEST_CASE("copies and kernels overlap", "[.][goal]") {
    constexpr int64_t kChunks = 12;
    constexpr unsigned kLazy = 2;  // nothing runs while the work is being issued
    const ChunkPlan plan = {64, 3, 1};
    const HostArray in(wb::testing::random_normal(kChunks * 64, 1), HostMemory::pinned);
    const HostArray out(kChunks * 64, HostMemory::pinned);
    const Goal goal("process_chunks");
    const StreamOrder order(kLazy);
    process_chunks(in.data(), out.data(), kChunks * 64, plan, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    const unsigned chain = StreamOrder::longest_chain();
    goal.require(chain <= kChunks + 3,
                 "with 3 buffers, " + std::to_string(chain) +
                     " copies and kernels must run one after the other for " +
                     std::to_string(kChunks) + " chunks; " +
                     std::to_string(kChunks + 2) + " would do");
}

TEST_CASE("the host does not wait", "[.][goal]") {
    constexpr int64_t kN = 256;
    constexpr unsigned kLazy = 2;
    const HostArray in(wb::testing::random_normal(kN, 1), HostMemory::pinned);
    const HostArray out(kN, HostMemory::pinned);
    const Goal goal("process_chunks");
    const StreamOrder order(kLazy);
    process_chunks(in.data(), out.data(), kN, {64, 3, 1}, nullptr);
    const bool waited = !std::isnan(out.now().front());
    CUDA_CHECK(cudaDeviceSynchronize());
    goal.require(!waited,
                 "it returns when the GPU has finished: does it synchronise, or free "
                 "memory with cudaFree?");
}
