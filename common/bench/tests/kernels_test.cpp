#include "kernels.h"

#include <wb/bench/array.h>
#include <wb/bench/ceilings.h>
#include <wb/errors.h>
#include <wb/testing/catch.h>

#include <cmath>
#include <cstring>

using namespace wb::bench;

namespace {

constexpr std::int64_t kN = 1000;  // float4s: no multiple of a block, or of 4 blocks

Array<float4> vectors(std::uint64_t seed) {
    const auto numbers = random_normal(4 * kN, seed).host();
    std::vector<float4> values(kN);
    std::memcpy(values.data(), numbers.data(), numbers.size() * sizeof(float));
    Array<float4> result(kN);
    result.upload(values);
    return result;
}

}  // namespace

TEST_CASE("random_normal: mean 0, variance 1, and nothing repeated") {
    const auto x = random_normal(1 << 16, 1).host();
    double sum = 0.0;
    double squares = 0.0;
    double neighbours = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double value = static_cast<double>(x[i]);
        REQUIRE(std::isfinite(value));
        sum += value;
        squares += value * value;
        neighbours += value * static_cast<double>(x[(i + 1) % x.size()]);
    }
    const auto n = static_cast<double>(x.size());
    CHECK(std::abs(sum / n) < 0.02);
    CHECK(std::abs(squares / n - 1.0) < 0.03);
    CHECK(std::abs(neighbours / n) < 0.02);  // neighbours are independent
}

TEST_CASE("random_normal: the seed decides, and the length does not matter") {
    const auto x = random_normal(1000, 1).host();
    CHECK(x == random_normal(1000, 1).host());
    CHECK(x != random_normal(1000, 2).host());
    CHECK(random_normal(10, 1).host() == std::vector<float>(x.begin(), x.begin() + 10));
    CHECK(random_normal(0, 1).size() == 0);
}

TEST_CASE("traffic: each kind reads and writes what it says, at every unrolling") {
    const int unroll = GENERATE(1, 2, 4);
    const auto a = vectors(1);
    const auto b = vectors(2);
    const Array<float4> c(kN);
    const Array<float> sink(1);
    const TrafficArrays arrays{a.data(), b.data(), c.data(), sink.data(), kN};

    launch_traffic(Traffic::copy, unroll, arrays, nullptr);
    for (const std::int64_t i : {std::int64_t{0}, kN / 2, kN - 1}) {
        CHECK(c.at(i).w == a.at(i).w);
    }
    launch_traffic(Traffic::read2_write1, unroll, arrays, nullptr);
    for (const std::int64_t i : {std::int64_t{0}, kN / 2, kN - 1}) {
        CHECK(c.at(i).x == a.at(i).x + b.at(i).x);
        CHECK(c.at(i).w == a.at(i).w + b.at(i).w);
    }
    launch_traffic(Traffic::write, unroll, arrays, nullptr);
    for (const float4& v : c.host())
        CHECK(v.z == 3.0f);

    c.poison();
    launch_traffic(Traffic::read, unroll, arrays, nullptr);
    CHECK(std::isnan(c.at(0).x));
    CHECK(std::isnan(sink.at(0)));
}

TEST_CASE("traffic: an unrolling without a kernel is refused") {
    CHECK_THROWS_AS(launch_traffic(Traffic::read, 3, {}, nullptr),
                    std::invalid_argument);
}

TEST_CASE("narrow: floats are rounded to half and to bfloat16") {
    Array<float> wide(3);
    wide.upload({1.0f, 1.00048828125f + 0x1p-20f, -2.5f});
    const Array<std::uint16_t> narrow(3);
    launch_narrow(wide.data(), narrow.data(), 3, false, nullptr);
    CHECK(narrow.host() == std::vector<std::uint16_t>{0x3C00, 0x3C01, 0xC100});
    launch_narrow(wide.data(), narrow.data(), 3, true, nullptr);
    CHECK(narrow.host() == std::vector<std::uint16_t>{0x3F80, 0x3F80, 0xC020});
}

TEST_CASE("array: it starts as poison and copies what it is given") {
    const Array<int> x(3);
    CHECK(x.host() == std::vector<int>{-1, -1, -1});
    x.upload({1, 2, 3});
    const Array<int> y(3);
    y.copy_from(x, nullptr);
    CHECK(y.at(2) == 3);
    CHECK_THROWS_AS(x.upload({1}), std::invalid_argument);
    CHECK_THROWS_AS(x.copy_from(Array<int>(2), nullptr), std::invalid_argument);
    CHECK(Array<int>(0).host().empty());
}

TEST_CASE("timer: the launch runs in warm-ups and in every sample") {
    Timer timer(1 << 20, Budget{20, 20, 0.0});
    int launches = 0;
    const Timing timing = timer.measure(
        [&](cudaStream_t stream) {
            ++launches;
            launch_nothing(stream);
        },
        Cache::cold);
    CHECK(timing.us.count == 20);
    CHECK(timing.launches_a_sample == 1);
    CHECK(launches > 20);
    CHECK(timing.us.min >= 0.0);
}

TEST_CASE("timer: short launches on a hot cache are timed in batches") {
    Timer timer(1 << 20, Budget{20, 20, 0.0});
    const Array<char> small(16);
    const Timing timing = timer.measure(
        [&](cudaStream_t stream) {
            CUDA_CHECK(cudaMemsetAsync(small.data(), 0, small.bytes(), stream));
        },
        Cache::hot);
    CHECK(timing.us.count == 20);
    CHECK(timing.launches_a_sample > 1);
}

TEST_CASE("timer: an error of the launch is not timed") {
    Timer timer(1 << 20, Budget{2, 2, 0.0});
    CHECK_THROWS_AS(timer.measure(
                        [](cudaStream_t stream) {
                            CUDA_CHECK(cudaMemsetAsync(nullptr, 0, 16, stream));
                        },
                        Cache::cold),
                    wb::CudaError);
}

TEST_CASE("ceilings: every kind of traffic can be measured, once") {
    Timer timer(1 << 20, Budget{2, 2, 0.0});
    Ceilings ceilings(timer, 1 << 20);
    for (const Ceiling kind :
         {Ceiling::read, Ceiling::write, Ceiling::copy, Ceiling::read2_write1}) {
        const double first = ceilings.get(kind);
        CHECK(first > 0.0);
        CHECK(ceilings.get(kind) == first);
    }
    CHECK(ceilings.measured().size() == 4);
}
