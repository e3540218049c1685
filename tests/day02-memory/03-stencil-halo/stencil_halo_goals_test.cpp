// Grades day02-memory/03-stencil-halo: what the accesses cost, and what is refused.
#include "stencil_halo.h"

#include <wb/testing/goal.h>
#include <wb/testing/large.h>

#include <limits>

#include "stencil_cases.h"
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

namespace {

using wb::testing::Goal;

/// Misses a goal if loads or stores move more sectors than `loaded` and `stored` times
/// the fewest that hold all elements.
void moves_at_most(const Goal& goal, const Sizes& s, double loaded, double stored) {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    const double sectors = static_cast<double>(s.count()) / 8.0;
    const auto expect = [&](const char* what, uint64_t moved, double times) {
        goal.require(static_cast<double>(moved) <= times * sectors,
                     std::to_string(moved) + " sectors are " + what + ", " +
                         std::to_string(std::lround(times * sectors)) + " would do");
    };
    expect("loaded", c.global_load.sectors, loaded);
    expect("stored", c.global_store.sectors, stored);
#else
    (void)goal, (void)s, (void)loaded, (void)stored;
#endif
}

/// The contract's function alone.
template <class Work>
void grade_contract(const Sizes& s) {
    grade_one<Work>(Work::kName, Work::kFunction, s, 1);
}

}  // namespace

TEST_CASE("a stencil: each element is loaded about once", "[.][goal]") {
    const Sizes s = {1, 1, 4096, 4, Border::zero};
    const Goal goal("stencil_1d");
    grade_contract<Stencil>(s);
    moves_at_most(goal, s, 1.4, 1.0);  // a block's 264 floats are in 5 + 8 * 5 sectors
    goal.conflicts_at_most(1.0);
}

TEST_CASE("a filter: each element is loaded about once", "[.][goal]") {
    const Sizes s = {1, 64, 128, 1, Border::zero};
    const Goal goal("convolve_2d");
    grade_contract<AnyWeights>(s);
    moves_at_most(goal, s, 2.2, 1.0);  // 18 rows in 6 sectors for 16 in 4, and corners
    goal.conflicts_at_most(1.0);
}

TEST_CASE("a product: neighbouring threads have neighbouring columns", "[.][goal]") {
    const Goal goal("convolve_separable");
    grade_contract<Product>({1, 64, 128, 1, Border::zero});
    goal.moves_at_most(1.3);
}

TEST_CASE("a stencil: 16 bytes a load, and a halo for a strip", "[.][goal][fast]") {
    const Sizes s = {1, 1, 4096, 4, Border::zero};
    const Goal goal("stencil_1d");
    grade_contract<Stencil>(s);
    moves_at_most(goal, s, 1.15, 1.0);  // a sector on either side of 16
}

TEST_CASE("images: each row of a strip is loaded once", "[.][goal][fast]") {
    const Sizes s = {1, 64, 256, 1, Border::zero};
    const Goal filter("convolve_2d");
    grade_contract<AnyWeights>(s);
    moves_at_most(filter, s, 1.4, 1.0);  // 18 sectors for 16, 16 rows for 14; borders
}

TEST_CASE("images: a product loads no more than that", "[.][goal][fast]") {
    const Sizes s = {1, 64, 256, 1, Border::zero};
    const Goal product("convolve_separable");
    grade_contract<Product>(s);
    moves_at_most(product, s, 1.4, 1.0);
}

namespace {

constexpr int64_t kHuge = int64_t{1} << 31;

/// Expects a message that contains `part`.
template <class Function, class... Arguments>
void refused(const char* name,
             Function function,
             const char* part,
             Arguments... arguments) {
    wb::testing::expect_refused(
        name, part, part, [&] { function(arguments..., nullptr); });
}

template <class T>
T* misaligned(T* pointer) {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(pointer) + 2);
}

/// The same taps with another radius, or another last weight.
Taps with_radius_of(int radius) {
    Taps taps = some_taps(1, 1);
    taps.radius = radius;
    return taps;
}
Taps with_weight(float weight) {
    Taps taps = some_taps(1, 1);
    taps.weight[2] = weight;
    return taps;
}

}  // namespace

TEST_CASE("a stencil: wrong arguments are refused by name") {
    Grader memory("stencil_1d", "wrong arguments");
    float* d = memory.output<float>("d", {64});
    float* e = d + 32;
    float host[8] = {};
    float* null = nullptr;
    const Taps taps = some_taps(1, 1);
    const Border zero = Border::zero;
    const auto refuse = [](const char* part, auto... arguments) {
        refused("stencil_1d", stencil_1d, part, arguments...);
    };
    refuse("n is -1", d, e, -1, taps, zero);
    refuse("n * sizeof(float)", d, e, kHuge * kHuge, taps, zero);
    refuse("in is a null pointer", null, d, 8, taps, zero);
    refuse("out is a null pointer", d, null, 8, taps, zero);
    refuse("in is a host pointer", host, d, 8, taps, zero);
    refuse("out is a host pointer", d, host, 8, taps, zero);
    refuse("in is not aligned", misaligned(d), e, 8, taps, zero);
    refuse("out is not aligned", e, misaligned(d), 8, taps, zero);
    refuse("taps.radius is -1", d, e, 8, with_radius_of(-1), zero);
    refuse("taps.radius is 5", d, e, 8, with_radius_of(5), zero);
    refuse("taps.radius is 2147483647", d, e, 8, with_radius_of(2147483647), zero);
    refuse("taps.weight is", d, e, 8, with_weight(INFINITY), zero);
    refuse("taps.weight is", d, e, 0, with_weight(NAN), zero);
    refuse("border is 3", d, e, 8, taps, static_cast<Border>(3));
    refuse("border is -1", d, e, 0, taps, static_cast<Border>(-1));
}

TEST_CASE("arrays that overlap are refused, neighbours are not") {
    const Taps taps = some_taps(1, 1);
    Grader memory("stencil_1d", "overlap");
    float* d = memory.output<float>("d", {64});
    const auto refuse = [&](const char* part, float* in, float* out) {
        refused("stencil_1d", stencil_1d, part, in, out, 8, taps, Border::zero);
    };
    refuse("out - in in bytes is 0", d, d);
    refuse("out - in in bytes is 28", d, d + 7);
    refuse("out - in in bytes is -28", d + 7, d);
    const Filter filter = {0, {1.0f}};
    refused("convolve_2d",
            convolve_2d,
            "out - in in bytes is 44",
            d,
            d + 11,
            2,
            2,
            3,
            filter,
            Border::zero);
    refused("convolve_separable",
            convolve_separable,
            "out - in in bytes is -44",
            d + 11,
            d,
            2,
            2,
            3,
            taps,
            taps,
            Border::zero);
    for (const int64_t to : {8, 0}) {  // out begins where in ends, and the other way
        Grader grade("stencil_1d", "in and out side by side");
        float* both = grade.in_out("both", {16}, std::vector<float>(16, 2.0f));
        grade.run([&](cudaStream_t stream) {
            const Taps half = {0, {0.5f}};
            stencil_1d(both + 8 - to, both + to, 8, half, Border::zero, stream);
        });
        std::vector<double> expected(16, 2.0);
        std::fill_n(expected.begin() + to, 8, 1.0);
        // A second run would halve what the first one left: nothing else is compared.
        grade.expect("both", expected, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("a filter: wrong arguments are refused by name") {
    Grader memory("convolve_2d", "wrong arguments");
    float* d = memory.output<float>("d", {64});
    float* e = d + 32;
    float host[8] = {};
    float* null = nullptr;
    const Filter one = {0, {1.0f}};
    const Border zero = Border::zero;
    const auto refuse = [](const char* part, auto... arguments) {
        refused("convolve_2d", convolve_2d, part, arguments...);
    };
    refuse("batch is -1", d, e, -1, 2, 2, one, zero);
    refuse("rows is -1", d, e, 1, -1, 2, one, zero);
    refuse("cols is -1", d, e, 1, 2, -1, one, zero);
    refuse("2147483648 * 2147483648 * 1", d, e, kHuge, kHuge, 1, one, zero);
    refuse("tiles is 2147483648", d, e, kHuge, 1, 1, one, zero);
    refuse("tiles is 2147483648", d, e, 1, kHuge * 16, 1, one, zero);
    refuse("tiles is 2147483648", d, e, 1, 1, kHuge * 32, one, zero);
    refuse("in is a null pointer", null, d, 1, 2, 2, one, zero);
    refuse("out is a null pointer", d, null, 1, 2, 2, one, zero);
    refuse("in is a host pointer", host, d, 1, 2, 2, one, zero);
    refuse("out is a host pointer", d, host, 1, 2, 2, one, zero);
    refuse("in is not aligned", misaligned(d), e, 1, 2, 2, one, zero);
    refuse("out is not aligned", e, misaligned(d), 1, 2, 2, one, zero);
    refuse("filter.radius is -1", d, e, 1, 2, 2, Filter{-1, {}}, zero);
    refuse("filter.radius is 5", d, e, 1, 2, 2, Filter{5, {}}, zero);
    Filter last = {4, {}};
    last.weight[80] = NAN;
    refuse("filter.weight is", d, e, 0, 2, 2, last, zero);
    refuse("border is 7", d, e, 1, 2, 2, one, static_cast<Border>(7));
}

TEST_CASE("a product: wrong arguments are refused by name") {
    Grader memory("convolve_separable", "wrong arguments");
    float* d = memory.output<float>("d", {64});
    float* e = d + 32;
    float* null = nullptr;
    const Taps ok = some_taps(1, 1);
    const Border zero = Border::zero;
    const auto refuse = [](const char* part, auto... arguments) {
        refused("convolve_separable", convolve_separable, part, arguments...);
    };
    refuse("batch is -1", d, e, -1, 2, 2, ok, ok, zero);
    refuse("rows is -1", d, e, 1, -1, 2, ok, ok, zero);
    refuse("cols is -1", d, e, 1, 2, -1, ok, ok, zero);
    refuse("2147483648 * 1 * 2147483648", d, e, kHuge, 1, kHuge, ok, ok, zero);
    refuse("tiles is 2147483648", d, e, kHuge, 1, 1, ok, ok, zero);
    refuse("in is a null pointer", null, d, 1, 2, 2, ok, ok, zero);
    refuse("out is not aligned", e, misaligned(d), 1, 2, 2, ok, ok, zero);
    refuse("vertical.radius is 5", d, e, 1, 2, 2, with_radius_of(5), ok, zero);
    refuse("horizontal.radius is -1", d, e, 1, 2, 2, ok, with_radius_of(-1), zero);
    refuse("vertical.radius - horizontal.radius is 1",
           d,
           e,
           1,
           2,
           2,
           ok,
           with_radius_of(0),
           zero);
    refuse("vertical.weight is", d, e, 1, 2, 2, with_weight(NAN), ok, zero);
    refuse("horizontal.weight is", d, e, 1, 2, 2, ok, with_weight(-INFINITY), zero);
    refuse("border is 3", d, e, 1, 2, 2, ok, ok, static_cast<Border>(3));
}
