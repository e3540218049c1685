// Grades day02-memory/01-coalescing: what the functions refuse.
#include "grading.h"

#include <wb/testing/catch.h>

using namespace coalescing_grading;

TEST_CASE("a strided copy: wrong arguments are refused by name") {
    const auto refuse = [](const char* what, const char* part, auto call) {
        wb::testing::expect_refused("copy_strided", what, part, call);
    };
    Grader memory("copy_strided", "wrong arguments");
    float* d = memory.output<float>("d", {64});
    float host[8] = {};
    auto* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(d) + 2);
    constexpr int64_t kHuge = int64_t{1} << 31;
    refuse("n = -1", "n is -1", [&] { copy_strided(d, d, -1, 1, nullptr); });
    refuse("stride = 0", "stride is 0", [&] { copy_strided(d, d, 0, 0, nullptr); });
    refuse("stride = -2", "stride is -2", [&] { copy_strided(d, d, 8, -2, nullptr); });
    refuse("n * stride * 4 = 2^64", "2147483648 * 2147483648 * 4", [&] {
        copy_strided(d, d + 32, kHuge, kHuge, nullptr);
    });
    refuse("x null", "x is a null pointer", [&] {
        copy_strided(nullptr, d, 8, 1, nullptr);
    });
    refuse("y on the host", "y is a host pointer", [&] {
        copy_strided(d, host, 8, 1, nullptr);
    });
    refuse("x misaligned", "x is not aligned", [&] {
        copy_strided(odd, d + 32, 8, 1, nullptr);
    });
    refuse("y misaligned", "y is not aligned", [&] {
        copy_strided(d + 32, odd, 8, 1, nullptr);
    });
    // x[0] to x[21]: y may begin behind it, or end before it, and nowhere else.
    refuse("y is x", "y - x in bytes is 0", [&] { copy_strided(d, d, 8, 3, nullptr); });
    refuse("y on x's last", "y - x in bytes is 84", [&] {
        copy_strided(d, d + 21, 8, 3, nullptr);
    });
    refuse("y's last on x", "y - x in bytes is -28", [&] {
        copy_strided(d + 7, d, 8, 3, nullptr);
    });
}

TEST_CASE("records: wrong arguments are refused by name") {
    const auto refuse = [](const char* what, const char* part, auto call) {
        wb::testing::expect_refused("aos_to_soa", what, part, call);
    };
    Grader memory("aos_to_soa", "wrong arguments");
    float* d = memory.output<float>("d", {64});
    float host[8] = {};
    constexpr int64_t kHuge = int64_t{1} << 60;
    refuse("n = -1", "n is -1", [&] { aos_to_soa(d, d, -1, 3, nullptr); });
    refuse("no fields", "num_fields is 0", [&] { aos_to_soa(d, d, 0, 0, nullptr); });
    refuse("5 fields", "num_fields is 5", [&] { aos_to_soa(d, d, 0, 5, nullptr); });
    refuse("n * 4 * 4 = 2^64", "1152921504606846976 * 4 * 4", [&] {
        aos_to_soa(d, d + 32, kHuge, 4, nullptr);
    });
    refuse("aos on the host", "aos is a host pointer", [&] {
        aos_to_soa(host, d, 8, 1, nullptr);
    });
    refuse("soa null", "soa is a null pointer", [&] {
        aos_to_soa(d, nullptr, 8, 1, nullptr);
    });
    refuse("soa is aos", "soa - aos in bytes is 0", [&] {
        aos_to_soa(d, d, 8, 3, nullptr);
    });
    refuse("they overlap", "soa - aos in bytes is 92", [&] {
        aos_to_soa(d, d + 23, 8, 3, nullptr);
    });
    refuse("they overlap", "soa - aos in bytes is -92", [&] {
        aos_to_soa(d + 23, d, 8, 3, nullptr);
    });
}

TEST_CASE("a copy: wrong arguments are refused by name") {
    const auto refuse = [](const char* what, const char* part, auto call) {
        wb::testing::expect_refused("copy_bytes", what, part, call);
    };
    Grader memory("copy_bytes", "wrong arguments");
    uint8_t* d = memory.output<uint8_t>("d", {64});
    uint8_t host[8] = {};
    refuse("num_bytes = -1", "num_bytes is -1", [&] { copy_bytes(d, d, -1, nullptr); });
    refuse("source null", "source is a null pointer", [&] {
        copy_bytes(nullptr, d, 8, nullptr);
    });
    refuse("destination on the host", "destination is a host pointer", [&] {
        copy_bytes(d, host, 8, nullptr);
    });
    refuse("onto itself", "destination - source in bytes is 0", [&] {
        copy_bytes(d, d, 8, nullptr);
    });
    refuse("into the source", "destination - source in bytes is 7", [&] {
        copy_bytes(d, d + 7, 8, nullptr);
    });
    refuse("onto the source", "destination - source in bytes is -7", [&] {
        copy_bytes(d + 7, d, 8, nullptr);
    });
}
