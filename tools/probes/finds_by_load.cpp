// How far does a find of day 3's hash table search, at each load of the benchmark?
//
//   g++ -O2 -std=c++20 -I common/include -I /usr/local/cuda/include
//     -I day03-parallel-patterns/08-dynamic-embedding tools/probes/finds_by_load.cpp
//   ./a.out > book/data/finds_by_load.json
//
// Counts, no times: the benchmark's table, keys and searched keys, inserted one after
// the other; a GPU inserts in another order, which changes the counts a little.
#include <cstdio>
#include <random>
#include <vector>

#include "dynamic_embedding.h"

namespace {

constexpr int64_t kBuckets = 1 << 19;
constexpr int kWindow = 8;
constexpr int kLanes = 32;
constexpr int64_t kFinds = 1 << 20;

/// As the benchmark's: different keys below 2^53.
uint64_t key_of(int64_t i) {
    constexpr uint64_t kMask = (uint64_t{1} << 52) - 1;
    return static_cast<uint64_t>(i + 1) * 0x9E3779B97F4A7C15ull & kMask;
}

struct Counts {
    double buckets = 0;    // whose digests a find reads
    double beyond = 0;     // share of finds that read more than one
    double absent = 0;     // share of finds whose key got no place
    double of_a_warp = 0;  // buckets of the lane that reads most of 32
    double sectors = 0;    // digests, and the key where there is one
};

Counts count(double load) {
    std::vector<int> used(kBuckets, 0);
    const auto keys = static_cast<int64_t>(load * kBuckets * kPlaces);
    std::vector<uint8_t> steps(static_cast<size_t>(keys), kWindow);
    std::vector<bool> is_there(static_cast<size_t>(keys), false);
    for (int64_t i = 0; i < keys; ++i) {
        const int64_t home = home_of(key_of(i), kBuckets);
        for (int step = 0; step < kWindow; ++step) {
            int& of_bucket = used[static_cast<size_t>((home + step) % kBuckets)];
            if (of_bucket == kPlaces) continue;
            ++of_bucket;
            steps[static_cast<size_t>(i)] = static_cast<uint8_t>(step + 1);
            is_there[static_cast<size_t>(i)] = true;
            break;
        }
    }
    Counts all;
    std::mt19937_64 random(1);
    int most = 0;
    for (int64_t f = 0; f < kFinds; ++f) {
        const auto i = static_cast<size_t>(random() % static_cast<uint64_t>(keys));
        all.buckets += steps[i];
        all.beyond += steps[i] > 1;
        all.absent += !is_there[i];
        all.sectors += steps[i] + is_there[i];
        most = steps[i] > most ? steps[i] : most;
        if (f % kLanes == kLanes - 1) {
            all.of_a_warp += most;
            most = 0;
        }
    }
    return {all.buckets / kFinds,
            all.beyond / kFinds,
            all.absent / kFinds,
            all.of_a_warp / (kFinds / kLanes),
            all.sectors / kFinds};
}

}  // namespace

int main() {
    std::printf(
        "{\n  \"what\": \"how far a find of the hash table searches: counts, of the "
        "benchmark's table, keys and finds\",\n  \"program\": "
        "\"tools/probes/finds_by_load.cpp\",\n  \"rows\": [");
    const char* comma = "";
    for (const double load : {0.5, 0.75, 0.95}) {
        const Counts c = count(load);
        std::printf(
            "%s\n    {\"load\": \"%.2f\", \"buckets_a_find\": %.4f, "
            "\"percent_beyond_the_first\": %.2f, \"percent_without_a_place\": %.2f, "
            "\"buckets_of_a_warp\": %.3f, \"sectors_a_find\": %.4f}",
            comma,
            load,
            c.buckets,
            100 * c.beyond,
            100 * c.absent,
            c.of_a_warp,
            c.sectors);
        comma = ",";
    }
    std::puts("\n  ]\n}");
}
