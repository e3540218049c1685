/// wb/testing/catch.h: Catch2 behind one header, version 2 (Debian 12) or 3.
///
/// Tests include this and nothing else of Catch2. WB_SKIP(reason) leaves a test that
/// cannot run here: version 2 has no SKIP(), so the test main turns both into exit
/// code 4, which CTest knows as "skipped".
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <string>

namespace wb::testing {

/// Tells the test main that this test was skipped, and prints why.
void note_skipped(const std::string& reason);

}  // namespace wb::testing

/// Leaves the test case and reports it as skipped, with the reason.
#define WB_SKIP(reason)                      \
    do {                                     \
        ::wb::testing::note_skipped(reason); \
        return;                              \
    } while (0)
