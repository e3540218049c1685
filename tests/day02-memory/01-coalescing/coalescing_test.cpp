// Grades day02-memory/01-coalescing: copy_strided() and aos_to_soa().
#include "grading.h"

#include <wb/testing/catch.h>
#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_values.h>

using namespace coalescing_grading;

namespace {

std::string in_words(int64_t n, const char* what, int64_t number) {
    return "n = " + std::to_string(n) + ", " + what + " " + std::to_string(number);
}

/// A strided copy within two slices; what lies around the second one stays.
/// @param x  from x[x_start] on, no more elements than are needed
template <class T>
void grade_strided(const std::vector<T>& x,
                   int64_t n,
                   int64_t stride,
                   int64_t x_start,
                   int64_t y_start,
                   const std::string& text) {
    const auto wanted = part(x, x_start, (n - 1) * stride + 1);
    const std::vector<T> before(at(n + 3), T{7});
    const auto expected =
        with_slice(before, y_start, wb::reference::copy_strided(wanted, n, stride));
    for_each_version("copy_strided", copy_strided, [&](auto& name, auto copy) {
        Grader grade(name, text);
        const T* d_x = grade.input("x", x);
        T* d_y = grade.in_out("y", {n + 3}, before);
        grade.run([&](cudaStream_t s) {
            copy(reinterpret_cast<const float*>(d_x + x_start),
                 reinterpret_cast<float*>(d_y + y_start),
                 n,
                 stride,
                 s);
        });
        grade.expect("y", expected, exactly);
    });
}

void grade_strided(int64_t n,
                   int64_t stride,
                   int64_t x_start = 0,
                   int64_t y_start = 0) {
    const int64_t count = x_start + (n - 1) * stride + 1;
    grade_strided(wb::testing::random_normal(count, static_cast<uint64_t>(n)),
                  n,
                  stride,
                  x_start,
                  y_start,
                  in_words(n, "stride", stride));
}

/// Records that begin at any element, and so do the fields.
template <class T>
void grade_records(const std::vector<T>& aos,
                   int64_t n,
                   int num_fields,
                   int64_t aos_start,
                   int64_t soa_start,
                   const std::string& text) {
    const int64_t words = n * num_fields;
    const std::vector<T> before(at(words + 3), T{7});
    const auto expected =
        with_slice(before,
                   soa_start,
                   wb::reference::aos_to_soa(part(aos, aos_start, words), num_fields));
    for_each_version("aos_to_soa", aos_to_soa, [&](auto& name, auto take_apart) {
        Grader grade(name, text);
        const T* d_aos = grade.input("aos", aos);
        T* d_soa = grade.in_out("soa", {words + 3}, before);
        grade.run([&](cudaStream_t s) {
            take_apart(reinterpret_cast<const float*>(d_aos + aos_start),
                       reinterpret_cast<float*>(d_soa + soa_start),
                       n,
                       num_fields,
                       s);
        });
        grade.expect("soa", expected, exactly);
    });
}

void grade_records(int64_t n,
                   int num_fields,
                   int64_t aos_start = 0,
                   int64_t soa_start = 0) {
    grade_records(wb::testing::random_normal(aos_start + n * num_fields, 1),
                  n,
                  num_fields,
                  aos_start,
                  soa_start,
                  in_words(n, "fields", num_fields));
}

/// Two arrays of one allocation that touch; `call` reads one of them, which holds
/// random_normal(read, 1), and writes the other.
template <class Call>
void grade_touching(const std::string& function,
                    int64_t read,
                    const std::vector<double>& expected,
                    Call call) {
    const bool read_first = GENERATE(true, false);
    const auto written = static_cast<int64_t>(expected.size());
    std::vector<float> memory = wb::testing::random_normal(read, 1);
    memory.insert(read_first ? memory.end() : memory.begin(), at(written), 7.0f);
    const int64_t to = read_first ? read : 0;
    const int64_t from = read_first ? 0 : written;
    Grader grade(function,
                 read_first ? "the result behind it" : "the result before it");
    float* d = grade.in_out("memory", {read + written}, memory);
    grade.run([&](cudaStream_t s) { call(d + from, d + to, s); });
    grade.expect("memory", with_slice(memory, to, expected), exactly);
}

}  // namespace

TEST_CASE("a strided copy: one block is enough") {
    grade_strided(GENERATE(as<int64_t>(), 1, 2, 31, 32, 33, 255, 256), GENERATE(1, 2));
}

TEST_CASE("a strided copy: a prime number of elements") {
    grade_strided(GENERATE(as<int64_t>(), 97, 1009, 10007), GENERATE(1, 3, 7));
}

TEST_CASE("a strided copy: sizes, strides and where slices start") {
    static const auto cases =
        wb::testing::Covering()
            .factor("n", {1, 2, 31, 32, 33, 257, 1023, 1024, 1025, 4099})
            .factor("stride", {1, 2, 3, 4, 8, 9, 32, 33, 64})
            .factor("x from", {0, 1, 2, 3})
            .factor("y from", {0, 1, 2, 3})
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_strided(c["n"], c["stride"], c["x from"], c["y from"]);
        }
}

TEST_CASE("a strided copy: more elements than 16 bits count", "[long]") {
    grade_strided(65'541, 2);
}

TEST_CASE("a strided copy: far apart") {
    grade_strided(3, GENERATE(as<int64_t>(), 1000, 65536, 100'003));
}

TEST_CASE("a strided copy: any bits, also those of no number") {
    const int64_t stride = GENERATE(as<int64_t>(), 1, 2);
    grade_strided(wb::testing::special_bits(1099 * stride + 1),
                  1100,
                  stride,
                  0,
                  0,
                  "odd numbers");
}

TEST_CASE("a strided copy: arrays that touch do not overlap") {
    const auto x = wb::testing::random_normal(100, 1);  // to the last one that is read
    grade_touching(
        "copy_strided",
        100,
        wb::reference::copy_strided(x, 34, 3),
        [](const float* x, float* y, cudaStream_t s) { copy_strided(x, y, 34, 3, s); });
}

TEST_CASE("records: arrays that touch do not overlap") {
    grade_touching("aos_to_soa",
                   102,
                   wb::reference::aos_to_soa(wb::testing::random_normal(102, 1), 3),
                   [](const float* aos, float* soa, cudaStream_t s) {
                       aos_to_soa(aos, soa, 34, 3, s);
                   });
}

TEST_CASE("records: one block is enough") {
    grade_records(GENERATE(as<int64_t>(), 1, 2, 31, 32, 33, 255, 256),
                  GENERATE(1, 2, 3, 4));
}

TEST_CASE("records: a prime number of them") {
    grade_records(GENERATE(as<int64_t>(), 97, 1009, 10007), GENERATE(1, 2, 3, 4));
}

TEST_CASE("records: more of them than 16 bits count", "[long]") {
    grade_records(65'541, 3);
}

TEST_CASE("records: sizes, fields and where slices start") {
    static const auto cases =
        wb::testing::Covering()
            .factor("n", {1, 2, 3, 33, 257, 511, 1023, 1024, 1025, 2049, 4099})
            .factor("fields", {1, 2, 3, 4})
            .factor("aos from", {0, 1, 2, 3})
            .factor("soa from", {0, 1, 2, 3})
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_records(
                c["n"], static_cast<int>(c["fields"]), c["aos from"], c["soa from"]);
        }
}

TEST_CASE("records: any bits, also those of no number") {
    const int fields = GENERATE(1, 2, 3, 4);
    grade_records(
        wb::testing::special_bits(100 * fields), 100, fields, 0, 0, "odd numbers");
}

TEST_CASE("records are right whatever order the threads run in") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    wb::testing::shuffle_threads(seed);
    grade_records(3000, 3);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("a strided copy: nothing is kept from call to call") {
    wb::testing::expect_independent([] { grade_strided(300, 2); },
                                    [] { grade_strided(3000, 1); });
}

TEST_CASE("records: nothing is kept from call to call") {
    wb::testing::expect_independent([] { grade_records(300, 3); },
                                    [] { grade_records(3000, 4); });
}

TEST_CASE("a strided copy is queued on the caller's stream") {
    for_each_version("copy_strided", copy_strided, [](auto& name, auto copy) {
        Grader grade(name, "n = 1000");
        const float* d_x = grade.input("x", std::vector<float>(2000));
        float* d_y = grade.output<float>("y", {1000});
        grade.expect_queued([&](cudaStream_t s) { copy(d_x, d_y, 1000, 2, s); });
    });
    Grader("copy_strided", "n = 0").expect_no_work([](cudaStream_t s) {
        copy_strided(nullptr, nullptr, 0, 1, s);
    });
}

TEST_CASE("records are queued on the caller's stream") {
    for_each_version("aos_to_soa", aos_to_soa, [](auto& name, auto take_apart) {
        Grader grade(name, "n = 1000");
        const float* d_aos = grade.input("aos", std::vector<float>(3000));
        float* d_soa = grade.output<float>("soa", {3000});
        grade.expect_queued(
            [&](cudaStream_t s) { take_apart(d_aos, d_soa, 1000, 3, s); });
    });
    Grader("aos_to_soa", "n = 0").expect_no_work([](cudaStream_t s) {
        aos_to_soa(nullptr, nullptr, 0, 3, s);
    });
}
