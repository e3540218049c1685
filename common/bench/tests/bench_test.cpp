#include <wb/bench/bench.h>
#include <wb/bench/errors.h>

#include <algorithm>

#include "kernels.h"
#include "support.h"

using namespace wb::bench;

namespace {

/// A benchmark in a program of its own: no sizes, no options, few samples.
struct Fixture {
    Options options;
    Timer timer{1 << 20, Budget{2, 2, 0.0}};
    Ceilings ceilings{timer, 1 << 20};
    Bench bench{"copy", options, false, timer, ceilings};
    Array<float> x = bench.random_normal(1000);
    Array<float> y = bench.output<float>(1000);

    Problem problem() {
        Problem result = bench.problem({"n = 1000", Ceiling::copy, 8000.0});
        result.expect("y", y, [this](int64_t i) {
            return Expected{static_cast<double>(x.at(i)), 0.0};
        });
        return result;
    }

    Launch copy(int64_t count) {
        return [this, count](cudaStream_t stream) {
            CUDA_CHECK(cudaMemcpyAsync(y.data(),
                                       x.data(),
                                       static_cast<std::size_t>(count) * sizeof(float),
                                       cudaMemcpyDeviceToDevice,
                                       stream));
        };
    }
};

}  // namespace

TEST_CASE("problem: a right implementation is timed and gets a row") {
    Fixture f;
    Problem problem = f.problem();
    problem.time("copy_v1", "all of it", f.copy(1000));
    CHECK(f.bench.wrong() == 0);
    REQUIRE(f.bench.rows().size() == 1);
    CHECK(f.bench.rows()[0].exercise == "copy");
    CHECK(f.bench.rows()[0].rung == "copy_v1");
    CHECK(f.bench.rows()[0].size == "n = 1000");
    CHECK(f.bench.rows()[0].work == 8000.0);
}

TEST_CASE("problem: a wrong implementation is counted and gets no row") {
    Fixture f;
    Problem problem = f.problem();
    problem.time("copy_v1", "all of it", f.copy(1000));
    // What the implementation before it wrote is poisoned away.
    problem.time("copy_v2", "all but one", f.copy(999));
    CHECK(f.bench.wrong() == 1);
    CHECK(f.bench.rows().size() == 1);
}

TEST_CASE("problem: right values are sampled before any launch") {
    Fixture f;
    Problem problem = f.bench.problem({"in place", Ceiling::copy, 8000.0});
    problem.expect("y", f.x, [&](int64_t i) {
        return Expected{2.0 * static_cast<double>(f.x.at(i)), 0.0};
    });
    const Array<float> original(1000);
    original.copy_from(f.x, nullptr);
    problem.restore([&](cudaStream_t stream) { f.x.copy_from(original, stream); });
    const auto twice = [&](cudaStream_t stream) {
        // x = x + x, with the traffic kernel for 2 reads and 1 write
        const auto* vectors = reinterpret_cast<const float4*>(f.x.data());
        auto* result = reinterpret_cast<float4*>(f.x.data());
        launch_traffic(
            Traffic::read2_write1, 1, {vectors, vectors, result, nullptr, 250}, stream);
    };
    problem.time("double_v1", "in place", twice);
    problem.time("double_v2", "again, from the restored values", twice);
    CHECK(f.bench.wrong() == 0);
}

TEST_CASE("problem: a plain reader of as many bytes gets a row beside the others") {
    Fixture f;
    Problem problem = f.problem();
    problem.time_reading();
    REQUIRE(f.bench.rows().size() == 1);
    CHECK(f.bench.rows()[0].rung == "plain read");
    CHECK(f.bench.rows()[0].work == 8000.0);
}

TEST_CASE("problem: without a check, nothing is timed") {
    Fixture f;
    Problem problem = f.bench.problem({"n = 1000", Ceiling::copy, 8000.0});
    CHECK_THROWS_AS(problem.time("copy_v1", "", f.copy(1000)), std::logic_error);
}

TEST_CASE("problem: an exception of the implementation is passed on") {
    Fixture f;
    Problem problem = f.problem();
    const Launch fail = [](cudaStream_t) { throw std::runtime_error("mine"); };
    CHECK_THROWS_WITH(problem.time("copy_v1", "", fail), "mine");
}

TEST_CASE("problem: all of a small output is sampled, both ends of a large one") {
    CHECK(Problem::sampled_indices(0).empty());
    CHECK(Problem::sampled_indices(3) == std::vector<int64_t>{0, 1, 2});
    CHECK(Problem::sampled_indices(64).size() == 64);
    const int64_t large = int64_t{1} << 40;
    const auto indices = Problem::sampled_indices(large);
    CHECK(indices.size() == 64);
    CHECK(indices[0] == 0);
    CHECK(indices[1] == large - 1);
    for (const int64_t i : indices) {
        CHECK(i >= 0);
        CHECK(i < large);
    }
    CHECK(*std::max_element(indices.begin() + 2, indices.end()) > large / 2);
}

TEST_CASE("bench: the sizes are those that the user chose") {
    Fixture f;
    const auto sizes = [&] { return f.bench.sizes<int>({1}, {2}, {3, 4}); };
    CHECK(sizes() == std::vector<int>{3, 4});
    f.options.sizes = Sizes::small;
    CHECK(sizes() == std::vector<int>{2});
    f.options.sizes = Sizes::tiny;
    CHECK(sizes() == std::vector<int>{1});
}

TEST_CASE("bench: xray has a size of its own where the usual one shows too little") {
    Fixture f;
    f.options.xray = "x.json";
    CHECK(f.bench.sizes<int>({1}, {2, 3}, {4}) == std::vector<int>{2, 1});
    CHECK(f.bench.sizes<int>({1}, {2, 3}, {4}, {5}) == std::vector<int>{5});
    f.options.size = "n = 5";
    CHECK(f.bench.sizes<int>({1}, {2, 3}, {4}, {5}) == std::vector<int>{5, 2, 3, 1});
}

TEST_CASE("bench: a grid of shapes is run when it was asked for, and nothing else") {
    Fixture f;
    const std::vector<int> tiny = {1};
    const std::vector<int> all = {2, 3};
    CHECK(f.bench.grid(tiny, all).empty());
    f.options.sizes = Sizes::grid;
    CHECK(f.bench.grid(tiny, all) == all);
    CHECK(f.bench.sizes(tiny, tiny, all).empty());
    f.options.sizes = Sizes::tiny;
    CHECK(f.bench.grid(tiny, all) == tiny);
}

TEST_CASE("bench: rows that were not asked for are neither run nor timed") {
    Fixture f;
    f.options.size = "1000";
    f.options.row = "copy/copy_v2";
    Problem problem = f.problem();
    problem.note("share", 0.5);
    problem.time("copy_v1", "not asked for", [](cudaStream_t) { FAIL("it runs"); });
    problem.time("copy_v2", "asked for", f.copy(1000));
    REQUIRE(f.bench.rows().size() == 1);
    CHECK(f.bench.rows()[0].rung == "copy_v2");
    CHECK(f.bench.rows()[0].notes.empty());
    CHECK(f.bench.asked_for() == 1);
    const wb::GemmShape small = wb::GemmShape{4, 4, 4}.packed();
    CHECK_FALSE(
        product_errors<float>(f.bench, small));  // that would launch all versions
    f.options.row = "";
    CHECK(product_errors<float>(f.bench, small));
    f.options.size = "1001";
    problem.time("copy_v2", "another size", [](cudaStream_t) { FAIL("it runs"); });
    CHECK(f.bench.asked_for() == 1);
}

TEST_CASE("bench: problems whose size was not asked for get no inputs") {
    struct Length {
        int64_t n;
        std::string text() const { return "n = " + std::to_string(n); }
    };
    Fixture f;
    f.options.size = "= 2";
    const auto sizes = f.bench.sizes<Length>({}, {}, {{1}, {2}, {23}});
    REQUIRE(sizes.size() == 2);
    CHECK(sizes[0].n == 2);
    CHECK(sizes[1].n == 23);
}

TEST_CASE("bench: a size that does not fit into the memory is left out") {
    Fixture f;
    CHECK(f.bench.fits(1.0));
    CHECK_FALSE(f.bench.fits(1e18));
}

TEST_CASE("bench: inputs differ from call to call") {
    Fixture f;
    CHECK(f.bench.random_normal(100).host() != f.bench.random_normal(100).host());
}
