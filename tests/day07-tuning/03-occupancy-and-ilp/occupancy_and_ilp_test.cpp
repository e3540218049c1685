// Grades day07-tuning/03-occupancy-and-ilp: the calculator against known values, by
// counting and against the driver; the kernels; and, on a GPU, the prediction.
#include "occupancy_and_ilp.h"

#include <wb/testing/catch.h>
#include <wb/testing/goal.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/large.h>
#include <wb/testing/random.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#endif

#include <algorithm>
#include <cmath>
#include <vector>

#include "device.h"
#include "grade_kernels.h"
#include "grade_limits.h"
#include "grade_time.h"
#include "rods.h"

namespace {

using wb::testing::Grader;

/// What a kernel may take, and what cuda_occupancy.h of the CUDA 13.0 toolkit makes of
/// it, with the limits of that architecture.
struct Known {
    int arch;
    Needs needs;
    Limits limits;
};

// "No limit" is as many as there are slots: the contract.
constexpr Known kKnown[] = {
    {75, {256, 40, 4096}, {4, 16, 6, 16}},   {75, {256, 128, 16384}, {4, 16, 2, 4}},
    {75, {64, 64, 49152}, {16, 16, 16, 1}},  {75, {96, 72, 0}, {10, 16, 9, 16}},
    {80, {192, 80, 33792}, {10, 32, 4, 4}},  {86, {256, 33, 0}, {6, 16, 6, 100}},
    {89, {96, 72, 0}, {16, 24, 9, 100}},     {89, {64, 64, 49152}, {24, 24, 16, 2}},
    {90, {256, 32, 0}, {8, 32, 8, 228}},     {90, {256, 40, 4096}, {8, 32, 6, 45}},
    {90, {256, 97, 0}, {8, 32, 2, 228}},     {90, {128, 72, 0}, {16, 32, 7, 228}},
    {90, {96, 72, 0}, {21, 32, 9, 228}},     {90, {32, 97, 0}, {64, 32, 16, 228}},
    {90, {1024, 65, 0}, {2, 32, 0, 228}},    {90, {800, 24, 1000}, {2, 32, 3, 114}},
    {90, {256, 128, 16384}, {8, 32, 2, 13}}, {90, {192, 80, 33792}, {10, 32, 4, 6}},
    {90, {64, 64, 49152}, {32, 32, 16, 4}},  {100, {128, 255, 0}, {16, 32, 2, 228}},
    {120, {800, 24, 1000}, {1, 24, 3, 50}},  {120, {256, 32, 0}, {6, 24, 8, 100}}};

/// Needs of all sorts, the same on every machine.
std::vector<Needs> random_needs(const Multiprocessor& sm, int count, uint64_t seed) {
    wb::testing::Random random(seed);
    std::vector<Needs> result;
    for (int i = 0; i < count; ++i) {
        const auto threads = static_cast<int>(1 + random.below(kThreadsOfABlock));
        const auto registers = static_cast<int>(1 + random.below(kRegistersOfAThread));
        const int64_t most = sm.shared_bytes / (1 + random.below(32));
        const int64_t shared = random.below(3) == 0 ? 0 : random.below(most);
        // Half of the blocks are small: with large ones all limits are 0, 1 or 2.
        result.push_back({i % 2 == 0 ? threads : 1 + threads / 8, registers, shared});
    }
    return result;
}

}  // namespace

TEST_CASE("how many blocks fit, by each of four limits") {
    for (const Known& known : kKnown)
        expect_limits(multiprocessor(known.arch), known.needs, known.limits);
    // More shared memory than 32 bits can count does not fit, either.
    const int64_t much = (int64_t{1} << 32) + 1024;
    expect_limits(multiprocessor(90), {256, 32, much}, {8, 32, 8, 0});
}

TEST_CASE("blocks of all sizes, put in one by one") {
    for (const Multiprocessor& sm : kMultiprocessors) {
        for (const Needs& needs : random_needs(sm, 300, 1))
            expect_limits(sm, needs, Filling(sm, needs).limits());
    }
}

TEST_CASE("the smallest limit has a name") {
    const Multiprocessor& h100 = multiprocessor(90);
    expect_occupancy(h100, {256, 32, 0});         // warps and registers: 8
    expect_occupancy(h100, {32, 32, 0});          // slots: 32
    expect_occupancy(h100, {256, 97, 0});         // registers: 2
    expect_occupancy(h100, {128, 32, 64 << 10});  // shared: 3
    expect_occupancy(h100, {1024, 255, 0});       // none fits
    // Of equal ones, the first.
    expect_occupancy(h100, {64, 16, 0});                   // warps and slots: 32
    expect_occupancy(multiprocessor(86), {64, 64, 0});     // slots and registers: 16
    expect_occupancy(h100, {128, 128, 56 << 10});          // registers and shared: 4
    expect_occupancy(h100, {32, 16, (228 << 5) - 1024});   // slots and shared: 32
    expect_occupancy(h100, {256, 16, (228 << 7) - 1024});  // warps and shared: 8
    for (const Multiprocessor& sm : kMultiprocessors) {
        for (const Needs& needs : random_needs(sm, 100, 2))
            expect_occupancy(sm, needs);
    }
}

TEST_CASE("a budget is used up to the last register and the last byte") {
    for (const Multiprocessor& sm : kMultiprocessors) {
        for (const int threads : {32, 64, 96, 100, 128, 256, 384, 512, 1024}) {
            const int most = std::min(sm.blocks, sm.warps / ((threads + 31) / 32));
            for (int blocks = 1; blocks <= most; ++blocks)
                expect_budget(sm, threads, blocks);
        }
    }
}

TEST_CASE("the driver says the same of real kernels") {
    const Multiprocessor sm = this_multiprocessor();
    (void)result_of([&] { return block_limits(sm, {256, 32, 0}); });
    (void)result_of([&] { return occupancy(sm, {256, 32, 0}); });
    for (const Multiprocessor& row : kMultiprocessors) {
        if (row.arch != sm.arch) continue;
        CHECK(row.warps == sm.warps);
        CHECK(row.blocks == sm.blocks);
        CHECK(row.shared_bytes == sm.shared_bytes);
        CHECK(row.shared_reserved == sm.shared_reserved);
    }
#ifndef SIMT_CPU
    // The facts are those of the kernel that was asked for: 8 loads of a thread are 32
    // registers. The simulator has no registers.
    CHECK(copy_floats_facts(1, 256, 0).registers <
          copy_floats_facts(8, 256, 0).registers);
#endif
    const auto compare = [&](const Facts& facts, int threads) {
        const Needs needs = needs_of(facts, threads);
        const int got = occupancy(sm, needs).blocks;
        if (got == facts.blocks) return;
        fail("occupancy(" + in_words(sm, needs) + ").blocks is " + std::to_string(got) +
             ", but the driver says " + std::to_string(facts.blocks));
    };
    for (const int threads : {32, 33, 96, 128, 160, 192, 256}) {
        for (const int64_t shared : {0, 1, 1024, 5000, 20'000, 48 << 10, 60'000}) {
            for (const RodVariant variant : kRodVariants)
                compare(rods_facts(variant, threads, shared), threads);
            for (const int each : {1, 2, 4, 8})
                compare(copy_floats_facts(each, threads, shared), threads);
        }
    }
}

TEST_CASE("what is under way, divided by how long it takes") {
    const auto expect_rate = [](const Pipe& pipe, double under_way, double wanted) {
        const double got = result_of([&] { return predicted_rate(pipe, under_way); });
        if (std::abs(got - wanted) <= 1e-9 * wanted) return;
        fail("predicted_rate({" + std::to_string(pipe.peak) + ", " +
             std::to_string(pipe.latency) + "}, " + std::to_string(under_way) +
             ") is " + std::to_string(got) + ", expected " + std::to_string(wanted));
    };
    expect_rate({100.0, 10.0}, 500.0, 50.0);
    expect_rate({100.0, 10.0}, 1000.0, 100.0);
    expect_rate({100.0, 10.0}, 5000.0, 100.0);  // a roof is a roof
    expect_rate({4.0, 4.0}, 1.0, 0.25);
    expect_rate({100.0, 10.0}, 2.5, 0.25);  // half of the threads may have two
    CHECK(predicted_rate({100.0, 10.0}, 0.0) == 0.0);
}

TEST_CASE("how much independent work a thread needs") {
    const auto expect_needed =
        [](const Pipe& pipe, int64_t threads, int size, int wanted) {
            const int got =
                result_of([&] { return independent_needed(pipe, threads, size); });
            if (got == wanted) return;
            fail("independent_needed({" + std::to_string(pipe.peak) + ", " +
                 std::to_string(pipe.latency) + "}, " + std::to_string(threads) +
                 " threads, " + std::to_string(size) + ") is " + std::to_string(got) +
                 ", expected " + std::to_string(wanted));
        };
    expect_needed({128.0, 4.0}, 128, 1, 4);  // FMAs a clock: one warp a quarter
    expect_needed({128.0, 4.0}, 512, 1, 1);  // four warps
    expect_needed(
        {128.0, 4.0}, 384, 1, 2);  // three: 1.33 would do, but nobody has that
    expect_needed({128.0, 4.0}, 2048, 1, 1);  // at least one
    expect_needed({128.0, 0.0}, 128, 1, 1);   // even if nothing takes any time
    expect_needed({1.0, 1001.0}, 500, 1, 3);  // just above 2
    expect_needed({1e5, 1.0}, 99'999, 1, 2);  // and above 1
    expect_needed({16'777'217.0, 1.0}, 1 << 24, 1, 2);  // by less than a float has
    expect_needed({1.0, 999.0}, 500, 1, 2);             // just below 2
    expect_needed({1.5e12, 800e-9}, 132 * 2048, 4, 2);
    expect_needed({1.5e12, 800e-9}, 132 * 2048, 16, 1);
    expect_needed({1.5e12, 800e-9}, 132 * 256, 16, 3);
}

TEST_CASE("a copy of any size, with 1 to 8 loads a thread") {
    const auto n = GENERATE(as<int64_t>(), 1, 3, 4, 31, 32, 33, 97, 1023, 1024, 1025);
    grade_copy(n, {GENERATE(1, 2, 4, 8), 0});
}

TEST_CASE("a copy of many blocks, and of a prime number of floats") {
    const auto n = GENERATE(as<int64_t>(), 4096, 8192, 65537);
    grade_copy(n, {GENERATE(1, 2, 4, 8), 0});
}

TEST_CASE("a copy with ballast") {
    grade_copy(10'007, {4, GENERATE(as<int64_t>(), 1, 48 << 10, 60'000)});
}

TEST_CASE("a copy of sixteen million floats and five", "[large]") {
    grade_copy((int64_t{1} << 24) + 5, {8, 0});
}

TEST_CASE("more than 2^31 elements, or pieces of 16 bytes", "[large][serial]") {
    Grader("copy_floats", "n = 0").expect_no_work([](cudaStream_t s) {
        copy_floats(nullptr, nullptr, 0, {4, 0}, s);
    });
#ifdef SIMT_CPU
    WB_SKIP("69 GB of memory and 2^31 threads are too much for the simulator");
#else
    // 2^31 pieces where there is the memory, else elements.
    for (const int64_t size : {int64_t{1} << 33, int64_t{1} << 31}) {
        const int64_t n = size + 5;
        wb::testing::LargeArrays arrays(n, n);
        if (!arrays.has_memory()) continue;
        const std::vector<int64_t> places = {0, int64_t{1} << 31, size, n - 1};
        for (const int64_t place : places)
            arrays.set(place, place == 0 ? 1.0f : 7.0f);
        const auto wanted = std::vector<double>{1.0, 7.0, 7.0, 7.0};
        for (const auto& [name, idea, copy] :
             wb::implementations("copy_floats", copy_floats)) {
            arrays.expect(name,
                          copy_case(n, {8, 0}),
                          places,
                          wanted,
                          [&, copy = copy](cudaStream_t s) {
                              copy(arrays.x, arrays.y, n, {8, 0}, s);
                          });
        }
        constexpr int64_t kFew = (int64_t{1} << 31) + 5;
        arrays.set(kFew - 1, 7.0f);
        for (const auto& [name, idea, function] :
             wb::implementations("iterate", iterate)) {
            arrays.expect(name,
                          "n = 2^31 + 5",
                          {0, int64_t{1} << 31, kFew - 1},
                          {2.0, 14.0, 14.0},
                          [&, function = function](cudaStream_t s) {
                              const Map twice = {2.0f, 0.0f, 1};
                              function(arrays.x, arrays.y, kFew, twice, {8, 0}, s);
                          });
        }
        return;
    }
    WB_SKIP("needs 19 GB of free GPU memory");
#endif
}

TEST_CASE("all loads of a thread come before its first store") {
    expect_loads_first("copy_floats",
                       "the float4s t, t + 256, t + 512 ... of its block, t being its "
                       "number",
                       4 * kCopyThreads,
                       GENERATE(2, 4, 8),
                       [](const float* x, float* y, int64_t n, cudaStream_t s) {
                           const auto each = static_cast<int>(n / (4 * kCopyThreads));
                           copy_floats(x, y, n, {each, 0}, s);
                       });
}

TEST_CASE("all chains of a thread are there at the same time") {
    expect_loads_first("iterate",
                       "the elements t, t + 128, t + 256 ... of its block, t being its "
                       "number",
                       kIterateThreads,
                       GENERATE(2, 4, 8),
                       [](const float* x, float* y, int64_t n, cudaStream_t s) {
                           const auto each = static_cast<int>(n / kIterateThreads);
                           iterate(x, y, n, {1.0f, 0.0f, 3}, {each, 0}, s);
                       });
}

TEST_CASE("chains of any number of steps") {
    const auto steps = GENERATE(0, 1, 7, 8, 9, 100);
    const auto n = GENERATE(as<int64_t>(), 1, 33, 1023, 1025);
    grade_iterate(n, {0.75f, 0.5f, steps}, {GENERATE(1, 2, 4, 8), 0});
}

TEST_CASE("chains of more than a thousand steps") {
    // Slow enough that the last steps still show.
    grade_iterate(31, {0.9999f, 0.0f, 1500}, {GENERATE(1, 4), 0});
}

TEST_CASE("a prime number of chains, and more than a block has") {
    const auto n = GENERATE(as<int64_t>(), 31, 32, 97, 10'007);
    grade_iterate(n, {-0.5f, 1.0f, 11}, {GENERATE(1, 2, 4, 8), 1000});
}

TEST_CASE("nothing is kept from call to call") {
    const auto both = [](int64_t n, const Variant& variant) {
        grade_copy(n, variant);
        grade_iterate(n, {0.75f, 0.5f, 2 * variant.each}, variant);
    };
    wb::testing::expect_independent(
        [&] {
            both(97, {1, 0});
        },
        [&] {
            both(1025, {4, 1000});
        });
}

TEST_CASE("all work is queued on the caller's stream, and nobody waits for it") {
    const Variant variant = {4, 1000};
    const std::vector<float> zeros(1000, 0.0f);
    for (const auto& [name, idea, copy] :
         wb::implementations("copy_floats", copy_floats)) {
        Grader grade(name, "n = 1000");
        const float* x = grade.input("x", zeros);
        float* y = grade.output<float>("y", {1000});
        grade.expect_queued(
            [&, copy = copy](cudaStream_t s) { copy(x, y, 1000, variant, s); });
    }
    for (const auto& [name, idea, function] : wb::implementations("iterate", iterate)) {
        Grader grade(name, "n = 1000");
        const float* x = grade.input("x", zeros);
        float* y = grade.output<float>("y", {1000});
        grade.expect_queued([&, function = function](cudaStream_t s) {
            function(x, y, 1000, {0.5f, 1.0f, 3}, variant, s);
        });
    }
}

TEST_CASE("nothing to copy, nothing to iterate") {
    Grader grade("copy_floats", "n = 0");
    grade.expect_no_work([](cudaStream_t s) {
        copy_floats(nullptr, nullptr, 0, {4, 0}, s);
    });
    Grader other("iterate", "n = 0");
    other.expect_no_work([](cudaStream_t s) {
        iterate(nullptr, nullptr, 0, {0.5f, 1.0f, 3}, {4, 0}, s);
    });
}

TEST_CASE("the given rods conduct heat, whatever the compiler was told") {
    (void)result_of([] { return budget(multiprocessor(90), 256, 1); });
    for (const RodVariant variant : kRodVariants)
        grade_rods(variant, kRodThreads, 10);
}

TEST_CASE("the compiler keeps to the budget of the launch bounds") {
    const Multiprocessor sm = this_multiprocessor();
    for (const RodVariant variant : kRodVariants) {
        const int blocks = promised_blocks(variant);
        if (blocks * kRodThreads > sm.warps * 32) continue;  // ignored then
        const int most =
            result_of([&] { return budget(sm, kRodThreads, blocks).registers; });
        const int used = rods_facts(variant, kRodThreads, 0).registers;
        INFO(name_of(variant) << ": " << used << " registers, budget " << most);
        CHECK(used <= most);
    }
}

TEST_CASE("16 bytes a request, and as few threads as that takes", "[.][goal]") {
#ifdef SIMT_CPU
    constexpr int64_t kN = 1 << 16;
    constexpr int kEach = 4;
    wb::testing::Goal goal("copy_floats");
    const auto x = wb::testing::random_normal(kN, 1);
    Grader grade("copy_floats", copy_case(kN, {kEach, 0}));
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {kN});
    grade.run([&](cudaStream_t s) { copy_floats(d_x, d_y, kN, {kEach, 0}, s); });
    grade.expect("y", {x.begin(), x.end()}, [](int64_t) { return 0.0; });
    goal.moves_at_most(1.05);
    const simt::check::Counters c = simt::check::counters("");
    constexpr uint64_t kRequests = kN / (4 * 32);
    const uint64_t requests = c.global_load.requests;
    goal.require(requests <= kRequests,
                 "its warps load " + std::to_string(requests) + " times, " +
                     std::to_string(kRequests) + " loads of 16 bytes a lane would do");
#endif
}

TEST_CASE("the GPU is as fast as what is under way says", "[serial][large]") {
    (void)result_of([] { return predicted_rate({1.0, 1.0}, 1.0); });
#ifdef SIMT_CPU
    WB_SKIP("times are measured on a GPU, and there is none here");
#else
    result_of([] { grade_times(); });  // other functions may not be written yet
#endif
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    const Multiprocessor& sm = multiprocessor(90);
    (void)result_of([&] { return block_limits(sm, {32, 32, 0}); });
    const auto limits = [&](const char* what, const char* part, const Needs& needs) {
        expect_refused(
            "block_limits", what, part, [&] { (void)block_limits(sm, needs); });
    };
    limits("threads = 0", "needs.threads is 0", {0, 32, 0});
    limits("threads = 1025", "needs.threads is 1025", {1025, 32, 0});
    limits("registers = 0", "needs.registers is 0", {32, 0, 0});
    limits("registers = 256", "needs.registers is 256", {32, 256, 0});
    limits("shared = -1", "needs.shared_bytes is -1", {32, 32, -1});
    expect_refused(
        "budget", "0 blocks", "blocks is 0", [&] { (void)budget(sm, 256, 0); });
    expect_refused(
        "budget", "9 blocks of 256", "blocks is 9", [&] { (void)budget(sm, 256, 9); });
    // Their warps would fit; a multiprocessor has fewer slots for blocks.
    expect_refused(
        "budget", "33 blocks of 32", "blocks is 33", [&] { (void)budget(sm, 32, 33); });
    expect_refused("independent_needed", "no threads", "threads is 0", [] {
        (void)independent_needed({1.0, 1.0}, 0, 4);
    });
    Grader memory("copy_floats", "wrong arguments");
    float* d = memory.output<float>("d", {64});
    float host[8] = {};
    const auto copy = [&](const char* what,
                          const char* part,
                          const float* x,
                          float* y,
                          int64_t n,
                          const Variant& variant) {
        expect_refused(
            "copy_floats", what, part, [&] { copy_floats(x, y, n, variant, nullptr); });
    };
    copy("n = -1", "n is -1", d, d, -1, {1, 0});
    copy("3 loads", "each is 3", d, d, 8, {3, 0});
    copy("ballast -1", "ballast is -1", d, d, 8, {1, -1});
    copy("x null", "x is a null pointer", nullptr, d, 8, {1, 0});
    copy("y on the host", "y is a host pointer", d, host, 8, {1, 0});
    copy("x + 1", "x is not aligned", d + 1, d, 8, {1, 0});
    copy("y null", "y is a null pointer", d, nullptr, 8, {1, 0});
    copy("x on the host", "x is a host pointer", host, d, 8, {1, 0});
    copy("y + 1", "y is not aligned", d, d + 1, 8, {1, 0});
    for (float* const bad : {static_cast<float*>(nullptr), host}) {
        const std::string is =
            bad == nullptr ? " is a null pointer" : " is a host pointer";
        expect_refused("iterate", "x" + is, "x" + is, [&] {
            iterate(bad, d, 8, {0.5f, 1.0f, 1}, {1, 0}, nullptr);
        });
        expect_refused("iterate", "y" + is, "y" + is, [&] {
            iterate(d, bad, 8, {0.5f, 1.0f, 1}, {1, 0}, nullptr);
        });
    }
    expect_refused("iterate", "n = -1", "n is -1", [&] {
        iterate(d, d, -1, {0.5f, 1.0f, 1}, {1, 0}, nullptr);
    });
    expect_refused("iterate", "ballast -1", "ballast is -1", [&] {
        iterate(d, d, 8, {0.5f, 1.0f, 1}, {1, -1}, nullptr);
    });
    expect_refused("iterate", "steps = -1", "map.steps is -1", [&] {
        iterate(d, d, 8, {0.5f, 1.0f, -1}, {1, 0}, nullptr);
    });
    expect_refused("iterate", "5 chains", "each is 5", [&] {
        iterate(d, d, 8, {0.5f, 1.0f, 1}, {5, 0}, nullptr);
    });
}
