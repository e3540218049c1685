// Calls that insert, and that look for keys, judged.
#pragma once

#include <wb/implementations.h>
#include <wb/testing/fail.h>
#include <wb/testing/simulator.h>

#include <cmath>
#include <initializer_list>

#include "table_cases.h"

namespace table_cases {

using wb::testing::Begin;

/// Calls with one table, one after the other on one stream.
using Calls = std::vector<std::vector<uint64_t>>;

/// What is known of the table afterwards.
struct Outcome {
    HostTable table;
    std::vector<int32_t> slots;  // of all keys of all calls
};

[[noreturn]] inline void wrong(const std::string& what, const std::string& more = "") {
    wb::testing::fail(wb::testing::Kind::wrong_result, what, more);
}

/// That a table is one: keys where searches look for them, each once, digests and rows.
inline void expect_sound(HostTable& table, const std::string& text) {
    std::map<uint64_t, int64_t> seen;
    for (int64_t slot = 0; slot < table.capacity(); ++slot) {
        const uint64_t key = table.key_at(slot);
        const std::string where = "slot " + std::to_string(slot) + " (" + text + ")";
        if ((key == kNoKey) != (table.claims[at(slot)] == 0))
            wrong(where + " is claimed without a key, or has a key unclaimed");
        if (key == kNoKey) {
            if (*table.digest_at(slot) != 255) wrong(where + " is free with a digest");
            continue;
        }
        if (seen.count(key) != 0)
            wrong("key " + std::to_string(key) + " has the slots " +
                  std::to_string(seen[key]) + " and " + std::to_string(slot) + " (" +
                  text + ")");
        seen[key] = slot;
        if (*table.digest_at(slot) != digest_of(key))
            wrong(where + " has another key's digest");
        if (table.slot_of(key) != slot)
            wrong(where + " is outside of its key's window: " + std::to_string(key));
        if (slot % kPlaces > 0 && table.key_at(slot - 1) == kNoKey)
            wrong(where + " was taken, but the place in front of it is free");
        for (int64_t col = 0; col < table.shape.cols; ++col) {
            const float row = table.rows[at(slot * table.shape.cols + col)];
            if (row != value_of(key, col))
                wrong("the row of key " + std::to_string(key) + " in " + where +
                      " is not its own: column " + std::to_string(col) + " is " +
                      std::to_string(row));
        }
    }
}

using Insert = decltype(table_insert_or_find);

/// Makes the calls, with the keys' rows as initial rows.
///
/// @param refused   in all calls; -1: however many, as nothing depends on it
/// @param reserved  keys that are kNoKey, in all calls
inline Outcome run_calls(const std::string& name,
                         Insert* insert,
                         const HostTable& before,
                         const Calls& calls,
                         int64_t refused,
                         int64_t reserved,
                         const std::string& text) {
    std::vector<uint64_t> keys;
    for (const auto& call : calls)
        keys.insert(keys.end(), call.begin(), call.end());
    const auto n = static_cast<int64_t>(keys.size());
    Grader grade(name, std::to_string(n) + " keys, " + text);
    const DeviceTable device(grade, before);
    // In half of the cases at no multiple of 16 bytes.
    const auto begin = n % 2 == 0 ? Begin::anywhere : Begin::aligned;
    const uint64_t* d_keys = grade.input("keys", keys, begin);
    const float* d_rows =
        grade.input("initial", rows_of(keys, before.shape.cols), begin);
    int32_t* d_slots = grade.output<int32_t>("slots", {n}, begin);
    grade.run([&](cudaStream_t stream) {
        device.with_cold(stream, [&] {
            int64_t first = 0;
            for (const auto& call : calls) {
                const auto count = static_cast<int64_t>(call.size());
                insert(device.get(),
                       d_keys + first,
                       d_rows + first * before.shape.cols,
                       d_slots + first,
                       count,
                       stream);
                first += count;
            }
        });
    });
    Outcome outcome = {device.read(), {}};
    for (const double slot : grade.read("slots"))
        outcome.slots.push_back(static_cast<int32_t>(slot));
    expect_sound(outcome.table, text);
    if (refused >= 0) {
        const auto clock = static_cast<double>(before.state[0] + calls.size());
        grade.expect(
            "state",
            {clock, static_cast<double>(refused), static_cast<double>(reserved)},
            [](int64_t) { return 0.0; });
    }
    return outcome;
}

/// That slots of the last call's keys are theirs, and that kNoSlot is nowhere else.
/// @param refused  how many occurrences have no slot
inline void expect_slots(Outcome& outcome,
                         const std::vector<uint64_t>& last,
                         int64_t refused,
                         const std::string& text) {
    const std::size_t first = outcome.slots.size() - last.size();
    for (std::size_t i = 0; i < last.size(); ++i) {
        const int32_t slot = outcome.slots[first + i];
        const int32_t right = outcome.table.slot_of(last[i]);
        if (slot == -1 && right == -1) --refused;
        if (slot == right) continue;
        wrong("slots[" + std::to_string(i) + "] is " + std::to_string(slot) +
              ", but key " + std::to_string(last[i]) + " is in slot " +
              std::to_string(right) + " (" + text + ")");
    }
    if (refused != 0) wrong("not as many keys without a slot as expected: " + text);
}

/// That the table has these keys and no others, used when and as often as these.
inline void expect_keys(HostTable& table,
                        const std::map<uint64_t, wb::reference::Use>& right,
                        const std::string& text) {
    for (const auto& [key, use] : right) {
        const int64_t slot = table.slot_of(key);
        const std::string where = "key " + std::to_string(key) + " (" + text + ")";
        if (slot < 0) wrong(where + " is not in the table");
        const uint64_t clock = table.claims[at(slot)] >> 32;
        if (clock != use.clock)
            wrong(where + " was used at clock " + std::to_string(use.clock) +
                  ", but the table says " + std::to_string(clock));
        if (table.shape.policy == Policy::lfu && table.counts[at(slot)] != use.count)
            wrong(where + " was used " + std::to_string(use.count) +
                  " times, but the table says " +
                  std::to_string(table.counts[at(slot)]));
    }
    for (int64_t slot = 0; slot < table.capacity(); ++slot)
        if (table.key_at(slot) != kNoKey && right.count(table.key_at(slot)) == 0)
            wrong("key " + std::to_string(table.key_at(slot)) +
                  " is in the table, but should not be (" + text + ")");
}

inline auto inserts() {
    return wb::implementations("table_insert_or_find", table_insert_or_find);
}

/// Looks for keys with all versions of table_find().
inline void grade_find(HostTable& host,
                       const std::vector<uint64_t>& keys,
                       const char* text) {
    const auto n = static_cast<int64_t>(keys.size());
    std::vector<double> right;
    double reserved = 0.0;
    for (const uint64_t key : keys) {
        right.push_back(key == kNoKey ? -1.0 : host.slot_of(key));
        reserved += key == kNoKey ? 1.0 : 0.0;
    }
    for (const auto& [name, idea, find] :
         wb::implementations("table_find", table_find)) {
        Grader grade(name, "n = " + std::to_string(n) + ", " + text);
        const DeviceTable device(grade, host);
        const auto begin = n % 2 == 0 ? Begin::anywhere : Begin::aligned;
        const uint64_t* d_keys = grade.input("keys", keys, begin);
        int32_t* d_slots = grade.output<int32_t>("slots", {n}, begin);
        grade.run([&, find = find](cudaStream_t stream) {
            find(device.get(), d_keys, d_slots, n, stream);
        });
        grade.expect("slots", right, [](int64_t) { return 0.0; });
        const auto as_double = [](const auto& words) {
            return std::vector<double>(words.begin(), words.end());
        };
        grade.expect("claims", as_double(host.claims), [](int64_t) { return 0.0; });
        grade.expect("counts", as_double(host.counts), [](int64_t) { return 0.0; });
        grade.expect("state",
                     {static_cast<double>(host.state[0]), 0.0, reserved},
                     [](int64_t) { return 0.0; });
    }
}

/// Orders of threads that a case is tried with: 0 is the usual one.
inline void in_orders(std::initializer_list<unsigned> seeds, const auto& call) {
    for (const unsigned seed : seeds) {
        wb::testing::shuffle_threads(seed);
        call();
    }
    wb::testing::shuffle_threads(0);
}

/// Numbers below `count`, of which k has a share of nearly 1 / (k + 1).
inline int64_t zipf(wb::testing::Random& random, int64_t count) {
    const double place = std::pow(static_cast<double>(count + 1), random.uniform());
    return std::min(static_cast<int64_t>(place) - 1, count - 1);
}

/// A full bucket of 14 keys that were last used at clocks 1, 2, ..., and how often.
inline HostTable full_bucket(Policy policy, const std::vector<uint64_t>& keys) {
    HostTable host({1, 2, 5, 1, policy});
    for (int i = 0; i < kPlaces; ++i)
        host.insert(keys[at(i)], at(1 + i * 5 % kPlaces), 20u + (i * 3) % kPlaces);
    return host;
}

}  // namespace table_cases
