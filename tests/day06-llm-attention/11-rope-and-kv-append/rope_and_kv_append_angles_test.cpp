// Grades day06-llm-attention/11-rope-and-kv-append: the table of angles.
#include "frequencies.h"
#include "grading.h"

#include <bit>

using namespace rope_grading;

namespace {

/// Every version of rope_angles(), against cosine and sine in double.
void grade_angles(const std::vector<double>& frequencies,
                  double magnitude,
                  int64_t rows,
                  const std::string& text) {
    const auto pairs = static_cast<int64_t>(frequencies.size());
    const auto exact = wb::reference::rope_angles(frequencies, magnitude, rows);
    for (const auto& [name, idea, run] :
         wb::implementations("rope_angles", rope_angles)) {
        Grader grade(name, text);
        // One position has angles of 0 for any frequencies. So they are given as bits,
        // which the grader does not alter.
        std::vector<int64_t> bits;
        for (const double frequency : frequencies)
            bits.push_back(std::bit_cast<int64_t>(frequency));
        const double* const d_frequencies =
            rows > 1
                ? grade.input("frequencies", frequencies)
                : reinterpret_cast<const double*>(grade.input("frequencies", bits));
        auto* const angles =
            grade.output<float>("angles", {rows, pairs, 2}, wb::testing::Begin::pairs);
        grade.run([&, run = run](cudaStream_t stream) {
            // Nothing belongs to an address: neither a size nor the magnitude.
            auto* const table = reinterpret_cast<float2*>(angles);
            if (rows < 60)
                run(d_frequencies,
                    (pairs + 1) / 2,
                    magnitude + 1.0,
                    (rows + 1) / 2,
                    table,
                    stream);
            run(d_frequencies, pairs, magnitude, rows, table, stream);
        });
        grade.expect("angles", exact, [&](int64_t i) {
            const double turned =
                static_cast<double>(i / 2 / pairs) * frequencies[at(i / 2 % pairs)];
            return 0x1p-24 * std::abs(exact[at(i)]) +
                   std::abs(magnitude) * (0x1p-50 + 0x1p-52 * turned);
        });
    }
}

}  // namespace

TEST_CASE("angles: one position, one pair") {
    grade_angles({1.0}, 1.0, 1, "rows = 1, pairs = 1");
}

TEST_CASE("angles: rows and pairs that nothing divides") {
    const auto R = GENERATE(as<int64_t>(), 2, 10, 62, 64, 130, 264);
    const auto rows = GENERATE(as<int64_t>(), 31, 32, 33, 101);
    grade_angles(
        rope_frequencies({R}),
        1.0,
        rows,
        "rows = " + std::to_string(rows) + ", pairs = " + std::to_string(R / 2));
}

TEST_CASE("angles: a magnitude, and frequencies in any order") {
    grade_angles({0.5, 3.0, 0.0, 1e-4, 0.25, 1.0}, 1.1386294361119891, 50, "YaRN's");
    grade_angles({0.1, 0.7}, -2.5, 40, "a negative magnitude");
    grade_angles({0.1, 0.7}, 0.0, 3, "a magnitude of 0");
}

TEST_CASE("angles: positions where a float has lost its digits") {
    // The last positions have angles of 100,000 radians and more.
    const int64_t rows = 70'003;
    grade_angles({7.3, 0.9}, 1.0, rows, "70,003 positions");
}

TEST_CASE("angles: more pairs than 1024, and more numbers than 2^20") {
    if (wb::testing::is_watched()) return;
    std::vector<double> frequencies;
    for (int j = 0; j < 1031; ++j)
        frequencies.push_back(std::exp2(-j / 100.0));
    grade_angles(frequencies, 1.0, 1030, "rows = 1030, pairs = 1031");
}

TEST_CASE("angles: more pairs than 16 bits count") {
    if (wb::testing::is_watched()) return;
    std::vector<double> frequencies;
    for (int j = 0; j < 65'539; ++j)
        frequencies.push_back(std::exp2(-j / 10'000.0));
    grade_angles(frequencies, 1.0, 2, "rows = 2, pairs = 65,539");
}

TEST_CASE("angles: positions past 2^24, which a float does not tell apart", "[long]") {
    if (wb::testing::is_watched()) return;
    grade_angles({0.7}, 1.0, (int64_t{1} << 24) + 70, "2^24 + 70 positions");
}

TEST_CASE("angles: no positions or no pairs, no work") {
    Grader grade("rope_angles", "rows = 0, or pairs = 0");
    const double* const f = grade.input("frequencies", std::vector<double>{1.0});
    auto* const d = grade.output<float>("angles", {8});
    auto* const angles = reinterpret_cast<float2*>(d);
    grade.expect_no_work([&](cudaStream_t s) { rope_angles(f, 1, 1.0, 0, angles, s); });
    grade.expect_no_work(
        [&](cudaStream_t s) { rope_angles(nullptr, 0, 1.0, 3, nullptr, s); });
}

TEST_CASE("angles: wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    Grader grade("rope_angles", "wrong arguments");
    const double* const f = grade.input("frequencies", std::vector<double>(8, 1.0));
    auto* const d = reinterpret_cast<float2*>(grade.output<float>("angles", {64}));
    const auto refuse = [&](const char* part, auto call) {
        expect_refused("rope_angles", part, part, call);
    };
    refuse("pairs is -1", [&] { rope_angles(f, -1, 1.0, 2, d, nullptr); });
    refuse("rows is -2", [&] { rope_angles(f, 1, 1.0, -2, d, nullptr); });
    refuse("rows is 2147483648",
           [&] { rope_angles(f, 1, 1.0, int64_t{1} << 31, d, nullptr); });
    const double nan = std::numeric_limits<double>::quiet_NaN();
    refuse("magnitude is", [&] { rope_angles(f, 1, nan, 2, d, nullptr); });
    refuse("frequencies is a null pointer",
           [&] { rope_angles(nullptr, 1, 1.0, 2, d, nullptr); });
    refuse("angles is a null pointer",
           [&] { rope_angles(f, 1, 1.0, 2, nullptr, nullptr); });
    const double host[8] = {};
    refuse("frequencies is a host pointer",
           [&] { rope_angles(host, 1, 1.0, 2, d, nullptr); });
    refuse("angles - frequencies", [&] {
        rope_angles(reinterpret_cast<const double*>(d + 3), 1, 1.0, 4, d, nullptr);
    });
}

// The helpers of frequencies.h are given, and right.
TEST_CASE("angles: of a model, and stretched") {
    const auto plain = rope_frequencies({64});
    grade_angles(plain, 1.0, 33, "a model's");
    CHECK(plain.size() == 32);
    CHECK(plain[0] == 1.0);
    CHECK(std::abs(plain[16] - 0.01) < 1e-12);
    RopeModel model{64, 10000.0, RopeScaling::linear, 8.0};
    const auto linear = rope_frequencies(model);
    for (std::size_t j = 0; j < 32; ++j)
        CHECK(std::abs(linear[j] - plain[j] / 8.0) < 1e-15);
    model.scaling = RopeScaling::ntk;
    const auto ntk = rope_frequencies(model);
    CHECK(ntk[0] == 1.0);
    CHECK(std::abs(ntk[31] - plain[31] / 8.0) < 1e-12);
    model.scaling = RopeScaling::yarn;
    const auto yarn = rope_frequencies(model);
    grade_angles(yarn, rope_magnitude(model), 33, "the model's, by YaRN");
    CHECK(yarn[0] == plain[0]);                                   // 652 turns in 4096
    CHECK(std::abs(yarn[31] - plain[31] / 8.0) < 1e-15);          // less than one
    CHECK((yarn[12] < plain[12] && yarn[12] > plain[12] / 8.0));  // 20 turns
    CHECK(std::abs(rope_magnitude(model) - 1.2079441541679836) < 1e-15);
    CHECK(rope_magnitude({64}) == 1.0);
    CHECK(rope_frequencies({0}).empty());
    CHECK_THROWS_AS(rope_frequencies({7}), wb::InvalidArgument);
    model.factor = 0.5;
    CHECK_THROWS_AS(rope_frequencies(model), wb::InvalidArgument);
}
