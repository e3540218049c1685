// Grades day07-tuning/02-profiling: six diagnoses, six results, and whether what was
// wrong with the given kernels is gone.
#include "profiling.h"

#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/large.h>
#include <wb/testing/random.h>

#include <string>
#include <vector>

#include "grade_diagnosis.h"
#include "healed.h"
#include "reference.h"

namespace {

using wb::testing::Grader;
using wb::testing::random_normal;

using Run1 = void(int64_t, int, const float*, float*, cudaStream_t);
using Run2 = void(int64_t, int64_t, const float*, float*, cudaStream_t);
using Run3 = void(int64_t, int64_t, const float*, const float*, float*, cudaStream_t);
using RunE = void(int64_t, bool, const float*, float*, cudaStream_t);
using RunF = void(int64_t, int64_t, float, const float*, float*, cudaStream_t);

std::string text_of(const char* name, int64_t value) {
    return std::string(name) + " = " + std::to_string(value);
}

void judge(Grader& grade, const Reference& right) {
    grade.expect("y", right.values, [&](int64_t i) {
        return right.bounds[static_cast<size_t>(i)];
    });
}

void run_a(const char* name, Run1* function, int64_t n, int steps) {
    const auto x = random_normal(n, 1);
    Grader grade(name, text_of("n", n) + ", " + text_of("steps", steps));
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {4, n});
    grade.run([&](cudaStream_t s) { function(n, steps, d_x, d_y, s); });
    judge(grade, reference_a(steps, x));
}

void run_b(const char* name, Run2* function, int64_t n, int64_t radius) {
    const auto x = random_normal(n, 2);
    Grader grade(name, text_of("n", n) + ", " + text_of("radius", radius));
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {n});
    grade.run([&](cudaStream_t s) { function(n, radius, d_x, d_y, s); });
    judge(grade, reference_b(radius, x));
}

void run_c(const char* name, Run3* function, int64_t rows, int64_t cols) {
    const auto scale = random_normal(cols, 3);
    const auto x = random_normal(rows * cols, 4);
    Grader grade(name, text_of("rows", rows) + ", " + text_of("cols", cols));
    const float* d_scale = grade.input("scale", scale);
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {rows, cols});
    grade.run([&](cudaStream_t s) { function(rows, cols, d_scale, d_x, d_y, s); });
    judge(grade, reference_c(scale, x));
}

void run_d(const char* name, Run2* function, int64_t batch, int64_t length) {
    const auto x = random_normal(batch * length, 5);
    Grader grade(name, text_of("batch", batch) + ", " + text_of("length", length));
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {batch, length});
    grade.run([&](cudaStream_t s) { function(batch, length, d_x, d_y, s); });
    judge(grade, reference_d(length, x));
}

/// @param offset  is added to all samples
void run_e(const char* name, RunE* function, int64_t n, bool variance, float offset) {
    auto x = random_normal(n > 0 ? n + kWindow - 1 : 0, 6);
    for (float& sample : x)
        sample += offset;
    Grader grade(name,
                 text_of("n", n) + (variance ? ", variance" : ", change") +
                     (offset != 0.0f ? " of samples around 1000" : ""));
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {n});
    grade.run([&](cudaStream_t s) { function(n, variance, d_x, d_y, s); });
    judge(grade, reference_e(variance, x));
}

void run_f(const char* name, RunF* function, int64_t rows, int64_t cols, float keep) {
    const auto x = random_normal(rows * cols, 7);
    Grader grade(name, text_of("rows", rows) + ", " + text_of("cols", cols));
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {rows, cols});
    grade.run([&](cudaStream_t s) { function(rows, cols, keep, d_x, d_y, s); });
    judge(grade, reference_f(cols, keep, x));
}

/// Arrays for launches of which nobody looks at the result.
class Arrays {
 public:
    explicit Arrays(int64_t elements) {
        const size_t bytes = static_cast<size_t>(elements) * sizeof(float);
        CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&x), bytes));
        CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&y), bytes));
        CUDA_CHECK(cudaMemset(x, 0x3C, bytes));  // 0.0115 each
    }
    ~Arrays() {
        cudaFree(x);
        cudaFree(y);
    }
    Arrays(const Arrays&) = delete;
    Arrays& operator=(const Arrays&) = delete;

    float* x = nullptr;
    float* y = nullptr;
};

/// The launches on which a disease shows for certain: `call` is given x, y, a stream
/// and the function.
template <class Function, class Call>
void expect_healed(char letter, Function* mystery, Function* mended, Call call) {
#ifdef SIMT_CPU
    constexpr int64_t kElements = 1 << 16;
#else
    constexpr int64_t kElements = (1 << 24) + kWindow;
#endif
    const Arrays arrays(kElements);
    const auto launch = [&](Function* function) {
        return [&arrays, function, call](cudaStream_t stream) {
            call(function, arrays.x, arrays.y, stream);
        };
    };
    const std::string name = std::string("mended_") + letter;
    expect_healthy_launch(name, launch(mended));
#ifdef SIMT_CPU
    (void)mystery;
#else
    expect_faster(letter, launch(mystery), launch(mended));
#endif
}

// Sizes for expect_healed(): the simulator only captures, a GPU is to be busy.
#ifdef SIMT_CPU
constexpr int64_t kMany = 1 << 14;
constexpr int64_t kEdge = 128;
constexpr int64_t kLength = 256;
#else
constexpr int64_t kMany = 1 << 23;
constexpr int64_t kEdge = 4096;
constexpr int64_t kLength = 2048;
#endif

}  // namespace

TEST_CASE("the disease of mystery_a") {
    expect_disease('a');
}

TEST_CASE("the disease of mystery_b") {
    expect_disease('b');
}

TEST_CASE("the disease of mystery_c") {
    expect_disease('c');
}

TEST_CASE("the disease of mystery_d") {
    expect_disease('d');
}

TEST_CASE("the disease of mystery_e") {
    expect_disease('e');
}

TEST_CASE("the disease of mystery_f") {
    expect_disease('f');
}

TEST_CASE("mended_a computes the same") {
    const auto n = GENERATE(as<int64_t>(), 0, 1, 31, 32, 33, 257, 1021);
    run_a("mended_a", mended_a, n, GENERATE(0, 1, 20));
}

TEST_CASE("mended_b computes the same") {
    const auto n = GENERATE(as<int64_t>(), 0, 1, 31, 32, 33, 65, 1021);
    run_b("mended_b", mended_b, n, GENERATE(as<int64_t>(), 0, 1, 8, 100));
}

TEST_CASE("mended_b with the largest radius") {
    run_b("mended_b", mended_b, 131, kMaxRadius);
}

TEST_CASE("mended_c computes the same") {
    const auto rows = GENERATE(as<int64_t>(), 0, 1, 31, 32, 33);
    run_c("mended_c", mended_c, rows, GENERATE(as<int64_t>(), 0, 1, 31, 33, 257));
}

TEST_CASE("mended_d computes the same") {
    const auto batch = GENERATE(as<int64_t>(), 0, 1, 5);
    run_d("mended_d", mended_d, batch, GENERATE(as<int64_t>(), 0, 1, 31, 33, 257, 521));
}

TEST_CASE("mended_e computes the same") {
    const auto n = GENERATE(as<int64_t>(), 0, 1, 31, 32, 33, 257, 521);
    run_e("mended_e", mended_e, n, GENERATE(false, true), 0.0f);
}

TEST_CASE("mended_e far from zero") {
    run_e("mended_e", mended_e, 100, GENERATE(false, true), 1000.0f);
}

TEST_CASE("mended_f computes the same") {
    const auto rows = GENERATE(as<int64_t>(), 0, 1, 31, 33, 127, 129, 257);
    run_f(
        "mended_f", mended_f, rows, GENERATE(as<int64_t>(), 0, 1, 2, 31, 34, 64), 0.7f);
}

TEST_CASE("mended_f keeps nothing, or nearly everything") {
    run_f("mended_f", mended_f, 33, 32, GENERATE(0.0f, 0.999f));
}

TEST_CASE("nothing is kept from call to call") {
    const auto all = [](int64_t n, int steps) {
        run_a("mended_a", mended_a, n, steps);
        run_b("mended_b", mended_b, n, 8 * steps);
        run_c("mended_c", mended_c, n, 31 * steps);
        run_d("mended_d", mended_d, steps, 8 * n);
        run_e("mended_e", mended_e, n, steps == 1, 0.0f);
        run_f("mended_f", mended_f, n, 32 * steps, 0.7f);
    };
    wb::testing::expect_independent([&] { all(33, 1); }, [&] { all(65, 2); });
}

TEST_CASE("many elements", "[large]") {
    run_a("mended_a", mended_a, 150'011, 3);
    run_b("mended_b", mended_b, 200'003, 16);
    run_c("mended_c", mended_c, 509, 521);
    run_d("mended_d", mended_d, 61, 2'003);
    run_e("mended_e", mended_e, 200'003, false, 0.0f);
    run_f("mended_f", mended_f, 5'003, 32, 0.9f);
}

TEST_CASE("sizes past 4096, along each dimension") {
    run_a("mended_a", mended_a, 33, 4099);
    run_c("mended_c", mended_c, 4099, 5);
    run_c("mended_c", mended_c, 5, 4099);
    run_c("mended_c", mended_c, 4099, 1);
    run_d("mended_d", mended_d, 4099, 5);
    run_d("mended_d", mended_d, 2, 8209);
}

TEST_CASE("more than 2^31 elements", "[large][serial]") {
    (void)result_of([] { return diagnose(); });  // of no use without it
#ifdef SIMT_CPU
    WB_SKIP("43 GB of memory and 2^33 threads are too much for the simulator");
#else
    // Zeros, but for the first element, the last one, and one that no int can name.
    constexpr int64_t kN = (int64_t{1} << 31) + 64;
    const std::vector<int64_t> places = {0, int64_t{1} << 31, kN - 1};
    wb::testing::LargeArrays arrays(kN + kWindow, 4 * kN);
    if (!arrays.has_memory()) WB_SKIP("needs 44 GB of free GPU memory");
    arrays.set(0, 1.0f);
    arrays.set(int64_t{1} << 31, 2.0f);
    arrays.set(kN - 1, 5.0f);
    const float* x = arrays.x;
    float* y = arrays.y;
    const std::string inputs = text_of("n", kN);
    arrays.expect("mended_a",
                  inputs,
                  {0, kN - 1, 2 * kN - 1, 3 * kN, 4 * kN - 1},
                  {1.0, 5.0, 5.0, 1.0, 5.0},
                  [=](cudaStream_t s) { mended_a(kN, 1, x, y, s); });
    arrays.expect("mended_b", inputs, places, {1.0, 2.0, 5.0}, [=](cudaStream_t s) {
        mended_b(kN, 0, x, y, s);
    });
    Grader memory("mended_c", inputs);
    const float* scale = memory.input("scale", std::vector<float>(64, 1.0f));
    arrays.expect("mended_c",
                  "rows = 2^25 + 1, cols = 64",
                  places,
                  {1.0, 2.0, 5.0},
                  [=](cudaStream_t s) { mended_c(kN / 64, 64, scale, x, y, s); });
    arrays.expect("mended_d",
                  "batch = 2^25 + 1, length = 64",
                  places,
                  {63.0 / 64.0, 2.0 - 7.0 / 64.0, 5.0 - 7.0 / 64.0},
                  [=](cudaStream_t s) { mended_d(kN / 64, 64, x, y, s); });
    arrays.expect("mended_e", inputs, places, {-1.0, -2.0, -5.0}, [=](cudaStream_t s) {
        mended_e(kN, false, x, y, s);
    });
    arrays.expect("mended_f",
                  "rows = 2^25 + 1, cols = 64, keep = 0",
                  places,
                  {1.0, 2.0, 5.0},
                  [=](cudaStream_t s) { mended_f(kN / 64, 64, 0.0f, x, y, s); });
#endif
}

TEST_CASE("no elements: nothing is launched") {
    const auto expect_no_work = [](const char* name, auto call) {
        Grader(name, "no elements").expect_no_work(call);
    };
    float* none = nullptr;
    expect_no_work("mended_a", [=](auto s) { mended_a(0, 5, none, none, s); });
    expect_no_work("mended_b", [=](auto s) { mended_b(0, 5, none, none, s); });
    expect_no_work("mended_e", [=](auto s) { mended_e(0, false, none, none, s); });
    const int64_t rows = GENERATE(0, 5);
    const int64_t cols = 5 - rows;
    Grader memory("mended_c", "no elements");
    const float* scale = memory.input("scale", std::vector<float>(5, 1.0f));
    expect_no_work("mended_c",
                   [=](auto s) { mended_c(rows, cols, scale, none, none, s); });
    expect_no_work("mended_d", [=](auto s) { mended_d(rows, cols, none, none, s); });
    expect_no_work("mended_f",
                   [=](auto s) { mended_f(rows, cols, 0.5f, none, none, s); });
}

TEST_CASE("mended_a is healed", "[serial]") {
    expect_healed('a', mystery_a, mended_a, [](auto* f, auto x, auto y, auto stream) {
        f(kMany / 4, 64, x, y, stream);
    });
}

TEST_CASE("mended_b is healed", "[serial]") {
    expect_healed('b', mystery_b, mended_b, [](auto* f, auto x, auto y, auto stream) {
        f(kMany, 8, x, y, stream);
    });
}

TEST_CASE("mended_c is healed", "[serial]") {
    expect_healed('c', mystery_c, mended_c, [](auto* f, auto x, auto y, auto stream) {
        f(kEdge, kEdge, x, x, y, stream);
    });
}

TEST_CASE("mended_d is healed", "[serial]") {
    expect_healed('d', mystery_d, mended_d, [](auto* f, auto x, auto y, auto stream) {
        f(kMany / kLength, kLength, x, y, stream);
    });
}

TEST_CASE("mended_e is healed", "[serial][large]") {
    expect_healed('e', mystery_e, mended_e, [](auto* f, auto x, auto y, auto stream) {
        f(kMany, false, x, y, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("its time is taken on a GPU only; nothing else of it is graded here");
#endif
}

TEST_CASE("mended_f is healed", "[serial]") {
    expect_healed('f', mystery_f, mended_f, [](auto* f, auto x, auto y, auto stream) {
        f(kMany / 32, 32, 0.7f, x, y, stream);
    });
}

TEST_CASE("the counters of mended_a", "[.][goal]") {
    expect_no_waste("mended_a", [] { run_a("mended_a", mended_a, 1024, 20); });
}

TEST_CASE("the counters of mended_b", "[.][goal]") {
    expect_no_waste("mended_b", [] { run_b("mended_b", mended_b, 1024, 8); });
}

TEST_CASE("the counters of mended_c", "[.][goal]") {
    expect_no_waste("mended_c", [] { run_c("mended_c", mended_c, 64, 64); });
}

TEST_CASE("the counters of mended_d", "[.][goal]") {
    expect_no_waste("mended_d", [] { run_d("mended_d", mended_d, 4, 2048); });
}

TEST_CASE("the counters of mended_e", "[.][goal]") {
    expect_no_waste("mended_e", [] { run_e("mended_e", mended_e, 2048, false, 0.0f); });
}

TEST_CASE("the counters of mended_f", "[.][goal]") {
    expect_no_waste("mended_f", [] {
        run_f("mended_f", mended_f, 256, 32, 0.7f);
        run_f("mended_f", mended_f, 256, 31, 0.7f);
    });
}

TEST_CASE("the given kernels compute what they say") {
    (void)result_of([] { return diagnose(); });  // of no use without it
    run_a("mystery_a", mystery_a, 300, 10);
    run_b("mystery_b", mystery_b, 300, 40);
    run_c("mystery_c", mystery_c, 33, 65);
    run_d("mystery_d", mystery_d, 3, 300);
    run_e("mystery_e", mystery_e, 300, GENERATE(false, true), 0.0f);
    run_f("mystery_f", mystery_f, 130, 32, 0.7f);
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    const auto refuse = [](const char* function, const char* part, auto call) {
        expect_refused(function, part, part, call);
    };
    float* none = nullptr;
    refuse("mended_a", "steps is -1", [=] { mended_a(4, -1, none, none, nullptr); });
    refuse("mended_b", "radius is 6001", [=] {
        mended_b(4, kMaxRadius + 1, none, none, nullptr);
    });
    refuse(
        "mended_c", "cols is -1", [=] { mended_c(4, -1, none, none, none, nullptr); });
    refuse("mended_d", "batch is -1", [=] { mended_d(-1, 4, none, none, nullptr); });
    refuse("mended_e", "n is -5", [=] { mended_e(-5, true, none, none, nullptr); });
    refuse(
        "mended_f", "cols is 65", [=] { mended_f(4, 65, 0.5f, none, none, nullptr); });
    refuse("mended_f", "keep is 1", [=] { mended_f(4, 4, 1.0f, none, none, nullptr); });
    refuse("mended_a", "n is -1", [=] { mended_a(-1, 1, none, none, nullptr); });
    refuse("mended_b", "n is -1", [=] { mended_b(-1, 1, none, none, nullptr); });
    refuse("mended_b", "radius is -1", [=] { mended_b(4, -1, none, none, nullptr); });
    refuse(
        "mended_c", "rows is -1", [=] { mended_c(-1, 4, none, none, none, nullptr); });
    refuse("mended_d", "length is -1", [=] { mended_d(4, -1, none, none, nullptr); });
    refuse(
        "mended_f", "rows is -1", [=] { mended_f(-1, 4, 0.5f, none, none, nullptr); });
    refuse(
        "mended_f", "cols is -1", [=] { mended_f(4, -1, 0.5f, none, none, nullptr); });
    refuse("mended_f", "keep is -0.5", [=] {
        mended_f(4, 4, -0.5f, none, none, nullptr);
    });
    refuse("mended_f", "keep is", [=] { mended_f(4, 4, NAN, none, none, nullptr); });
    Grader memory("mended_a", "wrong arguments");
    float* y = memory.output<float>("y", {1024});
    const char* null = "y is a null pointer";
    refuse("mended_a", null, [=] { mended_a(4, 1, y, none, nullptr); });
    refuse("mended_b", null, [=] { mended_b(4, 1, y, none, nullptr); });
    refuse("mended_c", null, [=] { mended_c(4, 4, y, y, none, nullptr); });
    refuse("mended_d", null, [=] { mended_d(4, 4, y, none, nullptr); });
    refuse("mended_e", null, [=] { mended_e(4, true, y, none, nullptr); });
    refuse("mended_f", null, [=] { mended_f(4, 4, 0.5f, y, none, nullptr); });
    refuse("mended_c", "scale is a null pointer", [=] {
        mended_c(4, 4, none, y, y + 64, nullptr);
    });
    null = "x is a null pointer";
    refuse("mended_a", null, [=] { mended_a(4, 1, none, y, nullptr); });
    refuse("mended_b", null, [=] { mended_b(4, 1, none, y, nullptr); });
    refuse("mended_c", null, [=] { mended_c(4, 4, y, none, y, nullptr); });
    refuse("mended_d", null, [=] { mended_d(4, 4, none, y, nullptr); });
    refuse("mended_e", null, [=] { mended_e(4, true, none, y, nullptr); });
    refuse("mended_f", null, [=] { mended_f(4, 4, 0.5f, none, y, nullptr); });
}
