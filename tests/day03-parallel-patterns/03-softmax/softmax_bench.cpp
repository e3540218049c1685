// Times day03-parallel-patterns/03-softmax: how close does a softmax come to a copy,
// for narrow rows and wide ones, many and few?
#include "softmax.h"

#include <wb/bench/bench.h>
#include <wb/bench/random_numbers.h>
#include <wb/bench/rows.h>
#include <wb/implementations.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace wb::bench;

namespace {

using Size = RowsSize;

constexpr int64_t kMany = int64_t{1} << 28;

/// So many rows that there are 2^28 elements; of narrow rows, 2^26: a block for each of
/// them would take long.
Size rows_of(int64_t columns) {
    return {(columns < 128 ? kMany / 4 : kMany) / columns, columns};
}

/// Widths from 8 to 2^18, an odd one; and few rows.
std::vector<Size> sizes(const Bench& bench) {
    return bench.sizes<Size>({{40, 7}, {3, 1000}, {1, 33'000}},
                             {{1 << 14, 1 << 10}, {1 << 10, 1 << 14}},
                             {rows_of(8),
                              rows_of(33),
                              rows_of(128),
                              rows_of(256),
                              rows_of(1 << 10),
                              rows_of(1021),
                              rows_of(1 << 13),
                              rows_of(1 << 15),
                              rows_of(1 << 16),
                              rows_of(1 << 18),
                              {8, 1 << 18},
                              {64, 1 << 12}},
                             {{256, 1 << 10}});
}

std::vector<Size> sizes_bf16(const Bench& bench) {
    return bench.sizes<Size>({{40, 7}, {3, 1000}},
                             {{1 << 14, 1 << 10}},
                             {rows_of(64),
                              rows_of(256),
                              rows_of(1 << 10),
                              rows_of(1 << 13),
                              rows_of(1 << 15),
                              rows_of(1 << 18)},
                             {{256, 1 << 10}});
}

/// Element i of y. A float has 24 bits, a bf16 has 8.
template <class T>
Expected weight_of(const Array<T>& x, const Size& s, int64_t i) {
    const auto row = x.host(i / s.columns * s.columns, s.columns);
    double max = -INFINITY;
    for (const T element : row)
        max = std::max(max, static_cast<double>(element));
    double sum = 0.0;
    for (const T element : row)
        sum += std::exp(static_cast<double>(element) - max);
    const auto element = static_cast<double>(row[static_cast<size_t>(i % s.columns)]);
    const double weight = std::exp(element - max) / sum;
    const double rounding = sizeof(T) == sizeof(float) ? 0.0 : 0x1p-8;
    return {weight, (1e-4 + rounding) * weight};
}

/// Few places, for each of them takes a row.
constexpr int kPlaces = 12;

template <class T, class Function>
void time_softmax(Bench& bench,
                  const char* exercise,
                  Function* contract,
                  const std::vector<Size>& all) {
    for (const Size& s : all) {
        const double bytes = 2.0 * sizeof(T) * static_cast<double>(s.count());
        if (!bench.fits(bytes)) continue;
        const auto x = random_numbers<T>(bench, s.count());
        const auto y = bench.output<T>(s.count());
        auto problem = bench.problem({s.text(), Ceiling::copy, bytes});
        problem.expect(
            "y", y, [&](int64_t i) { return weight_of(x, s, i); }, kPlaces);
        for (const auto& [name, idea, launcher] :
             wb::implementations(exercise, contract)) {
            problem.time(name, idea, [&, launcher = launcher](cudaStream_t stream) {
                launcher(x.data(), y.data(), s.rows, s.columns, stream);
            });
        }
    }
}

}  // namespace

WB_BENCH(softmax, bench) {
    time_softmax<float>(bench, "softmax", softmax, sizes(bench));
}

WB_BENCH(softmax_bf16, bench) {
    time_softmax<__nv_bfloat16>(bench, "softmax_bf16", softmax_bf16, sizes_bf16(bench));
}
