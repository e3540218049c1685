// The patterns of wrong outputs that beginners' kernels leave behind. Each detector
// looks for one; the first that fits is told. They only guess, the test has already
// decided, so they may be simple.
#include <wb/testing/compare.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace wb::testing {
namespace {

struct Evidence {
    const Observed& got;
    const std::vector<double>& expected;
    const Comparison& comparison;

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
        return std::abs(value(i) - other) <= 1e-5 * std::abs(other) + 1e-30;
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
        const std::string first = "only the first " + std::to_string(written) + " of " +
                                  std::to_string(e.count()) +
                                  " elements were written: ";
        if (written == 0) return "";
        if (written % 32 == 0 && e.count() - written < 1024 && written >= 1024) {
            return first +
                   "the last, partly filled block is missing (round the number "
                   "of blocks up, not down)";
        }
        if (written % 32 == 0 && written <= 1024) {
            return first +
                   "that is one block; does the index use blockIdx, and does "
                   "the grid have enough blocks?";
        }
        return first + "is the grid too small, or the loop's stride or end wrong?";
    }
    if (e.untouched(0) && !e.untouched(e.count() - 1)) {
        return "the first elements were never written: does the index start at 0?";
    }
    return "some elements in between were never written: is the index's step too "
           "large, "
           "or the guard too strict?";
}

std::string cause_shifted(const Evidence& e) {
    for (const std::int64_t shift : {-1, 1}) {
        const double same = share(e, [&](std::int64_t i) {
            const std::int64_t j = i + shift;
            return j < 0 || j >= e.count() || e.close(i, e.wanted(j));
        });
        if (e.count() > 4 && same > 0.95) {
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
    const double same = share(e, [&](std::int64_t i) {
        const std::int64_t matrix = i / (rows * cols) * (rows * cols);
        const std::int64_t r = (i - matrix) / cols;
        const std::int64_t c = (i - matrix) % cols;
        return e.close(i, e.wanted(matrix + c * rows + r));
    });
    if (same > 0.95) return "rows and columns are exchanged (transposed)";
    return "";
}

std::string cause_scaled(const Evidence& e) {
    const std::int64_t i = e.comparison.first_wrong;
    if (e.wanted(i) == 0.0 || !std::isfinite(e.value(i))) return "";
    const double factor = e.value(i) / e.wanted(i);
    const double same =
        share(e, [&](std::int64_t k) { return e.close(k, factor * e.wanted(k)); });
    if (e.count() < 4 || same < 0.95) return "";
    if (std::abs(factor + 1.0) < 1e-4) return "the sign is wrong everywhere";
    char text[160];
    std::snprintf(text,
                  sizeof text,
                  "every value is %.4g times what it should be: added more than once, "
                  "or a factor forgotten?",
                  factor);
    return text;
}

std::string cause_nan(const Evidence& e) {
    const std::int64_t i = e.comparison.first_wrong;
    if (std::isnan(e.wanted(i)) || !std::isnan(e.value(i))) return "";
    return "a NaN was computed: memory that nobody initialised, an index outside the "
           "array, an asynchronous copy or product that was not waited for, inf - inf, "
           "or 0 / 0";
}

std::string cause_zero(const Evidence& e) {
    const double zeros = share(e, [&](std::int64_t i) { return e.value(i) == 0.0; });
    const double wanted = share(e, [&](std::int64_t i) { return e.wanted(i) == 0.0; });
    if (zeros == 1.0 && wanted < 1.0) {
        return "everything is zero: is the result stored, or only a start value?";
    }
    return "";
}

std::string cause_precision(const Evidence& e) {
    const double near = share(e, [&](std::int64_t i) {
        return std::abs(e.value(i) - e.wanted(i)) <=
               5e-2 * std::abs(e.wanted(i)) + 1e-6;
    });
    // A few elements may be far off, where large terms cancel; but if these alone can
    // be the wrong ones, precision explains nothing.
    const double far = (1.0 - near) * static_cast<double>(e.count());
    if (near < 0.999 || 2.0 * far > static_cast<double>(e.comparison.wrong)) return "";
    return "the values are close, but less exact than this precision can be: a lower "
           "precision somewhere, a fast-math function, or sums in an unlucky order";
}

std::string cause_first_elements_right(const Evidence& e) {
    const std::int64_t first = e.comparison.first_wrong;
    if (first < 32 || first % 32 != 0) return "";
    return "all is right before element " + std::to_string(first) +
           ", a multiple of 32: look at what changes from one warp or block to the "
           "next";
}

}  // namespace

std::string likely_cause(const Observed& got,
                         const std::vector<double>& expected,
                         const Comparison& comparison) {
    if (comparison.passed() || expected.empty()) return "";
    const Evidence evidence{got, expected, comparison};
    for (const auto& detect : {cause_untouched,
                               cause_zero,
                               cause_precision,
                               cause_shifted,
                               cause_transposed,
                               cause_scaled,
                               cause_nan,
                               cause_first_elements_right}) {
        std::string cause = detect(evidence);
        if (!cause.empty()) return cause;
    }
    return "";
}

}  // namespace wb::testing
