// Grades day07-tuning/04-instructions.
#include "instructions.h"

#include <wb/testing/catch.h>
#include <wb/testing/clock.h>
#include <wb/testing/goal.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/random.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#endif

#include "given.h"
#include "grade.h"

TEST_CASE("ulp_distance: neighbours, both zeros, both signs") {
    grade_pairs({{1.0f, std::nextafter(1.0f, 2.0f)},
                 {1.0f, std::nextafter(1.0f, 0.0f)},
                 {2.0f, 4.0f},
                 {-1.5f, -1.0f},
                 {0.0f, -0.0f},
                 {0.0f, kSmallest},
                 {-0.0f, kSmallest},
                 {-kSmallest, kSmallest},
                 {0x1p-126f, std::nextafter(0x1p-126f, 0.0f)},
                 {1.0f, 1.0f},
                 {1.0f, -1.0f}});
}

TEST_CASE("ulp_distance: infinities and the longest way") {
    grade_pairs({{kLargest, kInfinity},
                 {-kLargest, -kInfinity},
                 {kInfinity, kInfinity},
                 {0.0f, kInfinity},
                 {-kLargest, kLargest},
                 {-kInfinity, kInfinity}});
}

TEST_CASE("ulp_distance: NaN is nowhere") {
    grade_pairs({{kNaN, kNaN},
                 {kNaN, -kNaN},
                 {kNaN, float_of_bits(0x7F800001)},
                 {kNaN, 1.0f},
                 {kNaN, kInfinity},
                 {float_of_bits(0xFFFFFFFF), 0.0f}});
}

TEST_CASE("ulp_distance: random bits") {
    Random random(GENERATE(1, 2));
    std::vector<std::pair<float, float>> pairs;
    for (int i = 0; i < 2000; ++i) {
        const uint64_t bits = random.bits();
        const auto low = static_cast<uint32_t>(bits);
        const auto high = static_cast<uint32_t>(bits >> 32);
        pairs.emplace_back(float_of_bits(low), float_of_bits(high));
        pairs.emplace_back(float_of_bits(low),
                           float_of_bits(low ^ (high & 0x8000000F)));
    }
    grade_pairs(pairs);
}

TEST_CASE("worst_error: a function whose error is known") {
    const auto first = GENERATE(as<uint32_t>(), 0, 0x3F8000FE, 0xC2000000);
    const auto count = GENERATE(as<uint64_t>(), 1, 2, 31, 32, 33, 255, 257, 1009);
    expect_worst_of_coarse(first, count);
}

TEST_CASE("worst_error: more floats than threads, and only one of them is bad") {
    // Coarse makes infinity of the NaNs just above it. Nothing else is as bad.
    constexpr uint32_t kInfinityBits = 0x7F800000;
    expect_worst_of_coarse(kInfinityBits - 70'000, 70'002);
    expect_worst_of_coarse(0xFFFFFF00, 256);
    expect_worst_of_coarse(0xFFFFFFFF, 1);  // no error: the smallest packed()
}

TEST_CASE("worst_error: a million floats and more", "[long]") {
    expect_worst_of_coarse(0x3F800000 - 7, (4096 * 256) + 77'777);
}

TEST_CASE("worst_error: no floats, no error") {
    CHECK(worst_of(Function::coarse, 5, 0) == 0);
}

TEST_CASE("quick_exp: 4 ULP where the result is a normal number") {
    std::vector<float> x = {0.0f, -0.0f, 1.0f, -1.0f, 88.0f, -87.0f, kSmallest, 0.5f};
    Random random(1);
    for (int i = 0; i < 20'000; ++i)
        x.push_back(static_cast<float>(175.0 * random.uniform() - 87.0));
    for (int i = 0; i < 2'000; ++i)
        x.push_back(static_cast<float>(random.normal()));
    expect_exponentials(x);
}

TEST_CASE("quick_exp: too large, too small, and no number at all") {
    std::vector<float> x = {
        100.0f, 1e30f, kInfinity, -104.0f, -1e30f, -kInfinity, kNaN};
    for (int i = 0; i < 64; ++i)  // where a correction still is a finite number
        x.push_back(89.0f + static_cast<float>(i) / 64.0f);
    const auto y = exponentials_of(x);
    for (size_t i = 0; i < x.size(); ++i) {
        const bool right = std::isnan(x[i]) ? std::isnan(y[i])
                           : x[i] > 0       ? y[i] == kInfinity
                                            : y[i] == 0.0f;
        if (!right)
            complain("quick_exp(" + with_bits(x[i]) + ") is " + with_bits(y[i]),
                     "infinity from 89 on, 0 up to -104, NaN for NaN");
        CHECK(right);
    }
}

TEST_CASE("quick_exp: every float from -87 to 88, on a GPU", "[large]") {
    expect_written([] { exponentials(nullptr, nullptr, 0, nullptr); });
    expect_written([] { worst_error(Function::own_exp, 0, 0, nullptr, nullptr); });
#ifdef SIMT_CPU
    WB_SKIP("two billion exponentials take a GPU");
#else
    for (const float end : {88.0f, -87.0f}) {
        const uint32_t first = bits_of_float(std::copysign(0.0f, end));
        const uint64_t count = bits_of_float(end) - first + uint64_t{1};
        const auto worst = worst_of(Function::own_exp, first, count);
        const auto ulp = static_cast<uint32_t>(worst >> 32);
        const float x = float_of_bits(0xFFFFFFFFu - static_cast<uint32_t>(worst));
        std::printf("quick_exp, 0 to %g: at most %u ULP, at %.9g\n", end, ulp, x);
        if (ulp > 4)
            complain("quick_exp is " + std::to_string(ulp) + " ULP off at " +
                     with_bits(x) + ", 4 are allowed");
        CHECK(ulp <= 4);
    }
#endif
}

TEST_CASE("compress_outliers: sizes around a block and its tile") {
    const auto n = GENERATE(
        as<int64_t>(), 1, 31, 32, 33, 256, 257, 1009, 2047, 2049, 4096, 4097, 10'007);
    grade_compress_all(wb::testing::random_normal(n, GENERATE(1, 2)), n_text(n));
}

TEST_CASE("compress_outliers: none, all, and the border") {
    constexpr int64_t kN = 4099;
    grade_compress_all(std::vector<float>(kN, 1.0f), "no outlier");
    grade_compress_all(std::vector<float>(kN, -50.0f), "nothing but outliers");
    std::vector<float> x(kN, 2.0f);  // is none
    for (size_t i = 0; i < x.size(); i += 3)
        x[i] = std::nextafter(-2.0f, -3.0f);  // is one
    grade_compress_all(x, "2 and its neighbour");
}

TEST_CASE("compress_outliers: in place") {
    constexpr int64_t kN = 5001;
    const auto x = wb::testing::random_normal(kN, 3);
    const std::vector<double> expected = compressed_of(x);
    Grader grade("compress_outliers", "y is x, " + n_text(kN));
    float* d_x = grade.in_out("x", {kN}, x);
    grade.run([&](cudaStream_t s) { compress_outliers(d_x, d_x, kN, s); });
    grade.expect("x", expected, [&](int64_t i) {
        return 0x1p-23 * std::abs(expected[static_cast<size_t>(i)]);
    });
}

TEST_CASE("compress_outliers: a million numbers and more", "[large]") {
    constexpr int64_t kN = (1 << 20) + 77;
    grade_compress_all(wb::testing::random_normal(kN, 5), n_text(kN));
}

TEST_CASE("copy_floats: every alignment, every length that a float4 may leave over") {
    const auto n = GENERATE(as<int64_t>(), 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 1009, 1024);
    for (int64_t in_offset = 0; in_offset < 4; ++in_offset)
        for (int64_t out_offset = 0; out_offset < 4; ++out_offset)
            grade_copy_all(n, in_offset, out_offset);
}

TEST_CASE("copy_floats: a million floats and more", "[large]") {
    grade_copy_all((1 << 20) + 5, GENERATE(0, 1), 1);
}

TEST_CASE("copy_floats: a short copy, and then a longer one") {
    const int64_t in_offset = GENERATE(0, 1);
    for (const int64_t n : {5, 5000, 8192})
        grade_copy_all(n, in_offset, 0);
    grade_copy_all(9001, 1, 1);
}

TEST_CASE("more than 2^31 floats, or float4s", "[large][serial]") {
    expect_written([] { compress_outliers(nullptr, nullptr, 0, nullptr); });
    expect_written([] { copy_floats(nullptr, nullptr, 0, nullptr); });
#ifdef SIMT_CPU
    WB_SKIP("69 GB of memory and 2^31 threads are too much for the simulator");
#else
    // 2^31 float4s where there is the memory, else floats.
    for (const int64_t size : {int64_t{1} << 33, int64_t{1} << 31}) {
        const int64_t n = size + 5;
        wb::testing::LargeArrays arrays(n, n);
        if (!arrays.has_memory()) continue;
        grade_large(arrays, n);
        return;
    }
    WB_SKIP("needs 19 GB of free GPU memory");
#endif
}

TEST_CASE("quotients: small divisors, powers of two and their neighbours") {
    const auto shift = GENERATE(range(1, 32));
    const uint32_t power = 1u << shift;
    for (const uint32_t divisor : {power - 1, power, power + 1})
        grade_quotients(numbers_for(divisor, divisor), divisor);
}

TEST_CASE("quotients: all divisors up to 300, and the largest") {
    const auto begin = GENERATE(as<uint32_t>(), 1, 101, 201, 0xFFFFFF9Bu);
    for (uint32_t i = 0; i < 100; ++i) {
        const auto numbers = numbers_for(begin + i, 1);
        grade_quotients({numbers.begin(), numbers.begin() + 100}, begin + i);
    }
}

TEST_CASE("quotients: more numbers than 12 bits count") {
    std::vector<uint32_t> numbers;
    for (uint32_t i = 0; i < 4099; ++i)
        numbers.push_back(i * 1'047'713);
    grade_quotients(numbers, 7);
}

TEST_CASE("quotients: random divisors") {
    Random random(GENERATE(1, 2));
    for (int i = 0; i < 40; ++i) {
        const auto divisor =
            std::max(static_cast<uint32_t>(random.bits() >> random.below(64)), 1u);
        grade_quotients(numbers_for(divisor, static_cast<uint64_t>(i)), divisor);
    }
}

TEST_CASE("quotients: every number there is", "[large]") {
    expect_written([] { (void)make_divider(1); });
#ifdef SIMT_CPU
    constexpr uint64_t kCount = 1 << 12;  // the last ones are the hardest
#else
    constexpr uint64_t kCount = kAllFloats;
#endif
    for (const uint32_t divisor :
         {1u, 2u, 3u, 5u, 7u, 10u, 641u, 6700417u, 0x7FFFFFFFu, 0x80000001u, ~0u})
        expect_all_right(divisor, static_cast<uint32_t>(kAllFloats - kCount), kCount);
}

TEST_CASE("nothing is kept from call to call") {
    const auto all = [](int64_t n, uint32_t divisor) {
        grade_compress_all(wb::testing::random_normal(n, divisor), n_text(n));
        grade_copy_all(n, 1, 2);
        grade_quotients(numbers_for(divisor, 1), divisor);
        grade_pairs({{1.0f, static_cast<float>(divisor)}});
        exponentials_of(wb::testing::random_normal(n, divisor));
    };
    wb::testing::expect_independent([&] { all(300, 7); }, [&] { all(2049, 641); });
}

TEST_CASE("no elements, no work") {
    Grader grade("instructions", "n = 0");
    grade.expect_no_work(
        [](cudaStream_t s) { ulp_distances(nullptr, nullptr, nullptr, 0, s); });
    grade.expect_no_work([](cudaStream_t s) { exponentials(nullptr, nullptr, 0, s); });
    grade.expect_no_work(
        [](cudaStream_t s) { compress_outliers(nullptr, nullptr, 0, s); });
    grade.expect_no_work([](cudaStream_t s) { copy_floats(nullptr, nullptr, 0, s); });
    grade.expect_no_work([](cudaStream_t s) { quotients(nullptr, nullptr, 0, 3, s); });
}

TEST_CASE("compress_outliers keeps its lanes busy", "[.][goal]") {
    const wb::testing::Goal goal("compress_outliers");
    grade_compress("compress_outliers",
                   compress_outliers,
                   wb::testing::random_normal(1 << 14, 1),
                   n_text(1 << 14));
#ifdef SIMT_CPU
    constexpr double kLanes = 24.0;
    const double lanes = simt::check::counters("").average_lanes;
    char text[96];
    std::snprintf(text,
                  sizeof text,
                  "on average %.1f of 32 lanes are busy, %.0f are wanted",
                  lanes,
                  kLanes);
    goal.require(lanes >= kLanes, text);
#endif
}

TEST_CASE("copy_floats asks for four floats at a time", "[.][goal]") {
    constexpr int64_t kN = 1 << 14;
    const wb::testing::Goal goal("copy_floats");
#ifdef SIMT_CPU
    constexpr uint64_t kWarpsOfVectors = kN / 4 / 32;
    const auto requests = [] { return simt::check::counters("").global_load.requests; };
    const uint64_t before = requests();
    grade_copy("copy_floats", copy_floats, kN, 1, 1);
    const uint64_t made = requests() - before;
    goal.require(made <= kWarpsOfVectors + 4,
                 "its loads are " + std::to_string(made) + " requests, " +
                     std::to_string(kWarpsOfVectors) +
                     " would do, and some for the ends");
#else
    grade_copy("copy_floats", copy_floats, kN, 1, 1);
#endif
}

TEST_CASE("outliers in full warps and a multiply-high save time", "[serial][large]") {
    expect_written([] { compress_outliers(nullptr, nullptr, 0, nullptr); });
    expect_written([] { (void)make_divider(1); });
#ifdef SIMT_CPU
    WB_SKIP("times are measured on a GPU, and there is none here");
#else
    constexpr double kMost = 0.8;  // of the time of the slow one
    const auto compare = [](const char* what, double got, double slow) {
        std::printf("%s: %.1f us, the slow way %.1f us\n", what, got * 1e6, slow * 1e6);
        if (got > kMost * slow)
            complain(std::string(what) + " takes " + std::to_string(got / slow) +
                     " of the time of the slow way, 0.8 are allowed");
        CHECK(got <= kMost * slow);
    };
    const auto x = wb::testing::random_normal(1 << 22, 1);
    const size_t bytes = x.size() * sizeof(float);
    float* memory = nullptr;
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&memory), 2 * bytes));
    CUDA_CHECK(cudaMemcpy(memory, x.data(), bytes, cudaMemcpyHostToDevice));
    float* y = memory + x.size();
    const auto seconds = [&](Compress* compress) {
        return wb::testing::median_seconds(
            [&](cudaStream_t s) { compress(memory, y, 1 << 22, s); });
    };
    compare("compress_outliers", seconds(compress_outliers), seconds(launch_divergent));
    const auto ruler = [&](Division division) {
        return wb::testing::median_seconds([&](cudaStream_t s) {
            launch_division_ruler(division, 7, reinterpret_cast<uint32_t*>(y), s);
        });
    };
    compare("divide", ruler(Division::by_divider), ruler(Division::by_variable));
    CUDA_CHECK(cudaFree(memory));
#endif
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    Grader memory("instructions", "wrong arguments");
    float* d = memory.output<float>("d", {8});
    float host[8] = {};
    auto* u = reinterpret_cast<uint32_t*>(d);
    auto* w = reinterpret_cast<unsigned long long*>(d);
    expect_refused("ulp_distances", "n = -1", "n is -1", [&] {
        ulp_distances(d, d, u, -1, nullptr);
    });
    expect_refused("ulp_distances", "b on the host", "b is a host pointer", [&] {
        ulp_distances(d, host, u, 8, nullptr);
    });
    expect_refused("worst_error", "count too large", "count is 4294967296", [&] {
        worst_error(Function::coarse, 1, kAllFloats, w, nullptr);
    });
    expect_refused("worst_error", "worst null", "worst is a null pointer", [&] {
        worst_error(Function::coarse, 1, 1, nullptr, nullptr);
    });
    expect_refused("exponentials", "x null", "x is a null pointer", [&] {
        exponentials(nullptr, d, 8, nullptr);
    });
    expect_refused("compress_outliers", "n = -1", "n is -1", [&] {
        compress_outliers(d, d, -1, nullptr);
    });
    expect_refused("compress_outliers", "x null", "x is a null pointer", [&] {
        compress_outliers(nullptr, d, 8, nullptr);
    });
    expect_refused("copy_floats", "out on the host", "out is a host pointer", [&] {
        copy_floats(d, host, 8, nullptr);
    });
    expect_refused("make_divider", "0", "divisor is 0", [] { (void)make_divider(0); });
    expect_refused("quotients", "n null", "n is a null pointer", [&] {
        quotients(nullptr, u, 8, 3, nullptr);
    });
    expect_refused(
        "exponentials", "n = -1", "n is -1", [&] { exponentials(d, d, -1, nullptr); });
    expect_refused("copy_floats", "n = -1", "n is -1", [&] {
        copy_floats(d, d + 4, -1, nullptr);
    });
    expect_refused("quotients", "count = -1", "count is -1", [&] {
        quotients(u, u, -1, 3, nullptr);
    });
    expect_refused("quotients", "divisor = 0", "divisor is 0", [&] {
        quotients(u, u, 8, 0, nullptr);
    });
    // Each array of each function, null or on the host.
    for (float* const bad : {static_cast<float*>(nullptr), host}) {
        const auto refuse = [&](const char* function, const char* array, auto call) {
            const std::string part =
                std::string(array) + (bad == nullptr ? " is a null" : " is a host");
            expect_refused(function, part, part, call);
        };
        auto* const bad_u = reinterpret_cast<uint32_t*>(bad);
        auto* const bad_w = reinterpret_cast<unsigned long long*>(bad);
        refuse("ulp_distances", "a", [&] { ulp_distances(bad, d, u, 4, nullptr); });
        refuse("ulp_distances", "b", [&] { ulp_distances(d, bad, u, 4, nullptr); });
        refuse("ulp_distances", "distance", [&] {
            ulp_distances(d, d, bad_u, 4, nullptr);
        });
        refuse("worst_error", "worst", [&] {
            worst_error(Function::coarse, 1, 1, bad_w, nullptr);
        });
        refuse("exponentials", "x", [&] { exponentials(bad, d, 4, nullptr); });
        refuse("exponentials", "y", [&] { exponentials(d, bad, 4, nullptr); });
        refuse(
            "compress_outliers", "x", [&] { compress_outliers(bad, d, 4, nullptr); });
        refuse(
            "compress_outliers", "y", [&] { compress_outliers(d, bad, 4, nullptr); });
        refuse("copy_floats", "in", [&] { copy_floats(bad, d, 4, nullptr); });
        refuse("copy_floats", "out", [&] { copy_floats(d, bad, 4, nullptr); });
        refuse("quotients", "n", [&] { quotients(bad_u, u, 4, 3, nullptr); });
        refuse("quotients", "quotient", [&] { quotients(u, bad_u, 4, 3, nullptr); });
    }
}
