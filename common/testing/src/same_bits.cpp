// Results of which a contract says that they have the same bits each time, whatever
// order threads and blocks run in.
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cstdio>

#include "grader_array.h"

namespace wb::testing {
namespace {

// With the last one, threads are interrupted between two of their atomic operations.
constexpr unsigned kOrders[] = {0, 1, 2, 3, 5};

/// While it lives, threads and blocks run in another order.
struct Shuffled {
    explicit Shuffled(unsigned order) { shuffle_threads(order); }
    ~Shuffled() { shuffle_threads(0); }
    Shuffled(const Shuffled&) = delete;
    Shuffled& operator=(const Shuffled&) = delete;
};

/// With all digits of a float.
std::string all_digits(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

}  // namespace

void Grader::expect_same_bits() {
    std::vector<std::vector<unsigned char>> first;
    for (const unsigned order : kOrders) {
        {
            const Shuffled shuffled(order);
            launch();
        }
        std::size_t number = 0;
        for (const auto& array : arrays_) {
            if (array->role == Role::input) continue;
            std::vector<unsigned char> now(array->original.size());
            array->buffer.download(now.data());
            if (order == kOrders[0]) {
                first.push_back(std::move(now));
                continue;
            }
            const auto& before = first[number++];
            const auto place = std::mismatch(now.begin(), now.end(), before.begin());
            if (place.first == now.end()) continue;
            const auto byte = static_cast<std::size_t>(place.first - now.begin());
            const std::size_t i = byte / array->element_bytes;
            Finding other{Kind::contract, "same_bits"};
            Numbers& n = other.numbers;
            n.array = array->name;
            n.index = coordinates(array->shape, static_cast<std::int64_t>(i));
            other.what = "the result must have the same bits each time, but " +
                         array->name + " depends on the order of threads and blocks";
            other.advice = "element " + std::to_string(i) + " was " +
                           all_digits(observe(*array, before).values[i]) + ", and is " +
                           all_digits(observe(*array, now).values[i]);
            fail(std::move(other));
        }
    }
    SUCCEED();
}

}  // namespace wb::testing
