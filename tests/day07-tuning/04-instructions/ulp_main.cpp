// day07_instructions_ulp: how wrong is each function, over all floats?
//
//     day07_instructions_ulp [--json ulp_errors.json]
//
// A line for each function and range of arguments: the largest distance from the
// correctly rounded result, and where it is.
#include "instructions.h"

#include <wb/bench/array.h>
#include <wb/bench/json.h>
#include <wb/bench/machine.h>
#include <wb/exercise.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bits.h"
#include "given.h"

using namespace wb::bench;

namespace {

/// Arguments x with from <= |x| < to, of the signs named.
struct Range {
    const char* name;
    float from;
    float to;
    const char* signs;  ///< "+", "-" or "+-"
};

struct Named {
    Function function;
    const char* name;
    const std::vector<Range>& ranges;
};

constexpr float kInfinity = INFINITY;
constexpr float kSmallest = 0x1p-126f;  // the smallest normal number

const std::vector<Range> kExpRanges = {
    {"0..1", 0.0f, 1.0f, "+-"},
    {"1..8", 1.0f, 8.0f, "+-"},
    {"8..32", 8.0f, 32.0f, "+-"},
    {"32..87", 32.0f, 87.0f, "+-"},
    {"87..88", 87.0f, 88.0f, "+"},
    {"subnormal_result", 87.34f, 104.0f, "-"},
};
const std::vector<Range> kExp2Ranges = {
    {"0..1", 0.0f, 1.0f, "+-"},
    {"1..126", 1.0f, 126.0f, "+-"},
    {"126..128", 126.0f, 128.0f, "+"},
    {"subnormal_result", 126.0001f, 150.0f, "-"},
};
const std::vector<Range> kLogRanges = {
    {"subnormal", 0x1p-149f, kSmallest, "+"},
    {"to_0.5", kSmallest, 0.5f, "+"},
    {"0.5..0.9", 0.5f, 0.9f, "+"},
    {"0.9..1.1", 0.9f, 1.1f, "+"},
    {"1.1..2", 1.1f, 2.0f, "+"},
    {"from_2", 2.0f, kInfinity, "+"},
};
const std::vector<Range> kSinRanges = {
    {"to_0.001", 0.0f, 0.001f, "+-"},
    {"0.001..0.1", 0.001f, 0.1f, "+-"},
    {"0.1..3", 0.1f, 3.0f, "+-"},
    {"3..100", 3.0f, 100.0f, "+-"},
    {"100..100000", 100.0f, 1e5f, "+-"},
    {"from_100000", 1e5f, kInfinity, "+-"},
};
const std::vector<Range> kReciprocalRanges = {
    {"subnormal", 0x1p-149f, kSmallest, "+-"},
    {"normal", kSmallest, 0x1p126f, "+-"},
    {"from_2^126", 0x1p126f, kInfinity, "+-"},
};
const std::vector<Range> kRsqrtRanges = {
    {"subnormal", 0x1p-149f, kSmallest, "+"},
    {"normal", kSmallest, kInfinity, "+"},
};

const std::vector<Named> kFunctions = {
    {Function::accurate_exp, "expf", kExpRanges},
    {Function::fast_exp, "__expf", kExpRanges},
    {Function::own_exp, "quick_exp", kExpRanges},
    {Function::accurate_exp2, "exp2f", kExp2Ranges},
    {Function::fast_exp2, "ex2.approx.ftz", kExp2Ranges},
    {Function::accurate_log, "logf", kLogRanges},
    {Function::fast_log, "__logf", kLogRanges},
    {Function::accurate_sin, "sinf", kSinRanges},
    {Function::fast_sin, "__sinf", kSinRanges},
    {Function::accurate_reciprocal, "division", kReciprocalRanges},
    {Function::fast_reciprocal, "__fdividef", kReciprocalRanges},
    {Function::accurate_rsqrt, "one_over_sqrtf", kRsqrtRanges},
    {Function::fast_rsqrt, "rsqrtf", kRsqrtRanges},
};

/// The worst of count floats from `first` on.
unsigned long long worst_of(Function function, uint32_t first, uint64_t count) {
    const Array<unsigned long long> worst(1);
    worst_error(function, first, count, worst.data(), nullptr);
    return worst.at(0);
}

/// The worst of a range, at most `most` floats for each sign; 0 if there are none.
unsigned long long worst_in(Function function, const Range& range, uint64_t most) {
    unsigned long long worst = 0;
    for (const char* sign = range.signs; *sign != '\0'; ++sign) {
        const uint32_t first = bits_of_float(range.from);
        const uint64_t count = bits_of_float(range.to) - first;
        const uint32_t sign_bit = *sign == '-' ? 0x80000000u : 0u;
        worst = std::max(worst,
                         worst_of(function, first | sign_bit, std::min(count, most)));
    }
    return worst;
}

/// Prints a row, and returns it.
Json row_of(const Named& named, const std::string& range, unsigned long long worst) {
    const auto ulp = static_cast<uint32_t>(worst >> 32);
    const float at = float_of_bits(0xFFFFFFFFu - static_cast<uint32_t>(worst));
    std::printf("%-16s %-18s %10u   at %.9g\n",
                named.name,
                range.c_str(),
                ulp,
                static_cast<double>(at));
    Json row{{"function", named.name}, {"range", range}, {"max_ulp", ulp}};
    if (ulp > 0) row["at"] = static_cast<double>(at);
    return row;
}

}  // namespace

int main(int argc, char** argv) {
    const bool has_file = argc == 3 && std::strcmp(argv[1], "--json") == 0;
    if (argc != 1 && !has_file) {
        std::fprintf(stderr, "usage: day07_instructions_ulp [--json FILE]\n");
        return 2;
    }
    try {
        const Machine machine = describe_machine();
        if (machine.simulated)
            std::puts(
                "no GPU: a sample, and the simulator's functions are those of the "
                "C library");
        const uint64_t most = machine.simulated ? 512 : UINT64_MAX;
        std::printf("%-16s %-18s %10s\n", "function", "|x|", "ULP");
        Json rows = Json::array();
        for (const Named& named : kFunctions)
            for (const Range& range : named.ranges)
                rows.push_back(
                    row_of(named, range.name, worst_in(named.function, range, most)));
        if (!has_file) return 0;
        if (machine.simulated) {
            std::printf("nothing is written to %s\n", argv[2]);
            return 0;
        }
        write_json(
            argv[2],
            {{"what",
              "largest distance from the correctly rounded result, in ULP, over all "
              "floats whose magnitude is in the range"},
             {"machine", {{"gpu", machine.gpu}, {"cuda", machine.cuda}}},
             {"date", today()},
             {"rows", rows}});
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
