// What the tests of common/ share.
#pragma once

#include <wb/testing/catch.h>

#include <string>

namespace wb::testing {

/// The matcher for "this text is somewhere inside", under its name in either Catch2.
inline auto contains(const std::string& part) {
#if __has_include(<catch2/catch_test_macros.hpp>)
    return Catch::Matchers::ContainsSubstring(part);
#else
    return Catch::Matchers::Contains(part);
#endif
}

}  // namespace wb::testing
