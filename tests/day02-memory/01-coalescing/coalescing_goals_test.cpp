// Grades day02-memory/01-coalescing: what the accesses cost, and sizes beyond 32 bits.
#include "grading.h"

#include <wb/testing/catch.h>
#include <wb/testing/goal.h>
#include <wb/testing/large.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

using namespace coalescing_grading;
using wb::testing::Goal;

namespace {

/// What was counted since the goal began; zeros on a GPU, where no goal is counted.
struct Counted {
    uint64_t load_requests = 0;
    uint64_t load_sectors = 0;
    uint64_t store_requests = 0;
    uint64_t store_sectors = 0;
};

Counted counted() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return {c.global_load.requests,
            c.global_load.sectors,
            c.global_store.requests,
            c.global_store.sectors};
#else
    return {};
#endif
}

/// Misses a goal if there is more of something than is allowed.
void at_most(const Goal& goal, const char* what, uint64_t count, uint64_t allowed) {
    goal.require(count <= allowed,
                 std::to_string(count) + " " + what + ", " + std::to_string(allowed) +
                     " would do");
}

void copy_strided_once(int64_t n, int64_t stride) {
    const auto x = wb::testing::random_normal((n - 1) * stride + 1, 1);
    Grader grade("copy_strided", "stride " + std::to_string(stride));
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {n});
    grade.run([&](cudaStream_t s) { copy_strided(d_x, d_y, n, stride, s); });
    grade.expect("y", wb::reference::copy_strided(x, n, stride), exactly);
}

void copy_bytes_once(int64_t num_bytes, int64_t from, int64_t to) {
    const auto source = random_bytes(num_bytes + from, 1);
    const auto moved = part(source, from, num_bytes);
    std::vector<double> expected(at(to), 0.0);
    expected.insert(expected.end(), moved.begin(), moved.end());
    Grader grade(
        "copy_bytes",
        "from byte " + std::to_string(from) + " to byte " + std::to_string(to));
    const uint8_t* d_source = grade.input("source", source);
    uint8_t* d_destination = grade.in_out(
        "destination", {to + num_bytes}, std::vector<uint8_t>(at(to + num_bytes)));
    grade.run([&](cudaStream_t s) {
        copy_bytes(d_source + from, d_destination + to, num_bytes, s);
    });
    grade.expect("destination", expected, exactly);
}

}  // namespace

TEST_CASE("a strided copy moves the sectors that the stride asks for", "[.][goal]") {
    constexpr int64_t kN = 4096;
    for (const int64_t stride : {1, 2, 4, 8, 32}) {
        const Goal goal("copy_strided");
        copy_strided_once(kN, stride);
        const Counted c = counted();
        // 8 floats of a sector, or one of those in which there are floats at all.
        const auto wanted =
            static_cast<uint64_t>(kN * std::min<int64_t>(stride, 8) / 8);
        at_most(goal, "sectors of x are moved", c.load_sectors, wanted);
        at_most(goal, "sectors of y are moved", c.store_sectors, kN / 8);
    }
}

TEST_CASE("records are loaded in the order in which they lie", "[.][goal]") {
    constexpr int64_t kN = 2048;
    for (const int num_fields : {1, 2, 3, 4}) {
        const auto aos = wb::testing::random_normal(kN * num_fields, 1);
        const Goal goal("aos_to_soa");
        Grader grade("aos_to_soa", std::to_string(num_fields) + " fields");
        const float* d_aos = grade.input("aos", aos);
        float* d_soa = grade.output<float>("soa", {num_fields, kN});
        grade.run([&](cudaStream_t s) { aos_to_soa(d_aos, d_soa, kN, num_fields, s); });
        grade.expect("soa", wb::reference::aos_to_soa(aos, num_fields), exactly);
        goal.moves_at_most(1.1);
    }
}

TEST_CASE("a copy moves each sector once", "[.][goal]") {
    constexpr int64_t kBytes = 1 << 14;
    for (const auto& [from, to] : {std::pair{0, 0}, {0, 32}, {16, 16}}) {
        const Goal goal("copy_bytes");
        copy_bytes_once(kBytes, from, to);
        goal.moves_at_most(1.1);
    }
}

TEST_CASE("a copy takes 16 bytes an access where both arrays allow it", "[.][goal]") {
    constexpr int64_t kBytes = 1 << 14;
    for (const auto& [from, to] : {std::pair{0, 0}, {3, 3}, {17, 1}}) {
        const Goal goal("copy_bytes");
        copy_bytes_once(kBytes, from, to);
        const Counted c = counted();
        // 512 bytes a warp; head and tail take two more each.
        constexpr uint64_t kRequests = kBytes / 512 + 4;
        at_most(goal, "loads", c.load_requests, kRequests);
        at_most(goal, "stores", c.store_requests, kRequests);
    }
}

TEST_CASE("a copy takes 16 bytes an access at any alignment", "[.][goal][fast]") {
    constexpr int64_t kBytes = 1 << 16;
    for (const auto& [from, to] :
         {std::pair{1, 0}, {0, 1}, {4, 0}, {0, 8}, {5, 14}, {15, 2}}) {
        const Goal goal("copy_bytes");
        copy_bytes_once(kBytes, from, to);
        const Counted c = counted();
        // 512 bytes a warp. A vector needs a part of the next word: one more load for
        // four of a warp's is enough, or else a warp loads twice what it stores.
        constexpr uint64_t kRequests = kBytes / 512;
        at_most(goal, "loads", c.load_requests, kRequests * 5 / 4 + 5);
        at_most(goal, "stores", c.store_requests, kRequests + 5);
        at_most(goal,
                "sectors of the source are moved",
                c.load_sectors,
                kBytes / 32 * 11 / 10);
        // Head and tail end in sectors that belong to vectors as well.
        at_most(goal,
                "sectors of the destination are moved",
                c.store_sectors,
                kBytes / 32 + 5);
    }
}

TEST_CASE("a strided copy: more than 2^31 elements", "[large][serial]") {
    Grader("copy_strided", "n = 0").expect_no_work([](cudaStream_t s) {
        copy_strided(nullptr, nullptr, 0, 1, s);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^31 threads are too much for the simulator");
#else
    constexpr int64_t kN = (int64_t{1} << 31) + 33;
    wb::testing::LargeArrays large(2 * kN - 1, kN);
    if (!large.has_memory()) WB_SKIP("needs 27 GB of free GPU memory");
    const std::vector<int64_t> places = {0, int64_t{1} << 30, kN - 33, kN - 1};
    for (const int64_t place : places)
        large.set(2 * place, 7.0f);
    for_each_version("copy_strided", copy_strided, [&](auto& name, auto copy) {
        large.expect(
            name, "n = 2^31 + 33, stride 2", places, {7, 7, 7, 7}, [&](auto s) {
                copy(large.x, large.y, kN, 2, s);
            });
    });
#endif
}

TEST_CASE("records: more than 2^32 words", "[large][serial]") {
    Grader("aos_to_soa", "n = 0").expect_no_work([](cudaStream_t s) {
        aos_to_soa(nullptr, nullptr, 0, 1, s);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^30 records are too much for the simulator");
#else
    constexpr int64_t kN = (int64_t{1} << 30) + 33;
    wb::testing::LargeArrays large(4 * kN, 4 * kN);
    if (!large.has_memory()) WB_SKIP("needs 36 GB of free GPU memory");
    // Fields 0, 1, 2 and 3 of records 0, 2^29, 2^30 and n - 1.
    const std::vector<int64_t> records = {
        0, int64_t{1} << 29, int64_t{1} << 30, kN - 1};
    std::vector<int64_t> places;
    for (int64_t f = 0; f < 4; ++f) {
        places.push_back(f * kN + records[at(f)]);
        large.set(4 * records[at(f)] + f, 7.0f);
    }
    for_each_version("aos_to_soa", aos_to_soa, [&](auto& name, auto take_apart) {
        large.expect(
            name, "n = 2^30 + 33, 4 fields", places, {7, 7, 7, 7}, [&](auto s) {
                take_apart(large.x, large.y, kN, 4, s);
            });
    });
#endif
}

TEST_CASE("a copy: more than 2^32 bytes", "[large][serial]") {
    Grader("copy_bytes", "no bytes").expect_no_work([](cudaStream_t s) {
        copy_bytes(nullptr, nullptr, 0, s);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^32 bytes are too much for the simulator");
#else
    constexpr int64_t kFloats = (int64_t{1} << 30) + 33;
    wb::testing::LargeArrays large(kFloats, kFloats);
    if (!large.has_memory()) WB_SKIP("needs 10 GB of free GPU memory");
    const std::vector<int64_t> places = {1, 1 << 29, int64_t{1} << 30, kFloats - 1};
    for_each_version("copy_bytes", copy_bytes, [&](auto& name, auto copy) {
        for (const int64_t from : {0, 1}) {  // alike modulo 16, and not
            CUDA_CHECK(cudaMemset(large.x, 0, kFloats * sizeof(float)));
            for (const int64_t place : places)
                large.set(place - from, 7.0f);
            large.expect(name,
                         "2^32 + 128 bytes, to float " + std::to_string(from),
                         places,
                         {7, 7, 7, 7},
                         [&](auto s) {
                             copy(large.x,
                                  large.y + from,
                                  (kFloats - from) * int64_t{sizeof(float)},
                                  s);
                         });
        }
    });
#endif
}
