// The patterns of wrong outputs that beginners' kernels leave behind. Each detector
// looks for one; the first that fits is told. They only guess, the test has already
// decided, so they may be simple.
#include <wb/testing/compare.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace wb::testing {
namespace {

struct Evidence {
    const Observed& got;
    const std::vector<double>& expected;
    const Comparison& comparison;
    double scale;  ///< of what is as good as 0: the largest wanted number, or 1

    std::int64_t count() const { return static_cast<std::int64_t>(expected.size()); }
    double value(std::int64_t i) const {
        return got.values[static_cast<std::size_t>(i)];
    }
    double wanted(std::int64_t i) const {
        return expected[static_cast<std::size_t>(i)];
    }
    bool untouched(std::int64_t i) const {
        return got.untouched[static_cast<std::size_t>(i)];
    }
    bool close(std::int64_t i, double other) const {
        return std::abs(value(i) - other) <= 1e-5 * std::abs(other) + 1e-30 * scale;
    }
};

/// The share of all elements for which `test` holds.
template <class Test>
double share(const Evidence& e, Test test) {
    std::int64_t hits = 0;
    for (std::int64_t i = 0; i < e.count(); ++i)
        hits += test(i) ? 1 : 0;
    return e.count() == 0 ? 0.0
                          : static_cast<double>(hits) / static_cast<double>(e.count());
}

/// A size that blocks usually have.
bool is_block_size(std::int64_t threads) {
    return threads >= 32 && threads <= 1024 &&
           std::has_single_bit(std::uint64_t(threads));
}

/// All whole blocks of one of the usual sizes are there, and what is left is not.
bool lacks_last_block(std::int64_t written, std::int64_t count) {
    for (std::int64_t block = 1024; block >= 32; block /= 2) {
        if (count % block != 0 && written == count / block * block) return true;
    }
    return false;
}

/// Nothing but the first elements was not written; and not because they are results of
/// a special case, zeros or infinities, that a kernel may have left out.
bool skips_first(const Evidence& e) {
    std::int64_t first = 0;
    bool is_special = true;
    while (first < e.count() && e.untouched(first)) {
        is_special &= e.wanted(first) == 0.0 || std::isinf(e.wanted(first));
        ++first;
    }
    if (first == 0 || is_special) return false;
    for (std::int64_t i = first; i < e.count(); ++i) {
        if (e.untouched(i)) return false;
    }
    return true;
}

std::string cause_untouched(const Evidence& e) {
    const auto is_untouched = [&](std::int64_t i) { return e.untouched(i); };
    const double unwritten = share(e, is_untouched);
    if (unwritten == 0.0) return "";
    if (unwritten == 1.0) {
        return "nothing was written at all: is the kernel launched, and does any "
               "thread "
               "reach the store?";
    }
    std::int64_t written = 0;
    while (written < e.count() && !e.untouched(written))
        ++written;
    bool only_tail = true;
    for (std::int64_t i = written; i < e.count(); ++i)
        only_tail &= e.untouched(i);
    if (only_tail) {
        if (written == 0) return "";
        const std::string fact = "only the first " + std::to_string(written) + " of " +
                                 std::to_string(e.count()) + " elements were written";
        const std::int64_t wrong = e.comparison.wrong - (e.count() - written);
        // What belongs behind them may have gone there: the grid is large enough then.
        if (wrong > 0)
            return fact + ", and of these " + std::to_string(wrong) + " are wrong";
        const std::string first = fact + ": ";
        // Whole rows of a matrix: these, too, may be what is missing.
        const std::vector<std::int64_t>& shape = e.got.shape;
        const bool whole_rows = shape.size() > 1 && written % shape.back() == 0;
        const bool one_block = !whole_rows && is_block_size(written);
        const bool missing_block = !whole_rows && lacks_last_block(written, e.count());
        if (one_block && missing_block) {
            return first +
                   "a whole block, and not the partly filled one after it: is the "
                   "number of blocks rounded down, or blockIdx not in the index?";
        }
        if (missing_block) {
            return first +
                   "the last, partly filled block is missing (round the number "
                   "of blocks up, not down)";
        }
        if (one_block) {
            return first +
                   "if that is one block, does the index use blockIdx, and does "
                   "the grid have enough blocks?";
        }
        return first + "is the grid too small, or the loop's stride or end wrong?";
    }
    if (skips_first(e)) {
        return "the first elements were never written: does the index start at 0?";
    }
    return "";  // where they are is said beside the cause
}

/// Whether what is there is another number than the wanted one: at nearly all places
/// where the two differ, of which there are some. Of zeros, nothing can be told.
/// @param other  of a place: the number
template <class Other>
bool is_instead(const Evidence& e, Other other) {
    std::int64_t telling = 0;
    std::int64_t same = 0;
    for (std::int64_t i = 0; i < e.count(); ++i) {
        const double wanted = e.wanted(i);
        const double number = other(i);
        if (!(std::abs(number - wanted) > 1e-4 * std::abs(wanted))) continue;
        ++telling;
        same += e.close(i, number) ? 1 : 0;
    }
    return telling >= 4 && 20 * same > 19 * telling;
}

std::string cause_shifted(const Evidence& e) {
    for (const std::int64_t shift : {-1, 1}) {
        const bool is_shifted = is_instead(e, [&](std::int64_t i) {
            const std::int64_t j = i + shift;
            return j < 0 || j >= e.count() ? e.wanted(i) : e.wanted(j);
        });
        if (is_shifted) {
            return "the values are right, but one place too far to the " +
                   std::string(shift < 0 ? "right" : "left") + ": off by one";
        }
    }
    return "";
}

std::string cause_transposed(const Evidence& e) {
    if (e.got.shape.size() < 2) return "";
    const std::int64_t cols = e.got.shape[e.got.shape.size() - 1];
    const std::int64_t rows = e.got.shape[e.got.shape.size() - 2];
    if (rows < 2 || cols < 2) return "";
    const bool is_transposed = is_instead(e, [&](std::int64_t i) {
        const std::int64_t matrix = i / (rows * cols) * (rows * cols);
        const std::int64_t r = (i - matrix) / cols;
        const std::int64_t c = (i - matrix) % cols;
        return e.wanted(matrix + c * rows + r);
    });
    return is_transposed ? "rows and columns are exchanged (transposed)" : "";
}

std::string cause_sign(const Evidence& e) {
    const bool is_negative =
        is_instead(e, [&](std::int64_t i) { return -e.wanted(i); });
    return is_negative ? "the sign is wrong everywhere" : "";
}

/// Every element that should be a plain 0 is NaN, and nothing else is wrong.
std::string cause_empty_sum(const Evidence& e) {
    std::int64_t such = 0;
    for (std::int64_t i = 0; i < e.count(); ++i)
        such += e.wanted(i) == 0.0 && std::isnan(e.value(i)) && !e.untouched(i) ? 1 : 0;
    // A single 0 among many numbers may be a sum that happens to be 0.
    if (such < 8 || such != e.comparison.wrong) return "";
    return "NaN where nothing is summed up, and 0 is right: 0 / 0, or infinity minus "
           "infinity";
}

std::string cause_precision(const Evidence& e) {
    if (!e.got.is_floating) return "";
    // Many roundings, or a difference of large numbers, bring some per cent. But few
    // values may be near by chance; one rounding to bfloat16 brings 4e-3, one to half
    // 5e-4.
    const double most = e.count() < 4 ? 5e-4 : e.count() < 32 ? 4e-3 : 5e-2;
    const double near = share(e, [&](std::int64_t i) {
        // An infinity is far from all numbers.
        if (!std::isfinite(e.wanted(i))) return e.value(i) == e.wanted(i);
        return std::abs(e.value(i) - e.wanted(i)) <=
               most * std::abs(e.wanted(i)) + 1e-6 * e.scale;
    });
    // A few elements may be far off, where large terms cancel; but if these alone can
    // be the wrong ones, precision explains nothing.
    const double far = (1.0 - near) * static_cast<double>(e.count());
    if (near < 0.999 || 2.0 * far > static_cast<double>(e.comparison.wrong)) return "";
    // A number that became 0 is not a less exact one.
    const auto is_lost = [&](std::int64_t i) {
        return e.value(i) == 0.0 && e.wanted(i) != 0.0;
    };
    const double lost = share(e, is_lost) * static_cast<double>(e.count());
    if (is_lost(e.comparison.first_wrong) && is_lost(e.comparison.worst) &&
        lost + 0.5 > static_cast<double>(e.comparison.wrong))
        return "small numbers became 0: a type that does not reach so far down, or a "
               "limit below which they are left out";
    return "the values are close, but less exact than this precision can be: a lower "
           "precision somewhere, a fast-math function, sums in an unlucky order, or a "
           "difference of large numbers";
}

}  // namespace

std::string likely_cause(const Observed& got,
                         const std::vector<double>& expected,
                         const Comparison& comparison) {
    if (comparison.passed() || expected.empty()) return "";
    double largest = 0.0;
    for (const double wanted : expected)
        if (std::isfinite(wanted)) largest = std::max(largest, std::abs(wanted));
    const double scale = largest > 0.0 ? std::min(largest, 1.0) : 1.0;
    const Evidence evidence{got, expected, comparison, scale};
    for (const auto& detect : {cause_untouched,
                               cause_precision,
                               cause_shifted,
                               cause_transposed,
                               cause_sign,
                               cause_empty_sum}) {
        std::string cause = detect(evidence);
        if (!cause.empty()) return cause;
    }
    return "";
}

}  // namespace wb::testing
