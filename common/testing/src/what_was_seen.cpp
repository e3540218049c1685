// What all wrong elements of an output have in common. Facts only: whoever reads them
// knows the kernel, we do not.
#include <wb/testing/compare.h>

#include <cmath>
#include <cstdio>
#include <optional>

namespace wb::testing {
namespace {

using Flags = std::vector<bool>;

/// Of so many places, that one alone is right is no accident.
constexpr std::int64_t kFew = 16;

std::int64_t number_of(const Flags& flags) {
    std::int64_t count = 0;
    for (const bool flag : flags)
        count += flag ? 1 : 0;
    return count;
}

/// "3", "5 to 7", "every second, from 1 on", "all but 2"; "" if `wrong` is no such set.
std::string set_in_words(const Flags& wrong) {
    const auto extent = static_cast<std::int64_t>(wrong.size());
    const std::int64_t count = number_of(wrong);
    std::int64_t first = 0;
    while (!wrong[static_cast<std::size_t>(first)])
        ++first;
    std::int64_t last = extent - 1;
    while (!wrong[static_cast<std::size_t>(last)])
        --last;
    if (count == last - first + 1) {
        const std::string from = std::to_string(first);
        return first == last ? from : from + " to " + std::to_string(last);
    }
    bool alternate = true;
    for (std::int64_t i = 0; i < extent; ++i)
        alternate &= wrong[static_cast<std::size_t>(i)] == (i % 2 == first % 2);
    if (alternate && first < 2 && count > 2)
        return "every second, from " + std::to_string(first) + " on";
    if (count == extent - 1 && extent <= kFew) {
        std::int64_t right = 0;
        while (wrong[static_cast<std::size_t>(right)])
            ++right;
        return "all but " + std::to_string(right);
    }
    return "";
}

/// "o[*, 1, *, *]": the dimensions along which only some places hold wrong elements.
std::string where(const Observed& got, const Comparison& comparison) {
    std::string index;
    bool confined = false;
    for (const Flags& wrong : comparison.wrong_at) {
        std::string place = "*";
        if (number_of(wrong) < static_cast<std::int64_t>(wrong.size())) {
            const std::string words = set_in_words(wrong);
            if (!words.empty()) place = words;
            confined |= !words.empty();
        }
        index += (index.empty() ? "" : ", ") + place;
    }
    if (!confined || comparison.wrong < 2) return "";
    return "all wrong elements are in " + got.name + "[" + index + "]";
}

/// The one number that got / expected is, where it is the same for all elements.
std::optional<double> common_factor(const Observed& got,
                                    const std::vector<double>& expected,
                                    const Comparison& comparison) {
    const auto first = static_cast<std::size_t>(comparison.first_wrong);
    if (expected.size() < 4 || expected[first] == 0.0) return std::nullopt;
    const double factor = got.values[first] / expected[first];
    if (!std::isfinite(factor) || factor == 0.0) return std::nullopt;
    std::size_t same = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double wanted = factor * expected[i];
        same += std::abs(got.values[i] - wanted) <= 1e-5 * std::abs(wanted);
    }
    if (20 * same < 19 * expected.size() || std::abs(factor - 1.0) < 1e-3)
        return std::nullopt;
    return factor;
}

}  // namespace

std::vector<std::string> what_was_seen(const Observed& got,
                                       const std::vector<double>& expected,
                                       const Comparison& comparison) {
    std::vector<std::string> seen;
    if (comparison.passed() || expected.empty()) return seen;
    std::int64_t nan = 0, zero = 0, untouched = 0, wanted_zero = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        untouched += got.untouched[i] ? 1 : 0;
        nan += std::isnan(got.values[i]) && !got.untouched[i] ? 1 : 0;
        zero += got.values[i] == 0.0 ? 1 : 0;
        wanted_zero += expected[i] == 0.0 ? 1 : 0;
    }
    const auto count = static_cast<std::int64_t>(expected.size());
    if (count > 1 && zero == count && wanted_zero < count)
        seen.push_back("every element is 0");
    if (count > 1 && nan == comparison.wrong && !std::isnan(expected.front()))
        seen.push_back("every wrong element is NaN");
    if (count > 1 && untouched == comparison.wrong)
        seen.push_back("every wrong element was never written");
    if (const auto factor = common_factor(got, expected, comparison);
        factor && std::abs(*factor + 1.0) > 1e-4) {
        char text[80];
        std::snprintf(
            text, sizeof text, "every value is %.4g times what it should be", *factor);
        seen.emplace_back(text);
    }
    if (const std::string place = where(got, comparison); !place.empty())
        seen.push_back(place);
    return seen;
}

}  // namespace wb::testing
