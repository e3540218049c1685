/// grade_cost.h: judges a predicted cost, and names the likely mistake.
#pragma once

#include <wb/testing/catch.h>
#include <wb/testing/fail.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "trace.h"

/// Ends the test case with a report for the learner.
[[noreturn]] inline void fail(const std::string& what, const std::string& more = "") {
    wb::testing::fail(wb::testing::Kind::wrong_result, what, more);
}

using wb::testing::result_of;

/// A number as people write it: "12000" or "1.07374e+09".
inline std::string in_words(double value) {
    char text[32];
    std::snprintf(text, sizeof text, value < 1e7 ? "%.10g" : "%.6g", value);
    return text;
}

/// Whether two counts are the same but for 1 %.
inline bool near(double got, double wanted) {
    return std::abs(got - wanted) <= 0.01 * std::abs(wanted);  // false for NaN
}

/// Why the bytes are probably wrong; "" if nobody knows.
inline std::string cause_of_bytes(double got, const Trace& trace) {
    const double moved = trace.cost().dram_bytes;
    const bool reads = near(got, trace.read_bytes());
    const bool writes = near(got, moved - trace.read_bytes());
    const bool wanted = near(got, trace.wanted_bytes());
    // At a stride of 2, say, what is wanted is as much as what is read: who knows?
    if (reads + writes + wanted > 1) return "";
    if (reads) return "likely cause: what is written is not counted";
    if (writes) return "likely cause: what is read is not counted";
    if (wanted)
        return "likely cause: memory moves sectors of 32 bytes, also where only 4 of "
               "them are wanted";
    if (got > moved)
        return "likely cause: a sector that several threads want, or one thread "
               "several times, moves once: caches keep it; what nobody wants does not "
               "move";
    return "";
}

/// Compares a prediction with what the trace has counted.
/// @param call  "saxpy_cost(1000)"
inline void expect_cost(const std::string& call, const Cost& got, const Trace& trace) {
    const Cost wanted = trace.cost();
    const auto judge = [&](const char* field,
                           double got_value,
                           double counted,
                           const std::string& cause) {
        if (near(got_value, counted)) return;
        fail(call + "." + field + " is " + in_words(got_value) + ", counted are " +
                 in_words(counted),
             cause);
    };
    judge("flop",
          got.flop,
          wanted.flop,
          near(2.0 * got.flop, wanted.flop)
              ? "likely cause: a multiply-add is two operations"
              : "");
    judge("dram_bytes",
          got.dram_bytes,
          wanted.dram_bytes,
          cause_of_bytes(got.dram_bytes, trace));
    judge("requests",
          got.requests,
          wanted.requests,
          got.requests > 8.0 * wanted.requests
              ? "likely cause: a request is a whole warp's, not a thread's"
              : "");
    CHECK(near(got.flop, wanted.flop));
}
